# SPDX-License-Identifier: Apache-2.0
"""`SimulatedClock`: time that passes when a test says so."""

from __future__ import annotations


class SimulatedClock:
    """Stands still until moved; begins at 0 s."""

    def __init__(self) -> None:
        self.now = 0.0
        """[s]"""

    def __call__(self) -> float:
        """The time [s]."""
        return self.now

    def move_to(self, time: float) -> None:
        """Let the time pass up to a reading [s]; never backwards."""
        self.now = max(self.now, time)

    def reset(self) -> None:
        """Begin anew at 0 s."""
        self.now = 0.0
