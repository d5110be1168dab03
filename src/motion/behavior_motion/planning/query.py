# SPDX-License-Identifier: Apache-2.0
"""One planning request: its start, its wishes, its time, and what counts as valid while it lasts.

Padding: while searching, pairs with world objects keep a clearance. A pair that is closer than
that at the start or a goal keeps what clearance it has there instead, so that the robot can work
close to things. The final check is exact; only what already touched lightly at the start may
touch as deep as it did.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.reports import CollisionReport
from behavior_motion.collision.world import CollisionWorld, Pair
from behavior_motion.errors import ErrorCode
from behavior_motion.interruption import Deadline
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.constraints import AxisCone
from behavior_motion.planning.options import PlanOptions
from behavior_motion.planning.planner import Plan
from behavior_motion.robot.model import RobotModel
from behavior_motion.trajectories import paths
from behavior_motion.trajectories.timing import JointLimits
from behavior_motion.trajectories.trajectory import Trajectory

CHECK_STEP = 0.01
"""Distance between joint vectors of the final check [rad]."""
START_TOLERANCE = 0.002
"""Penetration that a start state may have [m]: real contacts leave some."""
LIMIT_TOLERANCE = 0.01
"""How far a start state may lie outside the joint limits [rad]: measured joints do."""
DEPTH_SLACK = 1e-4
"""How much deeper than at the start, or closer than at a goal, a pair may come [m]."""
ANGLE_SLACK = 2e-3
"""By how much the final check lets the orientation constraint be exceeded [rad]: the search
checks it at coarser steps."""


@dataclass(frozen=True, eq=False)
class JointGoal:
    """Joints that reach a goal."""

    q: Vector
    index: int
    """Which of the wanted poses it reaches."""
    travel: float
    """Cost of going there from the start, about the time it takes [s]."""


class PlanningFailed(Exception):
    """A planning step ends with a code and a sentence."""

    def __init__(self, code: ErrorCode, message: str, fraction: float = 0.0) -> None:
        """See :class:`Plan` for the fields."""
        super().__init__(message)
        self.code, self.message, self.fraction = code, message, fraction

    def plan(self, dof: int, planning_time: float) -> Plan:
        """The failure as an answer."""
        return Plan(
            self.code,
            self.message,
            np.zeros((0, dof)),
            fraction=self.fraction,
            planning_time=planning_time,
        )


class RouteFinder(Protocol):
    """Free polylines from joints to one of several joint goals, one after another."""

    def __call__(
        self, query: Query, start: Vector, goals: list[JointGoal], stream: int = 2
    ) -> Iterator[tuple[JointGoal, Matrix]]:
        """See :func:`behavior_motion.planning.routes.routes`."""


class Query:
    """A request in progress."""

    def __init__(
        self,
        robot: RobotModel,
        world: CollisionWorld,
        start: Vector,
        options: PlanOptions,
        *,
        seed: int,
        padding: float,
        constrained: InverseKinematics | None = None,
        route_finder: RouteFinder,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """Check the start; ``world`` belongs to this query until it is answered.

        Args:
            robot: The robot.
            world: Its collision world.
            start: Joints that the motion starts from.
            options: Wishes.
            seed: Of all random choices.
            padding: Clearance kept while searching [m].
            constrained: Kinematics of the frame that ``options.path_constraints`` speaks of.
            route_finder: Searches free polylines.
            clock: That planning times count on [s].

        Raises:
            PlanningFailed: The start is outside the limits, in collision, or breaks the constraint.
        """
        self.deadline = Deadline(options.allowed_planning_time, clock)
        self.robot, self.world, self.start, self.options = robot, world, start, options
        self.seed, self.padding = seed, padding
        self.find_routes = route_finder
        self.lower = np.minimum(robot.lower, start)
        self.upper = np.maximum(robot.upper, start)
        self.limits = JointLimits.of(
            robot, options.max_velocity_scaling_factor, options.max_acceleration_scaling_factor
        )
        outside = limit_faults(robot, start, LIMIT_TOLERANCE)
        if outside:
            raise PlanningFailed(
                ErrorCode.START_STATE_INVALID,
                f"the start is outside the limits: {outside[0]}; jog the joint back",
            )
        self.cone = self._cone(constrained)
        self.tolerated = self._contacts_at_start()
        self.be_exact()

    def _cone(self, ik: InverseKinematics | None) -> AxisCone | None:
        constraint = self.options.path_constraints
        if constraint is None or ik is None:
            return None
        cone = AxisCone(ik, constraint, self.start)
        if not cone.holds(self.start, ANGLE_SLACK):
            raise PlanningFailed(
                ErrorCode.START_STATE_VIOLATES_PATH_CONSTRAINTS,
                f"at the start {ik.frame!r} is {cone.angle(self.start):.3f} rad off the wanted "
                f"direction, {constraint.tolerance:g} rad allowed; level it first, or allow more",
            )
        return cone

    def _contacts_at_start(self) -> dict[Pair, float]:
        """Margins of the pairs that touch lightly at the start."""
        touching = self.world.close_pairs(self.start)
        deep = [(a, b, -d) for (a, b), d in touching.items() if -d > START_TOLERANCE]
        if deep:
            report = CollisionReport(tuple(sorted(deep, key=lambda p: -p[2])))
            raise PlanningFailed(
                ErrorCode.START_STATE_IN_COLLISION,
                f"the start collides: {report.text}; move the robot or the object, or let the "
                "pair touch",
            )
        return {pair: d - DEPTH_SLACK for pair, d in touching.items()}

    # ---------------------------------------------------------------- margins

    def be_exact(self) -> None:
        """From now on collisions count without padding."""
        self.world.set_margins(0.0, self.tolerated)

    def keep_clearance(self, margins: Mapping[Pair, float]) -> None:
        """From now on collisions count with padding, pairs in ``margins`` with theirs."""
        self.world.set_margins(self.padding, margins)

    def clearance(
        self, states: Iterable[Vector], base: Mapping[Pair, float] | None = None
    ) -> dict[Pair, float]:
        """Margins of the pairs that are within the padding at one of the states, and ``base``'s."""
        margins = dict(self.tolerated if base is None else base)
        self.world.set_margins(self.padding)
        for q in states:
            for pair, distance in self.world.close_pairs(q).items():
                margins[pair] = min(distance - DEPTH_SLACK, margins.get(pair, math.inf))
        return margins

    # ---------------------------------------------------------------- validity

    def blocked(self, q: Vector) -> bool:
        """True where joints ``q`` collide (as margins are set) or break the constraint."""
        return self.world.collides(q) or not self.keeps_axis(q)

    def keeps_axis(self, q: Vector, slack: float = 0.0) -> bool:
        """True where the path constraint holds, if there is one."""
        return self.cone is None or self.cone.holds(q, slack)

    def straight_is_free(self, a: Vector, b: Vector, step: float) -> bool:
        """True where no point of a straight line in joint space is blocked, ``step`` apart."""
        points = paths.densify(np.stack([a, b]), step)
        # Coarse first: most lines that are blocked are blocked broadly.
        for start, stride in ((4, 8), (2, 4), (1, 2), (0, 2)):
            if any(self.blocked(q) for q in points[start::stride]):
                return False
        return True

    def is_free(self, trajectory: Trajectory) -> bool:
        """The final check: dense and exact, of the timed motion itself."""
        self.be_exact()
        points, _, _ = trajectory.sample_many(trajectory.dense_times(CHECK_STEP))
        # Finer for the joint limits: a curve may bulge beyond them between two points.
        fine, _, _ = trajectory.sample_many(trajectory.fine_times(8))
        if np.any(fine < self.lower - 1e-7) or np.any(fine > self.upper + 1e-7):
            return False
        if self.cone is not None and not all(self.keeps_axis(q, ANGLE_SLACK) for q in points):
            return False
        return self.world.first_collision(points) is None

    # ---------------------------------------------------------------- answer

    def answer(
        self,
        path: Matrix,
        trajectory: Trajectory,
        *,
        fraction: float = 1.0,
        goal_index: int = 0,
        waypoint_times: tuple[float, ...] = (),
    ) -> Plan:
        """The plan that was found."""
        taken = self.deadline.spent
        return Plan(
            ErrorCode.SUCCESS,
            f"{trajectory.duration:.2f} s of motion planned in {1e3 * taken:.0f} ms",
            path,
            trajectory,
            fraction,
            goal_index,
            taken,
            self.options.gripper_width,
            {pair: -margin for pair, margin in self.tolerated.items()},
            waypoint_times,
        )

    def settled_options(self) -> PlanOptions:
        """The wishes with the direction of the path constraint written out."""
        if self.cone is None:
            return self.options
        return replace(self.options, path_constraints=self.cone.constraint)


def limit_faults(robot: RobotModel, q: Vector, tolerance: float) -> list[str]:
    """Joints outside their limits by more than ``tolerance``, in words."""
    bad = np.flatnonzero((q < robot.lower - tolerance) | (q > robot.upper + tolerance))
    return [
        f"{robot.joint_names[i]} at {q[i]:.4f} is outside "
        f"[{robot.lower[i]:.4f}, {robot.upper[i]:.4f}]"
        for i in bad
    ]
