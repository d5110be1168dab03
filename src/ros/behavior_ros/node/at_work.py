# SPDX-License-Identifier: Apache-2.0
"""Counts what is being computed for a node outside the executor's thread: its workers.

Who wants to know whether all has been done that follows from a moment (see
`behavior_ros.process.clock_follower`) asks here. A worker that waits is at rest, until what it
waits for wakes it; the count goes up when it is woken, not only when its thread gets the processor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from rclpy.node import Node

from behavior_ros.node.node_parts import node_parts


class AtWork:
    """The workers of a node that compute; get it from :func:`at_work`. All threads may use it."""

    def __init__(self) -> None:
        self.on_rest: Callable[[], None] = lambda: None
        """Called in a worker's thread when the last one rests."""
        self._count = 0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Whether somebody computes."""
        return self._count > 0

    def begin(self) -> None:
        """One more computes."""
        with self._lock:
            self._count += 1

    def end(self) -> None:
        """One less computes."""
        with self._lock:
            self._count -= 1
            resting = self._count == 0
        if resting:
            self.on_rest()


def at_work(node: Node) -> AtWork:
    """The count of a node's workers; call it first in the executor's thread."""
    return node_parts(node).shared(AtWork, AtWork)
