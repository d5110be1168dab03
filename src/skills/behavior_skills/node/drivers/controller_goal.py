# SPDX-License-Identifier: Apache-2.0
"""A goal of a controller's action, as the skills' `Command`."""

from __future__ import annotations

from collections.abc import Callable

from behavior_ros import End, GoalOutcome, RemoteGoal
from behavior_skills.interfaces import Done, FailureCode, SkillFailure

REFUSED = (
    "See its log, and that it is active (ros2 control list_controllers), that it has the joints of "
    "the robot's file and no others, and that the clocks of all machines agree."
)
"""What to do about a controller that refuses a goal: none of them says why."""


class ControllerGoal:
    """A goal that was sent; `read` makes of its outcome, which has a result, what it means."""

    def __init__(self, goal: RemoteGoal, read: Callable[[GoalOutcome], Done]) -> None:
        self._goal, self._read = goal, read

    def done(self) -> Done | None:
        """How the goal ended, or None; raises `SkillFailure` SERVER_LOST."""
        ended = self._goal.outcome
        if ended is None:
            return None
        if ended.end is End.LOST:
            raise controller_lost(self._goal.action.name, ended)
        if ended.result is not None:
            return self._read(ended)
        if ended.end is End.REJECTED:
            return Done(False, f"{self._goal.action.name} refused the goal", remedy=REFUSED)
        return Done(False, ended.message or ended.end.value)

    def cancel(self) -> None:
        """Cancel the goal, as soon as it is accepted."""
        self._goal.cancel_soon()


def controller_lost(name: str, ended: GoalOutcome) -> SkillFailure:
    """What a skill fails with when a controller is lost."""
    return SkillFailure(
        FailureCode.SERVER_LOST,
        f"The controller {name} does not answer: {ended.message}. Start the robot's driver or "
        "the simulation again.",
    )
