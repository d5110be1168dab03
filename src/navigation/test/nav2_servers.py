# SPDX-License-Identifier: Apache-2.0
"""A point that drives, behind Nav2's real action and service types: planner, controller, costmap.

Needs nav2_msgs. The planner's paths are straight, the controller follows them as fast as the point
can; what stands in its way holds it until the local costmap is cleared.
"""

from __future__ import annotations

import math
import threading
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import ComputePathToPose, FollowPath, NavigateToPose
from nav2_msgs.srv import ClearEntireCostmap
from nav_msgs.msg import Path
from rclpy.node import Node

from behavior_ros import Cancelled, GoalContext, WorkerActionServer

STEP = 0.01
"""[s] of wall time between two positions."""


class Nav2Servers:
    """Nav2, as far as a mission sees it."""

    def __init__(self, node: Node, *, speed: float) -> None:
        """Serve.

        Args:
            node: to serve through.
            speed: of the point [m/s].
        """
        self.at = (0.0, 0.0)
        """Where the point is [m]."""
        self.wall: float | None = None
        """How far it can go along x [m] until the costmap is cleared."""
        self.goals: list[str] = []
        """Servers that got a goal, one after the other."""
        self.driving = 0
        """Goals that move the point just now."""
        self._newest: GoalContext | None = None
        self._step, self._lock, self._node = speed * STEP, threading.Lock(), node
        for kind, name, work in (
            (ComputePathToPose, "compute_path_to_pose", self._plan),
            (FollowPath, "follow_path", self._follow),
            (NavigateToPose, "navigate_to_pose", self._navigate),
        ):
            WorkerActionServer(node, kind, f"/{name}", work)
        service = "/local_costmap/clear_entirely_local_costmap"
        node.create_service(ClearEntireCostmap, service, self._clear)

    def _plan(self, context: GoalContext) -> Any:
        self.goals.append("plan")
        result, goal = ComputePathToPose.Result(), context.goal.goal
        if goal.header.frame_id != "map":
            result.error_code, result.error_msg = result.TF_ERROR, "the goal is in no known frame"
            return result
        result.path = self._path(goal)
        return result

    def _path(self, goal: PoseStamped) -> Path:
        path = Path(header=goal.header)
        path.header.stamp = self._node.get_clock().now().to_msg()
        (x, y), end = self.at, goal.pose.position
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            pose = PoseStamped(header=path.header)
            pose.pose.position.x = x + share * (end.x - x)
            pose.pose.position.y = y + share * (end.y - y)
            path.poses.append(pose)
        return path

    def _follow(self, context: GoalContext) -> Any:
        self.goals.append("follow")
        self._newest = context
        result = FollowPath.Result()
        for pose in context.goal.path.poses:
            if not self._drive(context, pose):
                result.error_code = result.FAILED_TO_MAKE_PROGRESS
                result.error_msg = "Failed to make progress"
                return result
        return result

    def _navigate(self, context: GoalContext) -> Any:
        self.goals.append("navigate")
        self._newest = context
        result = NavigateToPose.Result()
        if not self._drive(context, context.goal.pose):
            result.error_code, result.error_msg = result.UNKNOWN, "No recovery helped"
        return result

    def _drive(self, context: GoalContext, to: PoseStamped) -> bool:
        """Go straight to a pose; False: something stands in the way."""
        self.driving += 1
        try:
            return self._go(context, (to.pose.position.x, to.pose.position.y))
        finally:
            self.driving -= 1

    def _go(self, context: GoalContext, goal: tuple[float, float]) -> bool:
        while (left := math.dist(self.at, goal)) > 1e-6:
            context.sleep(STEP)
            with self._lock:
                if context is not self._newest:
                    raise Cancelled("a newer goal took its place")
                share = min(self._step / left, 1.0)
                x, y = (a + share * (b - a) for a, b in zip(self.at, goal, strict=True))
                if self.wall is not None and x > self.wall:
                    return False
                self.at = (x, y)
        return True

    def _clear(self, request: Any, response: Any) -> Any:
        self.goals.append("clear")
        self.wall = None
        if hasattr(response, "success"):
            response.success = True
        return response
