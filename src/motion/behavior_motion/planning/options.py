# SPDX-License-Identifier: Apache-2.0
"""What a request may wish for. Names as in ``moveit_msgs/MotionPlanRequest`` where it has one."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import Vector, as_vector, at_most, positive, scaling_factor
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.limits import LONGEST_PLANNING_TIME, MOST_ATTEMPTS, MOST_SHORTCUTS

LIMIT_MARGIN = 1e-3
"""Distance that solutions of inverse kinematics keep from the joint limits [rad or m]."""


@dataclass(frozen=True)
class OrientationConstraint:
    """Keep an axis of a frame within an angle of a direction: a tool level, a cup upright.

    Turning about the axis stays free.
    """

    tolerance: float
    """Largest angle between axis and direction [rad], above 0 and at most pi."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the constrained frame; made a unit vector."""
    direction: tuple[float, float, float] | None = None
    """Where it has to point, in the base frame; None: where it points at the start."""
    link_name: str | None = None
    """The constrained frame; None: the tool."""

    def __post_init__(self) -> None:
        positive("OrientationConstraint.tolerance", self.tolerance)
        for name in ("axis", "direction"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _unit(f"OrientationConstraint.{name}", value))


def _unit(name: str, value: ArrayLike) -> tuple[float, ...]:
    vector = as_vector(name, value, 3)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise MotionError(
            ErrorCode.INVALID_OPTION, f"{name}: a vector with a direction wanted, got {value!r}"
        )
    return tuple((vector / length).tolist())


@dataclass(frozen=True)
class PlanOptions:
    """Wishes for one plan; every field has a sensible default."""

    max_velocity_scaling_factor: float | None = None
    """Fraction of the velocity limits, (0, 1]; None: the robot's default."""
    max_acceleration_scaling_factor: float | None = None
    """Fraction of the acceleration and jerk limits, (0, 1]; None: the robot's default."""
    allowed_planning_time: float = 10.0
    """Longest search for a path, in processor time of the planning thread [s]: others' load on
    the machine does not count. With MoveIt, which searches in threads of its own, it is the wall's
    time. Goals, timing and final check included, a request ends within
    twice as much. The default by measurement: among beams, of 200 motions 193 take less than 2 s
    and 199 less than 10 s (``benchmarks/motion.py``)."""
    seed: int | None = None
    """Seed of every random choice; None: the planner's own. Equal input gives an equal plan."""
    path_constraints: OrientationConstraint | None = None
    """What holds along the whole path, its start and its goal included; None: nothing."""
    gripper_width: float | None = None
    """Opening of the gripper during the motion, for collisions of the fingers [m]; None: open."""
    smoothing: int = 40
    """Number of shortcuts tried on a found path; 0: none."""
    max_cartesian_speed: float | None = None
    """Largest speed of the tool along a Cartesian path [m/s]; None: joint limits alone."""

    def __post_init__(self) -> None:
        for name in ("max_velocity_scaling_factor", "max_acceleration_scaling_factor"):
            value = getattr(self, name)
            if value is not None:
                scaling_factor(name, value)
        positive("allowed_planning_time", self.allowed_planning_time, at_most=LONGEST_PLANNING_TIME)
        if self.max_cartesian_speed is not None:
            positive("max_cartesian_speed", self.max_cartesian_speed, ErrorCode.INVALID_SPEED)
        if self.gripper_width is not None:
            positive("gripper_width", self.gripper_width, zero=True)
        positive("smoothing", self.smoothing, zero=True, at_most=MOST_SHORTCUTS)
        if self.seed is not None and self.seed < 0:
            raise MotionError(
                ErrorCode.INVALID_OPTION, f"seed: a number not below 0 wanted, got {self.seed!r}"
            )


class IkPreference(enum.Enum):
    """Which of several solutions of inverse kinematics to take."""

    NEAREST = "nearest"
    """The one that takes the least time to reach from the seed, or the posture if there is one."""
    MANIPULABILITY = "manipulability"
    """The one farthest from a singularity."""
    JOINT_LIMITS = "joint_limits"
    """The one farthest from the joint limits."""


@dataclass(frozen=True, eq=False)
class IkOptions:
    """Wishes for inverse kinematics."""

    avoid_collisions: bool = True
    """Take only solutions that are free of collision."""
    attempts: int = 20
    """Number of start vectors per target."""
    gripper_width: float | None = None
    """Opening of the gripper, for collisions of the fingers [m]; None: open."""
    joint_limit_margin: float = LIMIT_MARGIN
    """Distance that solutions keep from the joint limits [rad or m]."""
    posture: Vector | None = field(default=None)
    """Joints that redundant arms come as close to as the target lets them, (dof,); None: none."""
    preference: IkPreference = IkPreference.NEAREST
    """Which of several solutions to take."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise MotionError(
                ErrorCode.INVALID_OPTION, f"attempts: at least 1 wanted, got {self.attempts!r}"
            )
        at_most("attempts", self.attempts, MOST_ATTEMPTS)
        positive("joint_limit_margin", self.joint_limit_margin, zero=True)
        if self.gripper_width is not None:
            positive("gripper_width", self.gripper_width, zero=True)
