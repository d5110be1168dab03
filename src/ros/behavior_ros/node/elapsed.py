# SPDX-License-Identifier: Apache-2.0
"""How much time has passed, on a clock that may be set back."""

from __future__ import annotations

from collections.abc import Callable


class Elapsed:
    """Time since it was made; it never runs backwards.

    Where the clock is set back, as by a simulation that starts anew, it goes on from there: a limit
    counted from a time of before would not be reached until that time has come once more.

    Args:
        now: the clock, in any unit
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last, self._passed = now(), 0.0

    def __call__(self) -> float:
        """So far; what passed between the last call and a setting back is not counted."""
        now = self._now()
        self._passed += max(0.0, now - self._last)
        self._last = now
        return self._passed

    def end(self, duration: float) -> float:
        """What the clock shows when so much has passed, if nobody sets it until then."""
        return self._last + duration - self._passed
