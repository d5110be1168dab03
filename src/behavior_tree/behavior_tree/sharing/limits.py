# SPDX-License-Identifier: Apache-2.0
"""How many edits are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Of one shared tree."""

    rate: float = 50.0
    """[1/s] of one editor."""
    burst: int = 100
    """At once, of one editor."""
    editors: int = 1000
    """Whose numbers are remembered."""
    waiting: int = 64
    """Edits that wait for something that runs."""
    steps: int = 500
    """That can be taken back, of all editors."""
    all_rate: float = 200.0
    """[1/s] of all editors."""


class Bucket:
    """Lets so many through in a second, and some at once.

    Args:
        rate: [1/s]
        burst: how many at once
        now: [s], monotonic
    """

    def __init__(self, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._level, self._at = burst, now()

    def wait(self) -> float:
        """How long until one more goes through [s]; 0: now."""
        now = self._now()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        return max(0.0, (1.0 - self._level) / self._rate)

    def take(self) -> None:
        """Let one through."""
        self._level -= 1.0
