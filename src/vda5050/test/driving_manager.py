# SPDX-License-Identifier: Apache-2.0
"""A manager that is a robot: it glides to where missions send it, and tells where it is."""

import math

from behavior_msgs.msg import LocalizationResult
from rclpy.node import Node

from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.missions.mission import Code, MissionRequest
from behavior_ros import QOS_SENSOR
from behavior_tree import BehaviorTreeFactory, NodeStatus, TreeNode

STEP = 0.05
"""[m] per tick."""
BLOCKED_AT = 50.0
"""[m] No way leads beyond this x."""


class DrivingManager(BehaviorManager):
    """Registers the tree node Glide."""

    name = "driving"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.x = self.y = 0.0
        self.path: list[tuple[float, float]] = []
        self._publisher = node.create_publisher(
            LocalizationResult, "/localization/result", QOS_SENSOR
        )

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        factory.register_simple_stateful_action(
            "Glide", self._glide, self._glide, lambda node: None
        )

    def mission_started(self, request: MissionRequest) -> None:
        poses = request.route or ((request.goal,) if request.goal else ())
        self.path = [(each.pose.x, each.pose.y) for each in poses]

    def mission_ended(self, code: Code) -> None:
        self.path = []

    def post_tick(self, now: float) -> None:
        message = LocalizationResult(status=LocalizationResult.GOOD, map_id="hall", score=0.9)
        message.header.frame_id = "map"
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.pose.pose.position.x, message.pose.pose.position.y = self.x, self.y
        message.pose.pose.orientation.w = 1.0
        self._publisher.publish(message)

    def _glide(self, node: TreeNode) -> NodeStatus:
        if not self.path:
            return NodeStatus.SUCCESS
        if self.path[0][0] > BLOCKED_AT:
            node.set_failure_reason("there is no way")
            return NodeStatus.FAILURE
        dx, dy = self.path[0][0] - self.x, self.path[0][1] - self.y
        left = math.hypot(dx, dy)
        share = min(1.0, STEP / left) if left else 1.0
        self.x, self.y = self.x + share * dx, self.y + share * dy
        if share == 1.0:
            self.path.pop(0)
        return NodeStatus.RUNNING if self.path else NodeStatus.SUCCESS
