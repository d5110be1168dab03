# SPDX-License-Identifier: Apache-2.0
"""Hands planned motions to whoever previews, and has previewed ones done again; over ROS.

The node tells each motion that it plans on ``motion/planned``, as long as somebody listens. What a
preview has heard there in its copy of the world, it gives on ``motion/previewed``, a list, while
the approved mission runs; an empty one ends it. On ``motion/choices`` the node tells of each motion
whether it is the previewed one, and otherwise why not. All are texts of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from behavior_motion import MotionPlanner
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.planning.motion_rows import motion_of_row, motion_row
from behavior_motion.planning.previewed import (
    PlannedMotion,
    PreviewedMotions,
    PreviewTolerances,
)
from behavior_ros import QOS_EVENT_LOG, QOS_LATCHED

PLANNED, PREVIEWED, CHOICES = "motion/planned", "motion/previewed", "motion/choices"
LONGEST = 32 * 2**20
"""Characters of a list of motions; a motion of 2 s has about 90 000."""
STOPS_WITHIN = 0.1
"""[m] A robot that drives stops some centimetres from where it did, or drives on while its arm
plans: seen from the arm, all that stands around has moved by that."""


class MotionExchange:
    """The topics of planned and previewed motions of one planner.

    Args:
        node: that plans in threads beside its executor's.
        planner: one that is not the suite's takes no part.
    """

    def __init__(self, node: Node, planner: MotionPlanner) -> None:
        if not isinstance(planner, EmbeddedPlanner):
            return
        self._node, self._planner = node, planner
        self._planned = node.create_publisher(String, PLANNED, QOS_EVENT_LOG)
        self._choices = node.create_publisher(String, CHOICES, QOS_EVENT_LOG)
        node.create_subscription(String, PREVIEWED, self._take, QOS_LATCHED)
        planner.on_planned = self._keep
        drives = planner.robot.config.base is not None
        self._tolerances = PreviewTolerances(around=STOPS_WITHIN) if drives else None

    def _keep(self, motion: PlannedMotion) -> None:
        if self._planned.get_subscription_count():
            row = motion_row(motion)
            self._publish(self._planned.publish, row)

    def _tell(self, as_previewed: bool, why: str) -> None:
        self._publish(self._choices.publish, {"as_previewed": as_previewed, "why": why})
        if not as_previewed:
            self._node.get_logger().info(f"planned anew: {why}")

    def _publish(self, publish: Callable[[String], None], row: dict[str, Any]) -> None:
        """From the thread that plans, in the executor's."""
        message = String(data=json.dumps(row))
        if self._node.executor is not None:
            self._node.executor.create_task(lambda: publish(message))

    def _take(self, message: String) -> None:
        text = message.data
        if len(text) > LONGEST:
            self._refuse(f"{len(text)} characters, at most {LONGEST} are taken")
            text = ""
        # Whoever plans first reads them: that takes longer than a callback may.
        self._planner.previewed = (
            PreviewedMotions(self._motions(text), self._tell, self._tolerances)
            if text.strip() not in ("", "[]")
            else None
        )

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
