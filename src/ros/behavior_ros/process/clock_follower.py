# SPDX-License-Identifier: Apache-2.0
"""Tells a simulation how far a process has come with what follows from its time.

A simulation that runs as fast as it can would leave a planner behind, and what takes milliseconds
on a robot would take seconds of its time. So each process that hears ``/clock`` says on
``/clock/followed`` when it has nothing left to do: no callback runs, and no worker computes. A
simulation that listens there waits for that (``busy_speed`` of `behavior_sim`). Where nobody
listens, nothing is sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Header

from behavior_ros.node.at_work import at_work
from behavior_ros.process.lean_executor import LeanExecutor

_SECOND = 1_000_000_000
_LISTENED = 0.1
"""[s] wall time for which it is not asked again whether somebody listens."""


def followed_topic(node: Node) -> str:
    """Where a process says how far it has come, as `std_msgs/Header`: the time to which it has
    done all, and its name. It is beside the clock that `node` hears, which is a robot's own
    where ``/clock`` is remapped.
    """
    return f"{node.resolve_topic_name('/clock')}/followed"


def follow_clock(nodes: Sequence[Node], executor: LeanExecutor) -> Callable[[int], None]:
    """Say for a process how far it has come.

    Args:
        nodes: of the process.
        executor: that runs them, in the thread that calls this.

    Returns:
        what is to be called with each time [ns] that the nodes' clocks show.
    """
    if any(node.get_parameter("use_sim_time").value for node in nodes):
        return ClockFollower(nodes, executor).hear
    return lambda now: None


class ClockFollower:
    """Says for a process how far it has followed the clock.

    Args:
        nodes: of the process; the first one publishes, and its name stands for the process.
        executor: that runs them, in the thread that calls this.
    """

    def __init__(self, nodes: Sequence[Node], executor: LeanExecutor) -> None:
        self._executor = executor
        self._workers = [at_work(node) for node in nodes]
        followed = followed_topic(nodes[0])
        self._publisher = nodes[0].create_publisher(Header, followed, QoSProfile(depth=10))
        self._message = Header(frame_id=nodes[0].get_fully_qualified_name())
        self._lock = threading.Lock()
        self._now = self._told = 0
        self._listened, self._ask_again = False, 0.0
        for workers in self._workers:
            workers.on_rest = self.look
        executor.on_idle = self.look

    def hear(self, now: int) -> None:
        """The clocks show the time `now` [ns]; any thread may tell."""
        self._now = now
        self.look()

    def look(self) -> None:
        """Say that all is done, where it is and nobody has said so; any thread may ask."""
        if self._now == self._told or not self._executor.idle or any(self._workers):
            return
        with suppress(InvalidHandle):  # the node is being destroyed
            if self._is_listened_to():
                self._tell(self._now)

    def _is_listened_to(self) -> bool:
        now = time.monotonic()
        if now >= self._ask_again:
            self._listened = bool(self._publisher.get_subscription_count())
            self._ask_again = now + _LISTENED
        return self._listened

    def _tell(self, now: int) -> None:
        with self._lock:
            if now == self._told:
                return
            self._told = now
            stamp = self._message.stamp
            stamp.sec, stamp.nanosec = divmod(now, _SECOND)
            self._publisher.publish(self._message)
