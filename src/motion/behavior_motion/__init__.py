# SPDX-License-Identifier: Apache-2.0
"""Motion planning, kinematics and collision checks behind one interface, without ROS.

``load_robot`` reads a robot file; ``create_planner`` gives a :class:`MotionPlanner` for it, whose
``scene`` holds the surroundings. Poses are 4x4 matrices in the robot's base frame; lengths in
metres, angles in radians.

Names are imported when they are first used: who wants shapes does not load the planners.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from behavior_motion.checks import pose_matrix
    from behavior_motion.collision.reports import CollisionReport, DistanceReport
    from behavior_motion.collision.scene import AttachedObject, PlanningScene
    from behavior_motion.collision.shapes import (
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
    from behavior_motion.collision.world import CollisionWorld
    from behavior_motion.errors import ErrorCode, MotionError, UnknownNameError
    from behavior_motion.interruption import check_interrupted, interruptible
    from behavior_motion.planning.embedded import EmbeddedPlanner
    from behavior_motion.planning.finger_preview import FingerPreview, preview_fingers
    from behavior_motion.planning.options import (
        IkOptions,
        IkPreference,
        OrientationConstraint,
        PlanOptions,
    )
    from behavior_motion.planning.planner import (
        IkResult,
        MotionPlanner,
        Plan,
        PlanRequest,
        RequestKind,
    )
    from behavior_motion.planning.planners import create_planner, planner_names
    from behavior_motion.planning.pose_preview import PosePreview, preview_pose
    from behavior_motion.robot.model import GripperConfig, RobotModel, load_robot
    from behavior_motion.servo.commands import ApproachParams, MotionCommand
    from behavior_motion.servo.controller import Servo, ServoOptions, ServoStatus, ServoStep
    from behavior_motion.trajectories.timing import (
        JointLimits,
        stop_trajectory,
        time_straight,
    )
    from behavior_motion.trajectories.trajectory import Trajectory

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
    "FingerPreview",
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
    "PosePreview",
    "RequestKind",
    "RobotModel",
    "Servo",
    "ServoOptions",
    "ServoStatus",
    "ServoStep",
    "Shape",
    "Sphere",
    "TargetSmoother",
    "Trajectory",
    "UnknownNameError",
    "check_interrupted",
    "create_planner",
    "interruptible",
    "load_robot",
    "planner_names",
    "pose_matrix",
    "preview_fingers",
    "preview_pose",
    "stop_trajectory",
    "time_straight",
]

_HOMES = {
    "checks": ("pose_matrix",),
    "collision.reports": ("CollisionReport", "DistanceReport"),
    "collision.scene": ("AttachedObject", "PlanningScene"),
    "collision.shapes": (
        "Box",
        "Capsule",
        "Cylinder",
        "HalfSpace",
        "HeightField",
        "Mesh",
        "Plane",
        "PointCloud",
        "Shape",
        "Sphere",
    ),
    "collision.world": ("CollisionWorld",),
    "errors": ("ErrorCode", "MotionError", "UnknownNameError"),
    "interruption": ("check_interrupted", "interruptible"),
    "planning.embedded": ("EmbeddedPlanner",),
    "planning.finger_preview": ("FingerPreview", "preview_fingers"),
    "planning.options": ("IkOptions", "IkPreference", "OrientationConstraint", "PlanOptions"),
    "planning.planner": ("IkResult", "MotionPlanner", "Plan", "PlanRequest", "RequestKind"),
    "planning.planners": ("create_planner", "planner_names"),
    "planning.pose_preview": ("PosePreview", "preview_pose"),
    "robot.model": ("GripperConfig", "RobotModel", "load_robot"),
    "servo.commands": ("ApproachParams", "MotionCommand"),
    "servo.controller": ("Servo", "ServoOptions", "ServoStatus", "ServoStep"),
    "servo.smoothing": ("TargetSmoother",),
    "trajectories.timing": (
        "JointLimits",
        "stop_trajectory",
        "time_straight",
    ),
    "trajectories.trajectory": ("Trajectory",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name of the package on its first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the package."""
    return sorted({*globals(), *__all__})
