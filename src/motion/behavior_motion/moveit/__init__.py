# SPDX-License-Identifier: Apache-2.0
"""The MoveIt backend (``moveit_py`` of ROS 2 Jazzy), for full ROS 2 distributions.

MoveIt finds the routes: its Pilz pipeline the direct ones (PTP), its OMPL pipeline those around
obstacles, in a planning scene that mirrors ours. Everything around that is shared with the
embedded backend, so that both answer alike: inverse kinematics and goals, the timing within jerk
limits, the dense final check, straight lines of the tool, questions about collisions.

``messages`` is the one file that knows ROS messages.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from behavior_motion.collision.scene import PlanningScene
from behavior_motion.robot.model import RobotModel

if TYPE_CHECKING:
    from behavior_motion.moveit.planner import MoveItPlanner


def moveit_available() -> bool:
    """True where ``moveit_py`` can be imported."""
    return importlib.util.find_spec("moveit") is not None


def create_moveit_planner(
    robot: RobotModel, scene: PlanningScene | None = None, *, seed: int = 0
) -> MoveItPlanner:
    """The MoveIt planner for a robot whose file has a section ``moveit``.

    Raises:
        RuntimeError: MoveIt is not installed, or the robot's file says nothing about it.
    """
    if not moveit_available():
        raise RuntimeError(
            "backend 'moveit': the Python package 'moveit' is not importable; install "
            "ros-jazzy-moveit-py on a full ROS 2 distribution, or use backend 'embedded'"
        )
    if robot.config.moveit is None:
        raise RuntimeError(
            f"backend 'moveit': the file of robot {robot.name!r} has no section 'moveit' (group, "
            "robot_name, config_package); add one, or use backend 'embedded'"
        )
    from behavior_motion.moveit.planner import MoveItPlanner

    return MoveItPlanner(robot, scene, seed=seed)
