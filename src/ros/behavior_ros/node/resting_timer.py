# SPDX-License-Identifier: Apache-2.0
"""Timers that are seldom needed, in simulated time.

rcl ends the wait of an executor with every ``/clock`` message for each timer whose time is over, be
it cancelled or not. So a timer at rest is one that is due in a hundred years, and the timer with
which an action server forgets ended goals counts steady time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

_FOREVER = 10**9 * 3600 * 24 * 365 * 100
"""[ns]"""
_STEADY = Clock(clock_type=ClockType.STEADY_TIME)


class RestingTimer:
    """Calls a function again and again between `start` and `rest`.

    Args:
        node: its clock counts
        period: [s] node time
        callback: called
    """

    def __init__(self, node: Node, period: float, callback: Callable[[], None]) -> None:
        self._period = round(1e9 * period)
        self._timer = node.create_timer(_FOREVER * 1e-9, callback)
        self.resting = True
        """Whether nothing is called."""

    def start(self) -> None:
        """Call first after a period from now."""
        self.resting = False
        self._set(self._period)

    def rest(self) -> None:
        """Call no more."""
        if not self.resting:
            self.resting = True
            self._set(_FOREVER)

    def _set(self, nanoseconds: int) -> None:
        self._timer.timer_period_ns = nanoseconds
        self._timer.reset()


class OnSteadyTime:
    """A node as an action server sees it that is being made: with a clock of steady time."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def get_clock(self) -> Clock:
        """Steady time; the clock is never destroyed."""
        return _STEADY

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)
