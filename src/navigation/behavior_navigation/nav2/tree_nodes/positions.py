# SPDX-License-Identifier: Apache-2.0
"""Nav2's nodes that ask where the robot is, or where frames are."""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from behavior_navigation.nav2.tree_nodes.paths import (
    distance,
    end_of_stretch,
    goals_like,
    goals_of,
)
from behavior_navigation.nav2.tree_nodes.robot import Robot
from behavior_navigation.rules.nodes import ActsOn, ProblemAction, ProblemCondition
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    TreeNode,
    ports_list,
)

GLOBAL_FRAME = InputPort("global_frame", str, "map", "frame that does not move")
BASE_FRAME = InputPort("robot_base_frame", str, "base_link", "frame of the robot")
UNKNOWN = "where the robot is is not known"
GOAL_TOLERANCE = 0.25
"""[m] Nav2's default of `goal_reached_tol`."""


class GetCurrentPose(ActsOn[Any], ProblemAction):
    """Writes where the robot is."""

    ports = ports_list(
        GLOBAL_FRAME,
        BASE_FRAME,
        OutputPort("current_pose", PoseStamped, description="in the frame that does not move"),
    )

    def act(self) -> str:
        """Look it up."""
        pose = self.subject.pose(self.get_input("global_frame"), self.get_input("robot_base_frame"))
        if pose is None:
            return UNKNOWN
        self.set_output("current_pose", pose)
        return ""


class RemovePassedGoals(ActsOn[Any], ProblemAction):
    """Writes some goals without the first ones that the robot is near; the last one stays."""

    ports = ports_list(
        InputPort("radius", float, 0.5, "how near is passed [m]"),
        BASE_FRAME,
        InputPort("input_goals", Any, description="goals"),
        InputPort("input_waypoint_statuses", Any, None, "nav2_msgs/WaypointStatus of each"),
        OutputPort("output_goals", Any, description="those that are left"),
        OutputPort("output_waypoint_statuses", Any, description="the passed ones COMPLETED"),
    )

    def act(self) -> str:
        """Drop them."""
        given = self.get_input("input_goals")
        goals = goals_of(given)
        if not goals:
            self.set_output("output_goals", given)
            return ""
        here = self.subject.pose(goals[0].header.frame_id, self.get_input("robot_base_frame"))
        if here is None:
            return UNKNOWN
        statuses = copy.deepcopy(self.get_input("input_waypoint_statuses", None))
        radius = float(self.get_input("radius"))
        while len(goals) > 1 and distance(goals[0].pose, here.pose) <= radius:
            passed = goals.pop(0)
            if statuses is not None and not _complete(statuses, passed):
                return "a goal that was passed is none of those that are waited for"
        self.set_output("output_goals", goals_like(given, goals))
        if statuses is not None:
            self.set_output("output_waypoint_statuses", statuses)
        return ""


def _complete(statuses: Any, goal: Any) -> bool:
    """Mark the first that waits for a goal; returns whether there is one."""
    for each in statuses:
        if each.waypoint_status == each.PENDING and each.waypoint_pose == goal:
            each.waypoint_status = each.COMPLETED
            return True
    return False


class Nearest:
    """The pose of a path that the robot is nearest to, from that of the last time on.

    A limited search does not jump to a later part of a path that crosses itself.
    """

    def __init__(self) -> None:
        self._path: Any = None
        self._last = 0

    def index(self, path: Any, here: Any, limit: float, turn_weight: float = 0.0) -> int:
        """Which pose it is.

        Args:
            path: with a pose at least.
            here: the robot's pose.
            limit: how far along the path from the last one to look [m]; infinite: the whole path.
            turn_weight: of a difference of directions [m/rad].
        """
        if not math.isfinite(limit) or path != self._path:
            self._path, self._last = path, 0
        stop = len(path.poses)
        if math.isfinite(limit):
            stop = end_of_stretch(path.poses, self._last, stop, limit)

        def far(index: int) -> float:
            pose = path.poses[index].pose
            return math.hypot(distance(pose, here), turn_weight * _angle(pose, here))

        self._last = min(range(self._last, stop), key=far)
        return self._last


def _angle(one: Any, other: Any) -> float:
    """Angle between the directions of two poses [rad]."""
    a, b = one.orientation, other.orientation
    dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
    sizes = math.sqrt((a.x**2 + a.y**2 + a.z**2 + a.w**2) * (b.x**2 + b.y**2 + b.z**2 + b.w**2))
    return 2.0 * math.acos(min(1.0, abs(dot) / sizes)) if sizes else 0.0


