# SPDX-License-Identifier: Apache-2.0
"""Nav2's nodes that work on paths and lists of goals, and need to know nothing else.

Goals are a ``nav_msgs/Goals`` (Kilted and later) or a list of poses (Jazzy); what comes out is of
the kind that came in.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped, Quaternion
from nav_msgs.msg import Path

from behavior_navigation.rules.nodes import ProblemAction
from behavior_tree import InputPort, OutputPort, SyncActionNode, ports_list


def goals_of(given: Any) -> list[Any]:
    """The poses of some goals."""
    return list(getattr(given, "goals", given) or ())


def goals_like(given: Any, poses: Sequence[Any]) -> Any:
    """Goals of the kind of others, with the same header."""
    if not hasattr(given, "goals"):
        return list(poses)
    made = type(given)(header=given.header)
    made.goals = list(poses)
    return made


def distance(one: Any, other: Any) -> float:
    """How far apart two poses are on the ground [m]."""
    return math.hypot(
        one.position.x - other.position.x,
        one.position.y - other.position.y,
    )


def end_of_stretch(poses: Sequence[Any], start: int, stop: int, length: float) -> int:
    """Index behind the last pose that a way of some length along a path reaches.

    Args:
        poses: of the path, stamped.
        start: index of the pose where the way begins.
        stop: index behind the last pose that counts.
        length: of the way [m].
    """
    gone = 0.0
    for index in range(start, stop - 1):
        gone += distance(poses[index].pose, poses[index + 1].pose)
        if gone > length:
            return index + 1
    return stop


class GetPoseFromPath(ProblemAction):
    """Writes one pose of a path."""

    ports = ports_list(
        InputPort("path", Any, description="path"),
        InputPort("index", int, 0, "which pose, from 0; -1: the last one"),
        OutputPort("pose", PoseStamped, description="that pose"),
    )

    def act(self) -> str:
        """Look it up."""
        path, index = self.get_input("path"), self.get_input("index")
        count = len(path.poses)
        if not -count <= index < count:
            return f"the path has {count} poses, and none of index {index}"
        pose = copy.deepcopy(path.poses[index])
        pose.header.frame_id = pose.header.frame_id or path.header.frame_id
        self.set_output("pose", pose)
        return ""


class ConcatenatePaths(ProblemAction):
    """Writes a path that goes along two others, one after the other."""

    ports = ports_list(
        InputPort("input_path1", Any, None, "first path"),
        InputPort("input_path2", Any, None, "second path"),
        OutputPort("output_path", Path, description="both"),
    )

    def act(self) -> str:
        """Join them."""
        given = [self.get_input(f"input_path{number}", None) or Path() for number in (1, 2)]
        poses = [pose for path in given for pose in path.poses]
        if not poses:
            return "both paths are empty"
        header = next(
            (path.header for path in given if path.header != Path().header), Path().header
        )
        self.set_output("output_path", Path(header=header, poses=poses))
        return ""


class TruncatePath(ProblemAction):
    """Writes a path without its end: it ends at least `distance` before the goal, turned to it."""

    ports = ports_list(
        InputPort("input_path", Any, description="path"),
        InputPort("distance", float, 1.0, "as the crow flies, to the last pose [m]"),
        OutputPort("output_path", Path, description="its beginning"),
    )

    def act(self) -> str:
        """Cut it; two poses are left at least."""
        path = self.get_input("input_path")
        poses, wanted = list(path.poses), float(self.get_input("distance"))
        if poses:
            goal = poses[-1].pose
            while len(poses) > 2 and distance(poses[-1].pose, goal) < wanted:
                poses.pop()
            poses[-1] = copy.deepcopy(poses[-1])
            last = poses[-1].pose
            yaw = math.atan2(goal.position.y - last.position.y, goal.position.x - last.position.x)
            last.orientation = Quaternion(z=math.sin(yaw / 2.0), w=math.cos(yaw / 2.0))
        self.set_output("output_path", Path(header=path.header, poses=poses))
        return ""


class AppendGoalPoseToGoals(ProblemAction):
    """Writes some goals and one more."""

    ports = ports_list(
        InputPort("goal_pose", PoseStamped, description="the one more"),
        InputPort("input_goals", Any, None, "the others"),
        OutputPort("output_goals", Any, description="all"),
    )

    def act(self) -> str:
        """Append it."""
        given = self.get_input("input_goals", None)
        poses = [*goals_of(given), self.get_input("goal_pose")]
        self.set_output("output_goals", goals_like(given, poses))
        return ""


class GetNextFewGoals(ProblemAction):
    """Writes the first `num_goals` of some goals."""

    ports = ports_list(
        InputPort("input_goals", Any, description="goals"),
        InputPort("num_goals", int, description="how many of them"),
        OutputPort("output_goals", Any, description="these"),
    )

    def act(self) -> str:
        """Take them."""
        given, count = self.get_input("input_goals"), self.get_input("num_goals")
        if not goals_of(given):
            return "there are no goals"
        self.set_output("output_goals", goals_like(given, goals_of(given)[: max(count, 0)]))
        return ""


class ExtractRouteNodesAsGoals(ProblemAction):
    """Writes the nodes of a route as goals, with no turn of their own."""

    ports = ports_list(
        InputPort("route", Any, description="nav2_msgs/Route"),
        OutputPort("goals", Any, description="nav_msgs/Goals, or on Jazzy poses"),
    )

    def act(self) -> str:
        """Make them."""
        route = self.get_input("route")
        if not route.nodes:
            return "the route has no nodes"
        poses = []
        for node in route.nodes:
            pose = PoseStamped(header=route.header)
            pose.pose.position.x, pose.pose.position.y = node.position.x, node.position.y
            poses.append(pose)
        self.set_output("goals", goals_like(_new_goals(route.header), poses))
        return ""


def _new_goals(header: Any) -> Any:
    """Goals as this distribution has them: a message with a header, or a list."""
    import nav_msgs.msg

    kind = getattr(nav_msgs.msg, "Goals", None)
    return [] if kind is None else kind(header=header)


PATH_NODES: dict[str, type[SyncActionNode]] = {
    each.__name__: each
    for each in (
        GetPoseFromPath,
        ConcatenatePaths,
        TruncatePath,
        AppendGoalPoseToGoals,
        GetNextFewGoals,
        ExtractRouteNodesAsGoals,
    )
}
