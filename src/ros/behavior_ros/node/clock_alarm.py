# SPDX-License-Identifier: Apache-2.0
"""Waiting in a worker thread until a time of the node's clock, woken by events only.

With the system's time a condition's own timeout does it. With simulated time nobody knows when the
clock will get there, so every ``/clock`` message looks for waits that are due. That look costs one
comparison while nothing waits. A clock that is set back wakes all waits, for what
is left of them.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable

from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

from behavior_ros.node.node_parts import node_parts

_LONGEST = 1.0
"""[s] wall time after which a wait looks again although nothing woke it (time source changed)."""


class ClockAlarm:
    """Wakes the waits of one node; get it from :func:`clock_alarm`."""

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._due: list[tuple[int, int, threading.Condition, Callable[[], None]]] = []
        threshold = JumpThreshold(
            min_forward=Duration(nanoseconds=1),
            min_backward=Duration(nanoseconds=-1),
            on_clock_change=True,
        )
        self._jump = self._clock.create_jump_callback(threshold, post_callback=self._ring)

    def now(self) -> int:
        """Return the node's time in nanoseconds."""
        return int(self._clock.now().nanoseconds)

    def wait(
        self,
        condition: threading.Condition,
        deadline: float,
        wake: Callable[[], None],
        *,
        longest: float = _LONGEST,
    ) -> None:
        """Wait until the condition is notified, or a time is reached, or a moment is over.

        Args:
            condition: held by the caller, who checks why the wait ended and waits again
            deadline: [ns] time of the node; may be infinite
            wake: notifies the condition; called with it held when simulated time is there
            longest: [s] wall time of the moment
        """
        remaining = (deadline - self.now()) * 1e-9
        if remaining <= 0:
            return
        if not self._clock.ros_time_is_active:
            condition.wait(min(remaining, longest))
            return
        if deadline != float("inf"):
            with self._lock:
                heapq.heappush(self._due, (int(deadline), next(self._order), condition, wake))
        condition.wait(longest)

    def _ring(self, jump: TimeJump) -> None:
        if not self._due:
            return
        now, set_back = self.now(), jump.delta.nanoseconds < 0
        woken: list[tuple[threading.Condition, Callable[[], None]]] = []
        with self._lock:
            while self._due and (set_back or self._due[0][0] <= now):
                woken.append(heapq.heappop(self._due)[2:])
        for condition, wake in woken:
            with condition:
                wake()


def clock_alarm(node: Node) -> ClockAlarm:
    """Return the node's alarm; call it first in the executor's thread."""
    return node_parts(node).shared(ClockAlarm, lambda: ClockAlarm(node))