class TruncatePathLocal(ActsOn[Any], ProblemAction):
    """Writes the stretch of a path around the robot."""

    ports = ports_list(
        InputPort("input_path", Any, description="path"),
        InputPort("distance_forward", float, 8.0, "along it before the robot [m]; -1: all"),
        InputPort("distance_backward", float, 4.0, "along it behind the robot [m]"),
        BASE_FRAME,
        InputPort("transform_tolerance", Any, None, "means nothing here"),
        InputPort("pose", Any, None, "instead of where the robot is"),
        InputPort("angular_distance_weight", float, 0.0, "of its direction [m/rad]"),
        InputPort("max_robot_pose_search_dist", float, math.inf, "see Nav2 [m]"),
        OutputPort("output_path", Path, description="the stretch"),
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        super().__init__(name, config, robot)
        self._nearest = Nearest()

    def act(self) -> str:
        """Cut it out."""
        path, here = self.get_input("input_path"), self.get_input("pose", None)
        if here is None:
            here = self.subject.pose(path.header.frame_id, self.get_input("robot_base_frame"))
        if here is None:
            return UNKNOWN
        poses = list(path.poses)
        if poses:
            limit, weight = "max_robot_pose_search_dist", "angular_distance_weight"
            at = self._nearest.index(
                path, here.pose, float(self.get_input(limit)), float(self.get_input(weight))
            )
            forward = float(self.get_input("distance_forward"))
            ahead = end_of_stretch(poses, at, len(poses), math.inf if forward < 0.0 else forward)
            back = float(self.get_input("distance_backward"))
            behind = end_of_stretch(poses[at::-1], 0, at + 1, back)
            poses = poses[at + 1 - behind : ahead]
        self.set_output("output_path", Path(header=path.header, poses=poses))
        return ""


class GoalReached(ActsOn[Any], ProblemCondition):
    """Succeeds while the robot is within 0.25 m of `goal`."""

    ports = ports_list(InputPort("goal", PoseStamped, description="pose"), BASE_FRAME)

    def problem(self) -> str:
        """Look where the robot is."""
        goal = self.get_input("goal")
        here = self.subject.pose(goal.header.frame_id, self.get_input("robot_base_frame"))
        if here is None:
            return UNKNOWN
        away = distance(goal.pose, here.pose)
        return "" if away <= GOAL_TOLERANCE else f"the goal is {away:.2f} m away"


class IsGoalNearby(ActsOn[Any], ProblemCondition):
    """Succeeds while less than `proximity_threshold` of `path` is left before the robot."""

    ports = ports_list(
        InputPort("path", Any, description="path"),
        InputPort("proximity_threshold", float, 1.0, "length that is near [m]"),
        InputPort("max_robot_pose_search_dist", float, -1.0, "see Nav2 [m]; -1: no limit"),
        GLOBAL_FRAME,
        BASE_FRAME,
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        super().__init__(name, config, robot)
        self._nearest = Nearest()

    def problem(self) -> str:
        """Measure what is left."""
        path = self.get_input("path")
        if not path.poses:
            return "the path is empty"
        here = self.subject.pose(path.header.frame_id, self.get_input("robot_base_frame"))
        if here is None:
            return UNKNOWN
        limit = float(self.get_input("max_robot_pose_search_dist"))
        at = self._nearest.index(path, here.pose, math.inf if limit < 0.0 else limit)
        rest = path.poses[at:]
        left = sum(distance(a.pose, b.pose) for a, b in pairwise(rest))
        near = left < float(self.get_input("proximity_threshold"))
        return "" if near else f"{left:.2f} m of the path are left"


class ArePosesNear(ActsOn[Any], ProblemCondition):
    """Succeeds while two poses are within `tolerance` of each other."""

    ports = ports_list(
        InputPort("ref_pose", PoseStamped, description="one pose"),
        InputPort("target_pose", PoseStamped, description="the other one"),
        GLOBAL_FRAME,
        InputPort("tolerance", float, 0.5, "on the ground [m]"),
    )

    def problem(self) -> str:
        """Measure."""
        poses = self.get_input("ref_pose"), self.get_input("target_pose")
        frame = self.get_input("global_frame")
        if poses[0].header.frame_id == poses[1].header.frame_id:
            places = [(each.pose.position.x, each.pose.position.y) for each in poses]
        else:
            found = [self.subject.place(frame, each) for each in poses]
            places = [each for each in found if each is not None]
            if len(places) < len(found):
                return f"a pose has no known place in {frame}"
        away = math.dist(*places)
        return "" if away <= float(self.get_input("tolerance")) else f"they are {away:.2f} m apart"


class TransformAvailable(ActsOn[Any], ProblemCondition):
    """Succeeds as soon as it is known where `child` is in `parent`, and ever after."""

    restorable = ("_found",)

    ports = ports_list(
        InputPort("child", str, description="one frame"),
        InputPort("parent", str, description="the other one"),
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        super().__init__(name, config, robot)
        self._found = False

    def problem(self) -> str:
        """Ask for the transform."""
        child, parent = self.get_input("child"), self.get_input("parent")
        self._found = self._found or self.subject.pose(child, parent) is not None
        return "" if self._found else f"where {child} is in {parent} is not known"


class DistanceTraveled(ActsOn[Any], ProblemCondition):
    """Succeeds whenever the robot has come `distance` from where that happened last; in its first
    tick it fails.
    """

    ports = ports_list(
        InputPort("distance", float, 1.0, "way as the crow flies [m]"), GLOBAL_FRAME, BASE_FRAME
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Take whom to ask."""
        super().__init__(name, config, robot)
        self._from: tuple[float, float] | None = None

    def problem(self) -> str:
        """Look where the robot is."""
        begins = self.status in (NodeStatus.IDLE, NodeStatus.SKIPPED)
        frames = self.get_input("global_frame"), self.get_input("robot_base_frame")
        here = self.subject.position(*frames)
        if begins or self._from is None:
            self._from = here
        if here is None or self._from is None:
            return UNKNOWN
        gone = math.dist(here, self._from)
        if begins or gone < float(self.get_input("distance")):
            return f"the robot has come {gone:.2f} m"
        self._from = here
        return ""


POSITION_NODES: dict[str, type[TreeNode]] = {
    each.__name__: each
    for each in (
        GetCurrentPose,
        RemovePassedGoals,
        TruncatePathLocal,
        GoalReached,
        IsGoalNearby,
        ArePosesNear,
        TransformAvailable,
        DistanceTraveled,
    )
}
