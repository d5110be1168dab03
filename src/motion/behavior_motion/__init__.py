# SPDX-License-Identifier: Apache-2.0
"""Motion planning, kinematics and collision checks behind one interface, without ROS.

``load_robot`` reads a robot file; ``create_planner`` gives a :class:`MotionPlanner` for it, whose
``scene`` holds the surroundings. Poses are 4x4 matrices in the robot's base frame; lengths in
metres, angles in radians.
"""

from behavior_motion.collision import CollisionWorld
from behavior_motion.embedded import EmbeddedPlanner
from behavior_motion.factory import create_planner
from behavior_motion.planner import (
    CollisionReport,
    DistanceReport,
    IkResult,
    MotionPlanner,
    Plan,
    PlanCode,
    PlanOptions,
)
from behavior_motion.robot import GripperConfig, RobotModel, load_robot
from behavior_motion.scene import AttachedObject, PlanningScene
from behavior_motion.shapes import Box, Capsule, Cylinder, HalfSpace, Mesh, Plane, Shape, Sphere
from behavior_motion.timing import JointLimits, point_to_point, stop_trajectory, time_straight
from behavior_motion.trajectory import Trajectory

__all__ = [
    "AttachedObject",
    "Box",
    "Capsule",
    "CollisionReport",
    "CollisionWorld",
    "Cylinder",
    "DistanceReport",
    "EmbeddedPlanner",
    "GripperConfig",
    "HalfSpace",
    "IkResult",
    "JointLimits",
    "Mesh",
    "MotionPlanner",
    "Plan",
    "PlanCode",
    "PlanOptions",
    "Plane",
    "PlanningScene",
    "RobotModel",
    "Shape",
    "Sphere",
    "Trajectory",
    "create_planner",
    "load_robot",
    "point_to_point",
    "stop_trajectory",
    "time_straight",
]
