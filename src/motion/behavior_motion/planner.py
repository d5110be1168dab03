# SPDX-License-Identifier: Apache-2.0
"""The one interface to motion planning, whatever stands behind it.

Wrong arguments (shape, NaN, unknown names) raise ``ValueError`` or ``KeyError``; everything that
the world can do to a plan comes back as a :class:`PlanCode` with a sentence.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, Vector
from behavior_motion.robot import RobotModel
from behavior_motion.scene import PlanningScene
from behavior_motion.trajectory import Trajectory


class PlanCode(enum.IntEnum):
    """Outcome of a planning request."""

    SUCCESS = 0
    INVALID_START = 1
    """Start joints outside the limits."""
    INVALID_GOAL = 2
    """Goal joints outside the limits."""
    START_IN_COLLISION = 3
    GOAL_IN_COLLISION = 4
    """Every joint solution of every goal collides."""
    NO_IK = 5
    """No joints within the limits reach any goal."""
    TIMEOUT = 6
    """Planning time used up before a path was found."""
    NO_PATH = 7
    """Search ended without a path, or a straight line is blocked."""
    TIMING_FAILED = 8
    """No timing of the path within the limits."""
    LIMITS = 9
    """A straight line runs into a joint limit or a jump between arm postures."""
    CONSTRAINT = 10
    """Start or goal breaks the path constraint."""


@dataclass(frozen=True)
class PlanOptions:
    """Wishes for one plan; every field has a sensible default."""

    velocity_scaling: float | None = None
    """Fraction of the velocity limits, (0, 1]; None: the robot's default."""
    acceleration_scaling: float | None = None
    """Fraction of the acceleration and jerk limits, (0, 1]; None: the robot's default."""
    planning_time: float = 2.0
    """Longest planning time [s]."""
    seed: int | None = None
    """Seed of every random choice; None: the planner's own. Equal input gives an equal plan."""
    max_orientation_deviation: float | None = None
    """Largest angle between ``constraint_axis`` of the tool along the path and the same axis at
    the start [rad]; None: free."""
    constraint_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis of the tool frame that ``max_orientation_deviation`` speaks of."""
    gripper_width: float | None = None
    """Opening of the gripper during the motion, for collisions of the fingers [m]; None: open."""
    smoothing: int = 40
    """Number of shortcuts tried on a found path; 0: none."""
    max_tool_speed: float | None = None
    """Largest speed of the tool along a Cartesian path [m/s]; None: joint limits alone."""

    def __post_init__(self) -> None:
        for name in ("velocity_scaling", "acceleration_scaling"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                raise ValueError(f"{name}: a number in (0, 1] wanted, got {value!r}")
        if not (np.isfinite(self.planning_time) and self.planning_time > 0):
            raise ValueError(f"planning_time: seconds above 0 wanted, got {self.planning_time!r}")
        for name in ("max_orientation_deviation", "max_tool_speed"):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name}: a number above 0 wanted, got {value!r}")
        if self.gripper_width is not None and not np.isfinite(self.gripper_width):
            raise ValueError(f"gripper_width: a finite number wanted, got {self.gripper_width!r}")
        if self.smoothing < 0:
            raise ValueError(f"smoothing: a number not below 0 wanted, got {self.smoothing!r}")
        axis = np.asarray(self.constraint_axis, dtype=np.float64)
        if axis.shape != (3,) or not np.linalg.norm(axis) > 1e-9:
            raise ValueError(f"constraint_axis: a 3-vector wanted, got {self.constraint_axis!r}")


@dataclass(frozen=True, eq=False)
class Plan:
    """Answer to a planning request."""

    code: PlanCode
    message: str
    """What happened, in words; on failure the cause and what to try."""
    path: Matrix = field(repr=False)
    """Joint path without timing, (N, dof); empty on failure."""
    trajectory: Trajectory | None = field(default=None, repr=False)
    """The timed motion; None on failure."""
    fraction: float = 0.0
    """Part of the wanted Cartesian path that is covered, 0 to 1; 1 for other plans."""
    goal_index: int = -1
    """Which of the goals was reached; -1 on failure."""
    planning_time: float = 0.0
    """Wall time spent [s]."""
    gripper_width: float | None = None
    """Opening of the gripper the plan was checked with [m]."""
    tolerated: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Pairs in light contact at the start, with the depth they were let keep [m]."""

    @property
    def ok(self) -> bool:
        """True where there is a trajectory to the goal."""
        return self.code is PlanCode.SUCCESS


