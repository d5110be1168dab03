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
from collections.abc import Iterable, Mapping

import numpy as np

from behavior_motion import paths
from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision import CollisionWorld, Pair
from behavior_motion.planner import CollisionReport, Plan, PlanCode, PlanOptions
from behavior_motion.robot import RobotModel
from behavior_motion.timing import JointLimits
from behavior_motion.trajectory import Trajectory

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


class Failure(Exception):
    """A planning step ends with a code and a sentence."""

    def __init__(self, code: PlanCode, message: str, fraction: float = 0.0) -> None:
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
    ) -> None:
        """Check the start; ``world`` belongs to this query until it is answered.

        Raises:
            Failure: The start is outside the limits or in collision.
        """
        self.began = time.monotonic()
        self.robot, self.world, self.start, self.options = robot, world, start, options
        self.seed, self.padding = seed, padding
        self.deadline = self.began + options.planning_time
        self.lower = np.minimum(robot.lower, start)
        self.upper = np.maximum(robot.upper, start)
        self.limits = JointLimits.of(robot, options.velocity_scaling, options.acceleration_scaling)
        outside = limit_faults(robot, start, LIMIT_TOLERANCE)
        if outside:
            raise Failure(
                PlanCode.INVALID_START,
                f"the start is outside the limits: {outside[0]}; jog the joint back",
            )
        self.tolerated = self._contacts_at_start()
        self.be_exact()
        constrained = options.max_orientation_deviation is not None
        self._axis_at_start = self._tool_axis(start) if constrained else None

    def _contacts_at_start(self) -> dict[Pair, float]:
        """Margins of the pairs that touch lightly at the start."""
        touching = self.world.close_pairs(self.start)
        deep = [(a, b, -d) for (a, b), d in touching.items() if -d > START_TOLERANCE]
        if deep:
            report = CollisionReport(tuple(sorted(deep, key=lambda p: -p[2])))
            raise Failure(
                PlanCode.START_IN_COLLISION,
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

    @property
    def constrained(self) -> bool:
        """True where the tool's orientation is constrained."""
        return self._axis_at_start is not None

    def blocked(self, q: Vector) -> bool:
        """True where joints ``q`` collide (as margins are set) or break the constraint."""
        return self.world.collides(q) or not self.keeps_axis(q)

    def keeps_axis(self, q: Vector, slack: float = 0.0) -> bool:
        """True where the tool's axis is within the constraint, if there is one."""
        limit = self.options.max_orientation_deviation
        if self._axis_at_start is None or limit is None:
            return True
        cosine = float(self._tool_axis(q) @ self._axis_at_start)
        return cosine >= math.cos(min(limit + slack, math.pi))

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
        points = paths.densify(trajectory.positions, CHECK_STEP)
        if np.any(points < self.lower - 1e-6) or np.any(points > self.upper + 1e-6):
            return False
        if self.constrained and not all(self.keeps_axis(q, ANGLE_SLACK) for q in points):
            return False
        return self.world.first_collision(points) is None

    def _tool_axis(self, q: Vector) -> Vector:
        axis = np.asarray(self.options.constraint_axis, dtype=np.float64)
        rotation = self.robot.forward_kinematics(q)[:3, :3]
        turned: Vector = rotation @ (axis / np.linalg.norm(axis))
        return turned

    # ---------------------------------------------------------------- answer

    def answer(
        self, path: Matrix, trajectory: Trajectory, *, fraction: float = 1.0, goal_index: int = 0
    ) -> Plan:
        """The plan that was found."""
        taken = time.monotonic() - self.began
        return Plan(
            PlanCode.SUCCESS,
            f"{trajectory.duration:.2f} s of motion planned in {1e3 * taken:.0f} ms",
            path,
            trajectory,
            fraction,
            goal_index,
            taken,
            self.options.gripper_width,
            {pair: -margin for pair, margin in self.tolerated.items()},
        )


def limit_faults(robot: RobotModel, q: Vector, tolerance: float) -> list[str]:
    """Joints outside their limits by more than ``tolerance``, in words."""
    bad = np.flatnonzero((q < robot.lower - tolerance) | (q > robot.upper + tolerance))
    return [
        f"{robot.joint_names[i]} at {q[i]:.4f} is outside "
        f"[{robot.lower[i]:.4f}, {robot.upper[i]:.4f}]"
        for i in bad
    ]
