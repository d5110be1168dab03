# SPDX-License-Identifier: Apache-2.0
"""A timer that events wake: something is ticked when there is a reason, and at least so often.

The period counts node time, so that simulations may run at any speed. A wake-up does not wait for
that clock, of which a message may come ten times a second only: it ends the executor's wait by a
guard condition. Events that come in swarms are held apart by a least distance of wall time, since
it is the processor that this protects.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node


class TickTimer:
    """Calls a function in the executor's thread.

    Args:
        node: its clock counts the period
        tick: called; a true result asks for another call soon
        period: [s] node time that lies at most between two calls; asked after each of them
        distance: [s] wall time that lies at least between the end of a call and one for an event
        due: node time [s] at which the next call is due although nothing happens; None: at no time
        wall: monotonic wall time [s]
    """

    def __init__(
        self,
        node: Node,
        tick: Callable[[], bool],
        *,
        period: Callable[[], float],
        distance: float,
        due: Callable[[], float | None] = lambda: None,
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._tick = tick
        self._ask_period = period
        self._period = round(1e9 * period())
        self._distance = distance
        self._due = due
        self._wall = wall
        self._ended = -float("inf")
        """Wall time at which the last call ended."""
        self._inside: int | None = None
        """Thread that is in a call."""
        self._wanted = self._early = self._destroyed = False
        self._woken = node.create_guard_condition(self._on_event)
        self._timer = node.create_timer(period(), self._on_time)
        self._soon = node.create_timer(
            distance, self._on_event, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._soon.cancel()

    def wake(self) -> None:
        """Ask for a call at once; any thread may do so.

        What is asked for by the call itself counts for nothing: loops of a tree that give others
        their turn between two rounds are looks at something that takes time, once a period.
        """
        if self._wanted or self._destroyed or threading.get_ident() == self._inside:
            return
        self._wanted = True
        with suppress(InvalidHandle):  # it is destroyed just now
            self._woken.trigger()

    def destroy(self) -> None:
        """Call no more; later wake-ups are ignored."""
        self._destroyed = True
        for timer in (self._timer, self._soon):
            self._node.destroy_timer(timer)
        self._node.destroy_guard_condition(self._woken)

    def _on_time(self) -> None:
        if self._early:
            self._set_timer(self._period)
            self._want()
        else:
            self._call(on_time=True)

    def _on_event(self) -> None:
        if self._wanted:
            self._want()

    def _want(self) -> None:
        """Call, or if that would be too soon, have it called later."""
        self._wanted = True
        left = self._ended + self._distance - self._wall()
        if left < 1e-9:
            self._call(on_time=False)
        else:
            self._soon.timer_period_ns = round(1e9 * left)
            self._soon.reset()

    def _call(self, *, on_time: bool) -> None:
        self._soon.cancel()
        self._wanted = False
        self._inside = threading.get_ident()
        try:
            again = self._tick()
        finally:
            self._inside = None
            self._ended = self._wall()
        if not self._destroyed:
            self._plan(on_time=on_time)
            if again:
                self.wake()

    def _plan(self, *, on_time: bool) -> None:
        """Set the timer for the next call; one that came on time leaves the beat as it is."""
        due = self._due()
        before, self._period = self._period, round(1e9 * self._ask_period())
        left = self._period
        if due is not None:
            left = min(left, round(1e9 * due) - self._node.get_clock().now().nanoseconds)
        if left <= 0:
            self.wake()
        elif left < self._period or self._period != before or not on_time:
            self._set_timer(left)

    def _set_timer(self, nanoseconds: int) -> None:
        """Let the timer call after so much node time, again and again."""
        self._timer.timer_period_ns = nanoseconds
        self._timer.reset()
        self._early = nanoseconds < self._period
