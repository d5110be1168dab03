# SPDX-License-Identifier: Apache-2.0
"""A point that drives, behind Nav2's real action and service types: planner, controller, costmap.

Needs nav2_msgs. The planner's paths are straight, the controller follows them as fast as the point
can; what stands in its way holds it until the local costmap is cleared.
"""

from __future__ import annotations

import math
import threading
from typing import Any

from geometry_msgs.msg import PoseStamped, TransformStamped
from nav2_msgs.action import BackUp, ComputePathToPose, FollowPath, NavigateToPose, Spin, Wait
from nav2_msgs.srv import ClearEntireCostmap
from nav_msgs.msg import Path
from rclpy.node import Node

from behavior_ros import Cancelled, GoalContext, WorkerActionServer, create_transform_broadcaster

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
        self.chosen: set[tuple[str, str]] = set()
        """Planners and controllers that were asked for."""
        self.driving = 0
        """Goals that move the point just now."""
        self._planner = ""
        self._newest: GoalContext | None = None
        self._step, self._lock, self._node = speed * STEP, threading.Lock(), node
        for kind, name, work in (
            (ComputePathToPose, "compute_path_to_pose", self._plan),
            (FollowPath, "follow_path", self._follow),
            (NavigateToPose, "navigate_to_pose", self._navigate),
            (BackUp, "backup", self._back_up),
            (Spin, "spin", lambda context: Spin.Result()),
            (Wait, "wait", lambda context: Wait.Result()),
        ):
            WorkerActionServer(node, kind, f"/{name}", work)
        for costmap in ("local", "global"):
            service = f"/{costmap}_costmap/clear_entirely_{costmap}_costmap"
            node.create_service(ClearEntireCostmap, service, self._clear)
        self._transforms = create_transform_broadcaster(node)
        node.create_timer(0.05, self._tell)

    def _tell(self) -> None:
        """Publish where it is."""
        found = TransformStamped(child_frame_id="base_link")
        found.header.frame_id = "map"
        found.header.stamp = self._node.get_clock().now().to_msg()
        found.transform.translation.x, found.transform.translation.y = self.at
        self._transforms.send([found])

    def _plan(self, context: GoalContext) -> Any:
        self.goals.append("plan")
        self._planner = context.goal.planner_id
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
        self.chosen.add((self._planner, context.goal.controller_id))
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

    def _back_up(self, context: GoalContext) -> Any:
        self.goals.append("back up")
        self._newest = context
        goal, to = context.goal, PoseStamped()
        assert (goal.target.x, goal.time_allowance.sec) == (0.3, 10)
        to.pose.position.x = self.at[0] - goal.target.x
        self._drive(context, to)
        return BackUp.Result()

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