@dataclass(frozen=True, eq=False)
class IkResult:
    """Answer to an inverse kinematics request."""

    q: Vector | None
    """Joints that reach the target; None on failure."""
    reason: str = ""
    """Why there are none, and what to try."""
    code: PlanCode = PlanCode.SUCCESS
    """SUCCESS, NO_IK or GOAL_IN_COLLISION."""
    margin: float = 0.0
    """Distance to the nearest joint limit, as a fraction of half that joint's range, 0 to 1."""

    @property
    def ok(self) -> bool:
        """True where joints were found."""
        return self.q is not None


@dataclass(frozen=True)
class CollisionReport:
    """What touches what."""

    pairs: tuple[tuple[str, str, float], ...] = ()
    """Names of link or object, and penetration depth [m], deepest first."""
    limits: tuple[str, ...] = ()
    """Joints outside their limits, in words."""

    @property
    def ok(self) -> bool:
        """True where nothing touches and all joints are within their limits."""
        return not self.pairs and not self.limits

    @property
    def text(self) -> str:
        """The report as a sentence."""
        if self.ok:
            return "free of collision"
        touching = [f"{a!r} and {b!r} overlap by {1e3 * d:.1f} mm" for a, b, d in self.pairs[:3]]
        if len(self.pairs) > 3:
            touching.append(f"{len(self.pairs) - 3} more pairs collide")
        return "; ".join((*self.limits, *touching))


@dataclass(frozen=True)
class DistanceReport:
    """The closest pair."""

    distance: float
    """Distance [m]; negative: penetration; infinity where nothing can collide."""
    pair: tuple[str, str] | None
    """Names of link or object."""


@runtime_checkable
class MotionPlanner(Protocol):
    """Planning, inverse kinematics and collision checks for one robot in one scene.

    Poses are 4x4 matrices in the robot's base frame, joint vectors follow
    ``robot.joint_names``. Calls from several threads are served one after another.
    """

    @property
    def robot(self) -> RobotModel:
        """The robot planned for."""

    @property
    def scene(self) -> PlanningScene:
        """The scene planned in; change it freely between calls."""

    def plan_to_joints(
        self, start: ArrayLike, goal: ArrayLike, *, options: PlanOptions | None = None
    ) -> Plan:
        """Collision-free motion between two joint vectors."""

    def plan_to_pose(
        self,
        start: ArrayLike,
        goals: ArrayLike | Sequence[Matrix],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
    ) -> Plan:
        """Collision-free motion that brings ``frame`` (the tool) to any one of the poses."""

    def plan_cartesian(
        self,
        start: ArrayLike,
        waypoints: ArrayLike | Sequence[Matrix],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
        min_fraction: float = 1.0,
    ) -> Plan:
        """Straight lines of ``frame`` (the tool) from the start through the poses.

        Succeeds where at least ``min_fraction`` of the length is feasible; the plan then ends
        there and ``Plan.fraction`` says how far that is.
        """

    def inverse_kinematics(
        self,
        target: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        avoid_collisions: bool = True,
        attempts: int = 20,
        gripper_width: float | None = None,
    ) -> IkResult:
        """Joints that bring ``frame`` to ``target``, nearest to ``seed`` of those found."""

    def inverse_kinematics_batch(
        self,
        targets: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        avoid_collisions: bool = True,
        attempts: int = 20,
        gripper_width: float | None = None,
    ) -> list[IkResult]:
        """:meth:`inverse_kinematics` for (N, 4, 4) targets."""

    def check_state(self, q: ArrayLike, *, gripper_width: float | None = None) -> CollisionReport:
        """What touches at joints ``q``, without padding."""

    def check_path(self, qs: ArrayLike, *, gripper_width: float | None = None) -> int | None:
        """Index of the first invalid of (N, dof) joint vectors; None where all are valid."""

    def distance(self, q: ArrayLike, *, gripper_width: float | None = None) -> DistanceReport:
        """Smallest distance between any two parties that must not touch."""

    def is_plan_valid(self, plan: Plan, from_time: float = 0.0) -> bool:
        """True where the rest of a plan is free of collision in the scene as it is now."""
