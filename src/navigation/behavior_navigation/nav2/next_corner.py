# SPDX-License-Identifier: Apache-2.0
"""How far along a maneuver one goal of Nav2's planner may lead.

Nav2's planner looks for the shortest way to its goal. So that the route is driven, and not what is
shorter, the goal is the next corner of the route: what folds, loops or turns comes in its order.
"""

from __future__ import annotations

import numpy as np
from behavior_msgs.msg import Maneuver
from geometry_msgs.msg import PoseStamped

from behavior_navigation.rules.polyline import Points

STRAIGHT = 0.3
"""[m] that a way may deviate from the straight one to its end."""
REACHED = 0.5
"""[m] before a corner, from where on the next one is the goal: Nav2 stops before its goals."""


def next_corner(maneuver: Maneuver) -> PoseStamped:
    """The goal for Nav2's planner: the next corner ahead of the robot, or the maneuver's goal."""
    poses = maneuver.path.poses
    points = np.array([[p.pose.position.x, p.pose.position.y] for p in poses]).reshape(-1, 2)
    if len(points) < 2:
        return maneuver.goal
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    place = min(max(0.0, maneuver.s_robot - maneuver.s_start), float(arc[-1]))
    first = int(np.searchsorted(arc, place, side="right"))
    robot = [np.interp(place, arc, points[:, axis]) for axis in (0, 1)]
    ahead = np.vstack([robot, points[first:]])
    corner = 0
    while corner < len(ahead) - 1:
        corner = _straight_from(ahead, corner)
        if arc[min(first + corner - 1, len(arc) - 1)] - place > REACHED:
            break
    at_end = corner == len(ahead) - 1
    return maneuver.goal if at_end else poses[first + corner - 1]


def _straight_from(points: Points, begin: int) -> int:
    """Index of the farthest point up to which a polyline (n, 2) is straight."""
    for end in range(begin + 2, len(points)):
        way = points[end] - points[begin]
        between = points[begin + 1 : end] - points[begin]
        share = np.clip(between @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
        if np.hypot(*(between - share[:, None] * way).T).max() > STRAIGHT:
            return end - 1
    return len(points) - 1
