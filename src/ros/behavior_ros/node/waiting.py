# SPDX-License-Identifier: Apache-2.0
"""How long something was waited for, on a clock that may be set back."""

from __future__ import annotations

from collections.abc import Callable


class Waiting:
    """Begins now, and anew when the clock is set back.

    A simulation that is started again counts from zero: what waits until a time of before would
    wait for all of that time once more.

    Args:
        now: time, in any unit
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._begun = now()

    def lasted(self) -> float:
        """How long it has lasted."""
        now = self._now()
        self._begun = min(self._begun, now)
        return now - self._begun

    def end(self, duration: float) -> float:
        """The time at which it will have lasted so long."""
        return self._begun + duration
