# SPDX-License-Identifier: Apache-2.0
"""When a page is sent the next frame, and how much it may ask: limits of one page. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

CLOSEST = 1.0 / 30.0
"""[s] from one frame to the next at least. Ticks come every 50 ms: a frame waits for no other one
then, and lateness of timers does not add up."""
MOST_UNSEEN = 2
"""Frames on the way to a page."""


@dataclass
class Flow:
    """Frames of one page: not too close together, at most two that were not seen yet."""

    sent: int = 0
    """Number of the last frame."""
    seen: int = 0
    _last: float = field(default=float("-inf"))

    @property
    def open(self) -> bool:
        """Whether one more frame may be on the way."""
        return self.sent - self.seen < MOST_UNSEEN

    def wait(self, now: float) -> float:
        """[s] until the next frame may be sent."""
        return max(0.0, self._last + CLOSEST - now)

    def next(self, now: float) -> int:
        """The number of a frame that is sent now."""
        self._last = now
        self.sent += 1
        return self.sent

    def acknowledge(self, frame: int) -> None:
        """A frame was drawn, and all before it."""
        self.seen = max(self.seen, min(frame, self.sent))


@dataclass
class Quota:
    """Something that may be done so often, and so often at once."""

    rate: float
    """[1/s]."""
    burst: float
    _left: float = field(init=False)
    _at: float = field(default=0.0)

    def __post_init__(self) -> None:
        self._left = self.burst

    def take(self, now: float) -> bool:
        """Whether it may be done once more now."""
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
