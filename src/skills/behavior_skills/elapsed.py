# SPDX-License-Identifier: Apache-2.0
"""How much time has passed, on a clock that may be set back."""

from __future__ import annotations

from behavior_skills.interfaces import GoalContext


class Elapsed:
    """Time [s] since it was made, on the clock of a goal; it never runs backwards.

    Where the clock is set back, as by a simulation that starts anew, it goes on from there: a limit
    counted from a time of before would not be reached until that time has come once more.
    """

    def __init__(self, goal_context: GoalContext) -> None:
        self._now = goal_context.now
        self._last, self._passed = self._now(), 0.0

    def __call__(self) -> float:
        """So far [s]; what passed between the last call and a setting back is not counted."""
        now = self._now()
        self._passed += max(0.0, now - self._last)
        self._last = now
        return self._passed
