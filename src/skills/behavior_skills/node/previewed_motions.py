# SPDX-License-Identifier: Apache-2.0
"""Hands planned motions to whoever previews, and has previewed ones done again; over ROS.

The node tells each motion that it plans on ``motion/planned``, as long as somebody listens. What a
preview has heard there in its copy of the world, it gives on ``motion/previewed`` for the mission
that was approved: its identifier in the first line, then a list; an empty one takes them back. They
serve the goals that leaves of this mission send, and no others, whatever runs meanwhile. On
``motion/choices`` the node tells of each motion that such a goal asks for whether it is the
previewed one, and otherwise why not. Motions and choices are texts of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from behavior_motion import MotionPlanner
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.planning.motion_rows import motion_of_row, motion_row
from behavior_motion.planning.planner import Plan, PlanRequest
from behavior_motion.planning.previewed import (
    PlannedMotion,
    PreviewedMotions,
    PreviewTolerances,
)
from behavior_motion.planning.query import Query
from behavior_ros import QOS_EVENT_LOG, mark_of
from behavior_ros.topics.qos import QOS_KEPT_EVENTS

PLANNED, PREVIEWED, CHOICES = "motion/planned", "motion/previewed", "motion/choices"
LONGEST = 32 * 2**20
"""Characters of all lists of motions; a motion of 2 s has about 90 000."""
STOPS_WITHIN = 0.1
"""[m] A robot that drives stops some centimetres from where it did, or drives on while its arm
plans: seen from the arm, all that stands around has moved by that."""

_asks: ContextVar[bytes] = ContextVar("asks", default=b"")
"""Mark of whoever sent the goal for which this thread plans."""


@contextmanager
def planning_for(mark: bytes) -> Iterator[None]:
    """Within the block this thread plans for a goal that was sent under a mark (`mark_of`)."""
    token = _asks.set(mark)
    try:
        yield
    finally:
        _asks.reset(token)


class ApprovedMotions:
    """The motions of all missions that are approved: each serves the goals of its own alone."""

    def __init__(self) -> None:
        self.of: dict[bytes, PreviewedMotions] = {}
        """By the mark of the mission, in the order of their approvals."""
        self._lengths: dict[bytes, int] = {}

    def drop(self, mark: bytes) -> None:
        """A mission has none any more."""
        self.of.pop(mark, None)
        self._lengths.pop(mark, None)

    def put(self, mark: bytes, motions: PreviewedMotions, length: int) -> None:
        """A mission has these, a list of so many characters.

        Where that makes too many the oldest are dropped: of missions whose approver has died,
        mostly.
        """
        self.drop(mark)
        while self.of and sum(self._lengths.values()) + length > LONGEST:
            self.drop(next(iter(self.of)))
        self.of[mark], self._lengths[mark] = motions, length

    def answer(
        self, query: Query, ik: InverseKinematics, request: PlanRequest, plan: Callable[[], Plan]
    ) -> Plan:
        """As the mission's own motions answer; whoever has none plans as ever."""
        motions = self.of.get(_asks.get())
        return plan() if motions is None else motions.answer(query, ik, request, plan)


class MotionExchange:
    """The topics of planned and previewed motions of one planner.

    Args:
        node: that plans in threads beside its executor's.
        planner: one that is not the suite's takes no part.
    """

    def __init__(self, node: Node, planner: MotionPlanner) -> None:
        if not isinstance(planner, EmbeddedPlanner):
            return
        self._node = node
        self._planned = node.create_publisher(String, PLANNED, QOS_EVENT_LOG)
        self._choices = node.create_publisher(String, CHOICES, QOS_EVENT_LOG)
        # Of several who approve missions at once each keeps one message for whoever comes late.
        node.create_subscription(String, PREVIEWED, self._take, QOS_KEPT_EVENTS)
        planner.on_planned = self._keep
        planner.previewed = self._approved = ApprovedMotions()
        drives = planner.robot.config.base is not None
        self._tolerances = PreviewTolerances(around=STOPS_WITHIN) if drives else None

    def _keep(self, motion: PlannedMotion) -> None:
        if self._planned.get_subscription_count():
            row = motion_row(motion)
            self._publish(self._planned.publish, row)

    def _tell(self, mission: str, as_previewed: bool, why: str) -> None:
        row = {"mission": mission, "as_previewed": as_previewed, "why": why}
        self._publish(self._choices.publish, row)
        if not as_previewed:
            self._node.get_logger().info(f"planned anew: {why}")

    def _publish(self, publish: Callable[[String], None], row: dict[str, Any]) -> None:
        """From the thread that plans, in the executor's."""
        message = String(data=json.dumps(row))
        if self._node.executor is not None:
            self._node.executor.create_task(lambda: publish(message))

    def _take(self, message: String) -> None:
        mission, line_end, text = message.data.partition("\n")
        if len(text) > LONGEST:
            self._refuse(f"{len(text)} characters, at most {LONGEST} are taken")
            text = ""
        if not (mission and line_end):
            self._refuse("its first line is to be the identifier of the approved mission")
            return
        mark = mark_of(mission)
        if text.strip() in ("", "[]"):
            self._approved.drop(mark)
            return
        # Whoever plans first reads them: that takes longer than a callback may.
        motions = PreviewedMotions(
            self._motions(text), partial(self._tell, mission), self._tolerances
        )
        self._approved.put(mark, motions, len(text))

    def _motions(self, text: str) -> Iterator[PlannedMotion]:
        try:
            rows = json.loads(text)
            if not isinstance(rows, list):
                raise ValueError("a list wanted")
            for row in rows:
                yield motion_of_row(row)
        except (ValueError, RecursionError) as error:  # the latter: lists in lists in lists ...
            self._refuse(str(error))

    def _refuse(self, why: str) -> None:
        self._node.get_logger().error(f"{PREVIEWED} is not as 'behavior preview' writes it: {why}")
