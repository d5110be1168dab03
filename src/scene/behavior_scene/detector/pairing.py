# SPDX-License-Identifier: Apache-2.0
"""Brings together what belongs to one instant but arrives one by one, in whatever order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any


class TimePairing:
    """Pairs the newest items of several channels whose stamps agree.

    An item completes a set when every other channel holds one within `tolerance` of it; the
    nearest is taken. What is older than a set's members is dropped, so that sets come out in order,
    and each channel keeps at most `capacity` items, however long another one is silent.

    Args:
        channels: names.
        tolerance: largest difference of stamps [s].
        capacity: of each channel.
    """

    def __init__(self, channels: Iterable[str], *, tolerance: float, capacity: int = 10) -> None:
        self._queues: dict[str, deque[tuple[float, Any]]] = {
            name: deque(maxlen=capacity) for name in channels
        }
        self._tolerance = tolerance
        self.dropped = 0
        """Items that found no partners."""

    @property
    def channels(self) -> list[str]:
        """Names of the channels."""
        return list(self._queues)

    def add(self, channel: str, stamp: float, item: Any) -> dict[str, Any] | None:
        """Take an item with its stamp [s]; the set that it completes, by channel."""
        queue = self._queues[channel]
        if queue and stamp < queue[-1][0]:
            # Time was set back, or the sender does not keep its order: what waits is void.
            self.dropped += len(queue)
            queue.clear()
        self.dropped += len(queue) == queue.maxlen
        queue.append((stamp, item))
        chosen: dict[str, int] = {}
        for name, others in self._queues.items():
            if not others:
                return None
            index = min(range(len(others)), key=lambda i: abs(others[i][0] - stamp))
            if abs(others[index][0] - stamp) > self._tolerance:
                return None
            chosen[name] = index
        return {name: self._take(name, index) for name, index in chosen.items()}

    def _take(self, channel: str, index: int) -> Any:
        queue = self._queues[channel]
        for _ in range(index):
            queue.popleft()
        self.dropped += index
        return queue.popleft()[1]
