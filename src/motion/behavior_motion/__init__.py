# SPDX-License-Identifier: Apache-2.0
"""Motion planning, kinematics and collision checks behind one interface, without ROS.

``load_robot`` reads a robot file; ``create_planner`` gives a :class:`MotionPlanner` for it, whose
``scene`` holds the surroundings. Poses are 4x4 matrices in the robot's base frame; lengths in
metres, angles in radians.
"""

from behavior_motion.checks import pose_matrix
from behavior_motion.collision import CollisionWorld
from behavior_motion.commands import ApproachParams, MotionCommand
from behavior_motion.embedded import EmbeddedPlanner
from behavior_motion.errors import ErrorCode, MotionError, UnknownNameError
from behavior_motion.factory import create_planner
from behavior_motion.options import IkOptions, IkPreference, OrientationConstraint, PlanOptions
from behavior_motion.planner import (
    CollisionReport,
    DistanceReport,
    IkResult,
    MotionPlanner,
    Plan,
    PlanRequest,
    RequestKind,
)
from behavior_motion.robot import GripperConfig, RobotModel, load_robot
from behavior_motion.scene import AttachedObject, PlanningScene
from behavior_motion.servo import Servo, ServoOptions, ServoStatus, ServoStep
from behavior_motion.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    Plane,
    PointCloud,
    Shape,
    Sphere,
)
from behavior_motion.timing import JointLimits, point_to_point, stop_trajectory, time_straight
from behavior_motion.trajectory import Trajectory

__all__ = [
    "ApproachParams",
    "AttachedObject",
    "Box",
    "Capsule",
    "CollisionReport",
    "CollisionWorld",
    "Cylinder",
    "DistanceReport",
    "EmbeddedPlanner",
    "ErrorCode",
    "GripperConfig",
    "HalfSpace",
    "HeightField",
    "IkOptions",
    "IkPreference",
    "IkResult",
    "JointLimits",
    "Mesh",
    "MotionCommand",
    "MotionError",
    "MotionPlanner",
    "OrientationConstraint",
    "Plan",
    "PlanOptions",
    "PlanRequest",
    "Plane",
    "PlanningScene",
    "PointCloud",
    "RequestKind",
    "RobotModel",
    "Servo",
    "ServoOptions",
    "ServoStatus",
    "ServoStep",
    "Shape",
    "Sphere",
    "Trajectory",
    "UnknownNameError",
    "create_planner",
    "load_robot",
    "point_to_point",
    "pose_matrix",
    "stop_trajectory",
    "time_straight",
]
