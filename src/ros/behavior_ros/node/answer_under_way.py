# SPDX-License-Identifier: Apache-2.0
"""Counts the answer to a goal as work of its server until whoever waited for it goes on.

A result needs a millisecond to its client, on a busy machine many, in which neither of them has
anything to do. A simulation that goes on as soon as nobody computes (`clock_follower`) would
make a pause between two motions of that. So a node that has sent a result counts as at work until
the next goal comes; or for a moment, as often none does.
"""

from __future__ import annotations

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_ros.node.at_work import at_work
from behavior_ros.node.node_parts import node_parts

LONGEST = 0.01
"""[s] of wall time in which a client hears the result and sends its next goal, if at all."""


class AnswerUnderWay:
    """The newest answer of a node; get it from :func:`answer_under_way`. For the executor's
    thread.
    """

    def __init__(self, node: Node) -> None:
        self._workers = at_work(node)
        self._is_under_way = False
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LONGEST, self.end, clock=steady, autostart=False)

    def begin(self) -> None:
        """A result is sent."""
        if not self._is_under_way:
            self._is_under_way = True
            self._workers.begin()
        self._timer.reset()

    def end(self) -> None:
        """A goal has come, or none comes."""
        self._timer.cancel()
        if self._is_under_way:
            self._is_under_way = False
            self._workers.end()


def answer_under_way(node: Node) -> AnswerUnderWay:
    """The answer of a node's action servers; call it in the executor's thread."""
    return node_parts(node).shared(AnswerUnderWay, lambda: AnswerUnderWay(node))
