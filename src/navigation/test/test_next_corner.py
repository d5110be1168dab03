# SPDX-License-Identifier: Apache-2.0
"""Goals for Nav2's planner: routes are driven, not what is shorter."""

import numpy as np
import pytest
from behavior_msgs.msg import Maneuver
from geometry_msgs.msg import PoseStamped

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.managers.action_messages import path_message, stamped_pose
from behavior_navigation.nav2.next_corner import next_corner


def goal_at(points: list, place: float) -> tuple[float, float]:
    stamp = PoseStamped().header.stamp
    told = Maneuver(
        path=path_message(np.array(points, dtype=float), 0.0, "map", stamp),
        goal=stamped_pose("map", Pose2D(*map(float, points[-1])), stamp),
        s_start=2.0,
        s_robot=2.0 + place,
    )
    position = next_corner(told).pose.position
    return position.x, position.y


@pytest.mark.parametrize(
    ("points", "place", "goal"),
    [
        ([(0, 0), (5, 0)], 1.0, (5, 0)),
        ([(0, 0), (2, 0.1), (5, 0)], 0.0, (5, 0)),  # all but straight
        ([(0, 0), (3, 0), (0, 0)], 0.0, (3, 0)),
        ([(0, 0), (3, 0), (0, 0)], 2.6, (0, 0)),  # at the fold
        ([(0, 0), (3, 0), (0, 0)], 4.0, (0, 0)),
        ([(0, 0), (2.5, 0), (2.5, 2), (0, 2), (0, 0)], 0.5, (2.5, 0)),
        ([(0, 0), (2.5, 0), (2.5, 2), (0, 2), (0, 0)], 2.1, (2.5, 2)),
        ([(0, 0), (2.5, 0), (2.5, 2), (0, 2), (0, 0)], 8.0, (0, 0)),
        ([(3, 1)], 0.0, (3, 1)),
        ([(3, 1), (3, 1)], 0.0, (3, 1)),
    ],
)
def test_the_goal_is_the_next_corner(points: list, place: float, goal: tuple) -> None:
    assert goal_at(points, place) == pytest.approx(goal)
