# SPDX-License-Identifier: Apache-2.0
"""One subscription of ``/clock`` for all nodes of a process.

rclpy has one per node: every message would be received, decoded and waited for as often as there
are nodes. This one is received in the background: timers that become due end the executor's wait by
themselves.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from rosgraph_msgs.msg import Clock

from behavior_ros.topics.background import create_background_subscription

_LITTLE, _BIG = struct.Struct("<4xiI"), struct.Struct(">4xiI")


def share_clock(nodes: Sequence[Node], on_time: Callable[[int], None] = lambda now: None) -> None:
    """Have the first node on simulated time set the clocks of the others, which hear it no more.

    Call it when all nodes are made. One that is switched to simulated time later has a
    subscription of its own again; the first one's ``use_sim_time`` must stay as it is.

    Args:
        nodes: of one process
        on_time: called with each time [ns], in the thread that has set the clocks to it
    """
    simulated = [node for node in nodes if node._time_source.ros_time_is_active]
    for node in simulated:
        source = node._time_source
        if source._clock_sub is not None:
            node.destroy_subscription(source._clock_sub)
            source._clock_sub = None
        for clock in source._associated_clocks:
            simulated[0]._time_source.attach_clock(clock)
    if simulated:
        simulated[0]._time_source._clock_sub = create_background_subscription(
            simulated[0],
            Clock,
            "/clock",
            _ClockSetter(simulated[0], on_time).set,
            QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
        )


class _ClockSetter:
    """Sets all clocks that are attached to a node's time source.

    Time that goes on is set in the thread that receives it. Time that jumps back has caches
    emptied, which belong to callbacks: the executor's thread sets it, and all that comes until then
    waits for its turn.
    """

    def __init__(self, node: Node, on_time: Callable[[int], None]) -> None:
        self._node = node
        self._on_time = on_time
        self._source = node._time_source
        self._newest = 0
        self._jumps: deque[Time] = deque()

    def set(self, data: bytes) -> None:
        """Take in a serialized message."""
        second, nanosecond = (_LITTLE if data[1] else _BIG).unpack_from(data)
        time = Time(seconds=second, nanoseconds=nanosecond, clock_type=ClockType.ROS_TIME)
        executor: Any = self._node.executor
        if (time.nanoseconds < self._newest or self._jumps) and executor is not None:
            self._jumps.append(time)
            executor.create_task(self._jump)
        else:
            self._set(time)
        self._newest = time.nanoseconds

    def _jump(self) -> None:
        self._set(self._jumps[0])
        self._jumps.popleft()

    def _set(self, time: Time) -> None:
        self._source._last_time_set = time
        for clock in tuple(self._source._associated_clocks):
            clock.set_ros_time_override(time)
        self._on_time(time.nanoseconds)
