# SPDX-License-Identifier: Apache-2.0
"""Messages that are read when somebody looks, or several at a time.

What comes often and is seldom looked at costs most where each is read alone: the caches of a
process that rests are cold.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

MOST_UNREAD = 10
"""Messages that may lie: who looks waits a millisecond for them at most."""


class Unread:
    """Serialized messages in the order in which they came. All threads may use it.

    Args:
        take: reads one; called by one thread at a time
    """

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._waiting: deque[bytes] = deque()
        self._lock = threading.Lock()

    def hear(self, data: bytes) -> None:
        """A message came."""
        self._waiting.append(data)
        if len(self._waiting) >= MOST_UNREAD:
            self.read()

    def read(self) -> None:
        """Read all that has come; whoever returns from here finds it read."""
        if self._waiting:
            with self._lock:
                while self._waiting:
                    try:
                        self._take(self._waiting[0])
                    finally:  # not before: meanwhile others wait for it
                        self._waiting.popleft()

    def clear(self) -> None:
        """Forget what was not read."""
        with self._lock:
            self._waiting.clear()
