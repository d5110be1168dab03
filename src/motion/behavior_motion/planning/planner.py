# SPDX-License-Identifier: Apache-2.0
"""The one interface to motion planning, whatever stands behind it.

Wrong arguments (shape, NaN, unknown names) raise :class:`~behavior_motion.errors.MotionError`,
which carries an :class:`~behavior_motion.errors.ErrorCode`; everything that the world can do to a
plan comes back as a code with a sentence.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.reports import CollisionReport, DistanceReport
from behavior_motion.collision.scene import PlanningScene
from behavior_motion.errors import ErrorCode
from behavior_motion.planning.options import IkOptions, PlanOptions
from behavior_motion.robot.model import RobotModel
from behavior_motion.trajectories.trajectory import Trajectory


class RequestKind(enum.Enum):
    """The calls that plan."""

    JOINTS = "plan_to_joints"
    POSE = "plan_to_pose"
    WAYPOINTS = "plan_waypoints"
    CARTESIAN = "plan_cartesian"


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """What a plan was made for: enough to make it again from elsewhere."""

    kind: RequestKind
    """Which call it came from."""
    targets: tuple[Matrix, ...]
    """Joint vectors (dof,) and poses (4, 4); alternatives for POSE, an order for the others."""
    frame: str
    """Frame that the poses are for."""
    options: PlanOptions
    """Wishes that it came with."""
    min_fraction: float = 1.0
    """Of a Cartesian path: how much of it is enough."""

    def aimed_at(self, targets: tuple[Matrix, ...]) -> PlanRequest:
        """The same request for other targets."""
        return replace(self, targets=targets)


@dataclass(frozen=True, eq=False)
class Plan:
    """Answer to a planning request."""

    code: ErrorCode
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
    """Processor time spent by the planning thread [s]."""
    gripper_width: float | None = None
    """Opening of the gripper the plan was checked with [m]."""
    tolerated: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Pairs in light contact at the start, with the depth they were let keep [m]."""
    waypoint_times: tuple[float, ...] = ()
    """When each target of an order is passed [s]; empty for other plans."""
    request: PlanRequest | None = field(default=None, repr=False)
    """What it was made for; None on failure."""

    @property
    def ok(self) -> bool:
        """True where there is a trajectory to the goal."""
        return self.code is ErrorCode.SUCCESS


@dataclass(frozen=True, eq=False)
class IkResult:
    """Answer to an inverse kinematics request."""

    q: Vector | None
    """Joints that reach the target; None on failure."""
    message: str = ""
    """Why there are none, and what to try."""
    code: ErrorCode = ErrorCode.SUCCESS
    """SUCCESS, NO_IK_SOLUTION or GOAL_IN_COLLISION."""
    joint_limit_margin: float = 0.0
    """Distance to the nearest joint limit, as a fraction of half that joint's range, 0 to 1."""
    manipulability: float = 0.0
    """Yoshikawa's measure ``sqrt(det(J J^T))`` of the frame's Jacobian [m and rad]; 0: singular."""

    @property
    def ok(self) -> bool:
        """True where joints were found."""
        return self.q is not None


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

    def plan_waypoints(
        self,
        start: ArrayLike,
        waypoints: Sequence[ArrayLike],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
    ) -> Plan:
        """Collision-free motion through every waypoint in turn, without stopping at any.

        Waypoints are joint vectors (dof,) and poses (4, 4) of ``frame`` in any mixture.
        ``Plan.waypoint_times`` says when each is passed.
        """

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

    def replan(self, plan: Plan, from_time: float) -> Plan:
        """The motion to a plan's goal in the scene as it is now, for a robot ``from_time`` into it.

        The rest of the plan where that is still free. Else a motion that begins in the state that
        the plan has at ``from_time``, brakes along its path before the obstacle, and goes on to
        the goal another way.
        """

    def inverse_kinematics(
        self,
        target: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        options: IkOptions | None = None,
    ) -> IkResult:
        """Joints that bring ``frame`` to ``target``, nearest to ``seed`` of those found."""

    def inverse_kinematics_batch(
        self,
        targets: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        options: IkOptions | None = None,
    ) -> list[IkResult]:
        """:meth:`inverse_kinematics` for (N, 4, 4) targets; ``seed`` (dof,) or one each."""

    def check_state(self, q: ArrayLike, *, gripper_width: float | None = None) -> CollisionReport:
        """What touches at joints ``q``, without padding."""

    def check_path(self, qs: ArrayLike, *, gripper_width: float | None = None) -> int | None:
        """Index of the first invalid of (N, dof) joint vectors; None where all are valid."""

    def distance(self, q: ArrayLike, *, gripper_width: float | None = None) -> DistanceReport:
        """Smallest distance between any two parties that must not touch."""

    def is_plan_valid(self, plan: Plan, from_time: float = 0.0) -> bool:
        """True where the rest of a plan is free of collision in the scene as it is now."""
        return self.first_invalid_time(plan, from_time) is None

    def first_invalid_time(self, plan: Plan, from_time: float = 0.0) -> float | None:
        """When, after ``from_time``, a plan collides in the scene as it is now [s]; None: never."""
