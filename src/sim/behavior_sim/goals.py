# SPDX-License-Identifier: Apache-2.0
"""A controller's goal and how it ended."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field


def elapsed(t: float, start: float) -> float:
    """Time from `start` to `t` [s], to whole nanoseconds.

    Without the rounding the last bit would depend on when something starts, and two runs from the
    same seed would drift apart.
    """
    return round(t - start, 9)


class Ending(enum.Enum):
    """How a goal ended."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    REPLACED = "replaced by a newer goal"
    RESET = "ended by a reset of the world"
    PATH_TOLERANCE = "path tolerance violated"
    GOAL_TOLERANCE = "goal tolerance violated"
    TIMEOUT = "timed out"


@dataclass(frozen=True)
class Outcome:
    """How a goal ended, in words too."""

    ending: Ending
    message: str = ""
    stalled: bool = False
    """Gripper: something kept it from moving on."""


@dataclass
class Goal:
    """Handle of what a controller is asked to do."""

    on_done: Callable[[Outcome], None] | None = None
    """Called once, by whoever steps the controller."""
    outcome: Outcome | None = field(default=None, init=False)
    """None while it is worked on."""

    def finish(self, ending: Ending, message: str = "", *, stalled: bool = False) -> None:
        """End the goal; only the first call counts."""
        if self.outcome is None:
            self.outcome = Outcome(ending, message or ending.value, stalled)
            if self.on_done is not None:
                self.on_done(self.outcome)


class InvalidGoal(ValueError):
    """A goal that cannot be accepted; the message says what is wrong with it."""


class InvalidJoints(InvalidGoal):
    """A goal for joints that are not the controller's."""
