# SPDX-License-Identifier: Apache-2.0
"""The embedded planner: pinocchio, coal, OMPL, TOPP-RA and ruckig in one process.

How a plan comes about: inverse kinematics gives joint goals, nearest first; a straight line in
joint space is tried to the nearest ones; else RRT-Connect searches, shortcuts and rounded corners
shorten what it found; the curve is timed; and the timed motion is checked once more, densely and
without padding, before it is handed out. A curve that fails this check is planned anew.

Padding: while searching, pairs with world objects keep a clearance. A pair that is closer than
that at the start or goal keeps what clearance it has there instead, so that the robot can work
close to things.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly

from behavior_motion import paths
from behavior_motion.cartesian import ToolPath
from behavior_motion.checks import Matrix, Vector, as_pose, as_poses, as_vector, known
from behavior_motion.collision import CollisionWorld, Pair
from behavior_motion.kinematics import InverseKinematics
from behavior_motion.planner import (
    CollisionReport,
    DistanceReport,
    IkResult,
    Plan,
    PlanCode,
    PlanOptions,
)
from behavior_motion.robot import RobotModel
from behavior_motion.sampling import SearchLimits, connect
from behavior_motion.scene import PlanningScene
from behavior_motion.timing import JointLimits, TimingError, resting, time_curve, time_straight
from behavior_motion.trajectory import Trajectory

CHECK_STEP = 0.01
"""Distance between joint vectors of the final check [rad]."""
START_TOLERANCE = 0.002
"""Penetration that a start state may have [m]: real contacts leave some."""
LIMIT_TOLERANCE = 0.01
"""How far a start state may lie outside the joint limits [rad]: measured joints do."""
SHORT_GOALS = 8
"""Number of joint goals kept for a pose."""
MOST_SEARCHES = 8
"""How often a search is repeated where the final check refuses what was found."""
SEARCHES_PER_PATH = 4
"""Number of sampled paths of which the shortest is taken ..."""
CHECKS_FOR_CHOICE = 3000
"""... as long as they took fewer state checks than this together."""


class _Failure(Exception):
    """A planning step ends with a code and a sentence."""

    def __init__(self, code: PlanCode, message: str, fraction: float = 0.0) -> None:
        super().__init__(message)
        self.code, self.message, self.fraction = code, message, fraction


@dataclass(frozen=True, eq=False)
class _Goal:
    q: Vector
    index: int
    travel: float


@dataclass(eq=False)
class _Query:
    """One request: what is wanted, what is tolerated, until when."""

    start: Vector
    options: PlanOptions
    world: CollisionWorld
    seed: int
    began: float = field(default_factory=time.monotonic)
    tolerated: dict[Pair, float] = field(default_factory=dict)
    axis_at_start: Vector | None = None

    @property
    def deadline(self) -> float:
        return self.began + self.options.planning_time


class EmbeddedPlanner:
    """:class:`behavior_motion.MotionPlanner` without a ROS distribution."""

    def __init__(
        self,
        robot: RobotModel,
        scene: PlanningScene | None = None,
        *,
        seed: int = 0,
        padding: float = 0.006,
        limit_margin: float = 1e-3,
        max_checks: int = 400_000,
    ) -> None:
        """Set up for one robot.

        Args:
            robot: The robot.
            scene: Its surroundings; by default an empty scene.
            seed: Of all random choices where a request gives none.
            padding: Clearance kept from world objects while searching [m].
            limit_margin: Distance from the joint limits that solutions of inverse kinematics
                keep [rad].
            max_checks: States checked per search before it gives up, whatever the time.
        """
        if not (np.isfinite(padding) and padding >= 0):
            raise ValueError(f"padding: a number not below zero wanted, got {padding!r}")
        self._robot = robot
        self._scene = PlanningScene(robot) if scene is None else scene
        if self._scene.robot is not robot:
            raise ValueError("scene: belongs to another robot model")
        self.seed = seed
        self.padding = padding
        self._limit_margin = limit_margin
        self._max_checks = max_checks
        self._lock = threading.RLock()
        self._world_cache: CollisionWorld | None = None
        self._ik_cache: dict[str, InverseKinematics] = {}
        self._ik(None)

    @property
    def robot(self) -> RobotModel:
        """The robot planned for."""
        return self._robot

    @property
    def scene(self) -> PlanningScene:
        """The scene planned in; change it freely between calls."""
        return self._scene

    # ---------------------------------------------------------------- planning

    def plan_to_joints(
        self, start: ArrayLike, goal: ArrayLike, *, options: PlanOptions | None = None
    ) -> Plan:
        """Collision-free motion between two joint vectors (dof,) [rad].

        Raises:
            ValueError: A vector has the wrong shape or holds NaN.
        """
        q_start = as_vector("start", start, self._robot.dof)
        q_goal = as_vector("goal", goal, self._robot.dof)

        def goals(query: _Query) -> list[_Goal]:
            outside = self._outside_limits(q_goal, 1e-9)
            if outside:
                raise _Failure(PlanCode.INVALID_GOAL, f"the goal is not reachable: {outside[0]}")
            touching = query.world.report(q_goal)
            if not touching.ok:
                raise _Failure(
                    PlanCode.GOAL_IN_COLLISION,
                    f"the goal joints collide: {touching.text}; choose another goal or let the "
                    "pair touch",
                )
            if not self._keeps_axis(query, q_goal):
                raise _Failure(PlanCode.CONSTRAINT, "the goal breaks the orientation constraint")
            return [_Goal(q_goal, 0, 0.0)]

        return self._plan(q_start, options, goals)

    def plan_to_pose(
        self,
        start: ArrayLike,
        goals: ArrayLike | Sequence[Matrix],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
    ) -> Plan:
        """Collision-free motion that brings ``frame`` (the tool) to any one of the poses (4x4).

        Raises:
            ValueError: A joint vector or pose is malformed.
            KeyError: Unknown frame.
        """
        q_start = as_vector("start", start, self._robot.dof)
        poses = as_poses("goals", goals)  # type: ignore[arg-type, unused-ignore]
        ik = self._ik(frame)
        return self._plan(q_start, options, lambda query: self._joint_goals(query, ik, poses))

    def plan_cartesian(
        self,
        start: ArrayLike,
        waypoints: ArrayLike | Sequence[Matrix],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
        min_fraction: float = 1.0,
    ) -> Plan:
        """Straight lines of ``frame`` (the tool) from where it is at ``start`` through the poses.

        Orientation turns evenly along each line; corners between lines are rounded by at most
        2 cm. No padding: such moves go close to things.

        Raises:
            ValueError: A joint vector or pose is malformed.
            KeyError: Unknown frame.
        """
        q_start = as_vector("start", start, self._robot.dof)
        poses = as_poses("waypoints", waypoints)  # type: ignore[arg-type, unused-ignore]
        if not 0 <= min_fraction <= 1:
            raise ValueError(f"min_fraction: a number in [0, 1] wanted, got {min_fraction!r}")
        ik = self._ik(frame)
        first = self._robot.forward_kinematics(q_start, frame)
        with self._lock:
            began = time.monotonic()
            try:
                query = self._query(q_start, options, began)
                plan = self._straight_lines(query, ik, ToolPath([first, *poses]), min_fraction)
            except _Failure as failure:
                return self._failed(failure, began)
        return plan

    def _plan(self, start, options, goals_of) -> Plan:  # type: ignore[no-untyped-def]
        with self._lock:
            began = time.monotonic()
            try:
                query = self._query(start, options, began)
                goals = goals_of(query)
                goal, path, trajectory = self._search(query, goals)
            except _Failure as failure:
                return self._failed(failure, began)
        taken = time.monotonic() - began
        return Plan(
            PlanCode.SUCCESS,
            f"{trajectory.duration:.2f} s of motion planned in {1e3 * taken:.0f} ms",
            path,
            trajectory,
            1.0,
            goal.index,
            taken,
            query.options.gripper_width,
            {pair: -depth for pair, depth in query.tolerated.items()},
        )

    def _failed(self, failure: _Failure, began: float) -> Plan:
        return Plan(
            failure.code,
            failure.message,
            np.zeros((0, self._robot.dof)),
            fraction=failure.fraction,
            planning_time=time.monotonic() - began,
        )

    def _query(self, start: Vector, options: PlanOptions | None, began: float) -> _Query:
        options = options or PlanOptions()
        world = self._world(options.gripper_width)
        outside = self._outside_limits(start, LIMIT_TOLERANCE)
        if outside:
            raise _Failure(
                PlanCode.INVALID_START,
                f"the start is outside the limits: {outside[0]}; jog the joint back",
            )
        seed = self.seed if options.seed is None else options.seed
        query = _Query(start, options, world, seed, began)
        touching = world.close_pairs(start)
        deep = tuple((a, b, -d) for (a, b), d in touching.items() if -d > START_TOLERANCE)
        if deep:
            report = CollisionReport(tuple(sorted(deep, key=lambda p: -p[2])))
            raise _Failure(
                PlanCode.START_IN_COLLISION,
                f"the start collides: {report.text}; move the robot or the object, or let the "
                "pair touch",
            )
        # No deeper than at the start, give or take a tenth of a millimetre.
        query.tolerated = {pair: d - 1e-4 for pair, d in touching.items()}
        world.set_margins(0.0, query.tolerated)
        if options.max_orientation_deviation is not None:
            query.axis_at_start = self._tool_axis(start, options)
        return query

    def _joint_goals(
        self, query: _Query, ik: InverseKinematics, poses: list[Matrix]
    ) -> list[_Goal]:
        rng = np.random.default_rng([query.seed, 1])
        report = CollisionReport()
        reached = False
        for tries in (max(6, 24 // len(poses)), 64):
            goals: list[_Goal] = []
            for candidate in self._reaching(ik, poses, query.start, tries, rng):
                reached = True
                if query.world.collides(candidate.q):
                    report = report if not report.ok else query.world.report(candidate.q)
                    continue
                if self._keeps_axis(query, candidate.q):
                    goals.append(candidate)
                if len(goals) >= SHORT_GOALS:
                    break
            if goals:
                return goals
        if not reached:
            raise _Failure(PlanCode.NO_IK, _out_of_reach(poses, self._robot.base_frame))
        if report.ok:
            raise _Failure(PlanCode.CONSTRAINT, "every goal breaks the orientation constraint")
        raise _Failure(
            PlanCode.GOAL_IN_COLLISION,
            f"every way to reach the goal collides, the nearest: {report.text}; choose another "
            "pose or let the pair touch",
        )

    def _reaching(
        self,
        ik: InverseKinematics,
        poses: list[Matrix],
        seed: Vector,
        tries: int,
        rng: np.random.Generator,
    ) -> list[_Goal]:
        """Distinct joints that reach any of the poses, nearest to ``seed`` first."""
        seeds = np.stack([ik.seeds(seed, tries, rng) for _ in poses])
        joints, done = ik.solve(np.stack(poses), seeds)
        found = [
            _Goal(joints[i, k], int(i), float(ik.travel(joints[i, k], seed)))
            for i, k in np.argwhere(done)
        ]
        found.sort(key=lambda g: (round(g.travel, 4), g.index))
        distinct: list[_Goal] = []
        for goal in found:
            if all(np.abs(goal.q - other.q).max() > 0.02 for other in distinct[-8:]):
                distinct.append(goal)
        return distinct

    # ---------------------------------------------------------------- searching

    def _search(self, query: _Query, goals: list[_Goal]) -> tuple[_Goal, Matrix, Trajectory]:
        """Path and trajectory to one of ``goals`` (nearest first)."""
        # A straight line to a farther goal beats a detour to a near one only up to a point.
        near = [g for g in goals if g.travel <= max(2.0 * goals[0].travel, goals[0].travel + 0.7)]
        clearance = self._clearance(query, [])
        for goal in near:
            self._set_clearance(query, self._clearance(query, [goal], clearance))
            if self._straight_is_free(query, query.start, goal.q, CHECK_STEP):
                path = np.stack([query.start, goal.q])
                trajectory = self._timed(query, path)
                if trajectory is not None:
                    return goal, path, trajectory
        # The near goals first, with what is farther as a way out in half of the time.
        groups = [goals] if len(near) == len(goals) else [near, goals]
        rng = np.random.default_rng([query.seed, 2])
        found = 0
        for attempt in range(MOST_SEARCHES):
            group = groups[attempt % len(groups)]
            self._set_clearance(query, self._clearance(query, group, clearance))
            left = query.deadline - time.monotonic()
            share = 0.5 if group is not goals else 1.0
            sampled = self._sampled(query, group, rng, time.monotonic() + share * left)
            if sampled is not None:
                found += 1
                path = self._shortened(query, sampled, rng, query.options.smoothing)
                trajectory = self._timed(query, path)
                if trajectory is not None:
                    last = path[-1]
                    end = min(group, key=lambda g: float(np.abs(g.q - last).max()))
                    return end, path, trajectory
            if time.monotonic() > query.deadline:
                raise _Failure(
                    PlanCode.TIMEOUT,
                    f"no path within {query.options.planning_time:g} s ({attempt + 1} searches); "
                    "the goal may be walled in: allow more time, another goal, or move what is in "
                    "the way",
                )
        raise _Failure(
            PlanCode.NO_PATH,
            f"{MOST_SEARCHES} searches found {found} paths, none of which kept clear when checked "
            "densely; try another goal, or move what is in the way",
        )

    def _sampled(
        self, query: _Query, goals: list[_Goal], rng: np.random.Generator, deadline: float
    ) -> Matrix | None:
        """Corners of the shortest of a few sampled paths, its worst detours cut; None: no path."""
        best: Matrix | None = None
        began = query.world.checks
        blocked: Callable[[Vector], bool] = query.world.collides
        if query.axis_at_start is not None:
            blocked = lambda q: not self._is_valid(query, q)  # noqa: E731
        for _ in range(SEARCHES_PER_PATH):
            path = connect(
                query.start,
                [g.q for g in goals],
                lower=np.minimum(self._robot.lower, query.start),
                upper=np.maximum(self._robot.upper, query.start),
                blocked=blocked,
                limits=SearchLimits(
                    deadline,
                    self._max_checks,
                    # Long extensions mostly leave a constrained region.
                    step=0.5 if query.axis_at_start is not None else 0.0,
                ),
                seed=int(rng.integers(1, 2**31 - 2)),
            )
            if path is None:
                return best
            path = self._shortened(query, path, rng, 0)
            if best is None or paths.lengths(path).sum() < paths.lengths(best).sum():
                best = path
            if query.world.checks - began > CHECKS_FOR_CHOICE:
                break
        return best

    def _shortened(
        self, query: _Query, path: Matrix, rng: np.random.Generator, tries: int
    ) -> Matrix:
        return paths.shortcut(
            paths.without_repeats(path),
            lambda a, b: self._straight_is_free(query, a, b, 3 * CHECK_STEP),
            rng,
            tries,
        )

    def _clearance(
        self, query: _Query, goals: Sequence[_Goal], base: Mapping[Pair, float] | None = None
    ) -> dict[Pair, float]:
        """Margins of the pairs that are within the padding at the start (or ``base``) or a goal."""
        margins = dict(base) if base is not None else dict(query.tolerated)
        query.world.set_margins(self.padding)
        for q in [g.q for g in goals] + ([] if base is not None else [query.start]):
            for pair, distance in query.world.close_pairs(q).items():
                margins[pair] = min(distance - 1e-4, margins.get(pair, np.inf))
        return margins

    def _set_clearance(self, query: _Query, margins: Mapping[Pair, float]) -> None:
        query.world.set_margins(self.padding, margins)

    def _straight_is_free(self, query: _Query, a: Vector, b: Vector, step: float) -> bool:
        points = paths.densify(np.stack([a, b]), step)
        # Coarse first: most lines that are blocked are blocked broadly.
        for stride, offset in ((8, 4), (4, 2), (2, 1), (1, 0)):
            chosen = points[offset::stride] if stride > 1 else points[0::2]
            for q in chosen:
                if not self._is_valid(query, q):
                    return False
        return True

    # ---------------------------------------------------------------- timing

    def _timed(self, query: _Query, path: Matrix) -> Trajectory | None:
        """The polyline as a motion that passed the final check, or None."""
        limits = self._limits(query)
        path = paths.without_repeats(path)
        if len(path) == 1:
            return resting(limits.joint_names, path[-1])
        try:
            if len(path) == 2:
                trajectory = time_straight(path[0], path[1], limits)
            else:
                trajectory = time_curve(self._rounded(query, path), limits)
        except TimingError as error:
            raise _Failure(PlanCode.TIMING_FAILED, f"the path cannot be timed: {error}") from error
        return trajectory if self._is_free(query, trajectory) else None

    def _rounded(self, query: _Query, path: Matrix) -> PPoly:
        """The polyline with its corners rounded as far as that stays free."""
        radii = paths.corner_radii(path, 1.0)
        for _ in range(5):
            curve = paths.rounded(path, radii)
            blocked = self._blocked_corners(query, curve, path, radii)
            if not blocked.any():
                break
            radii[blocked] *= 0.5
        return curve

    def _blocked_corners(
        self, query: _Query, curve: PPoly, path: Matrix, radii: Vector
    ) -> np.ndarray:
        sizes = paths.lengths(path)
        cuts = np.concatenate([[0.0], radii, [0.0]])
        blocked = np.zeros(len(radii), dtype=bool)
        u = 0.0
        for i in range(len(radii)):
            u += sizes[i] - cuts[i] - cuts[i + 1]
            arc = np.linspace(u, u + 2 * radii[i], max(3, int(2 * radii[i] / (2 * CHECK_STEP))))
            u += 2 * radii[i]
            blocked[i] = not all(self._is_valid(query, q) for q in curve(arc))
        return blocked

    def _limits(self, query: _Query) -> JointLimits:
        options = query.options
        return JointLimits.of(self._robot, options.velocity_scaling, options.acceleration_scaling)

    def _is_free(self, query: _Query, trajectory: Trajectory) -> bool:
        """The final check: dense, without padding, of the timed motion itself."""
        query.world.set_margins(0.0, query.tolerated)
        points = paths.densify(trajectory.positions, CHECK_STEP)
        slack = 1e-6
        lower = np.minimum(self._robot.lower, query.start) - slack
        upper = np.maximum(self._robot.upper, query.start) + slack
        if np.any(points < lower) or np.any(points > upper):
            return False
        angle_slack = 2e-3  # between the points of the search's coarser checks
        if not all(self._keeps_axis(query, q, angle_slack) for q in points):
            return False
        return query.world.first_collision(points) is None

    # ---------------------------------------------------------------- straight lines of the tool

    def _straight_lines(
        self, query: _Query, ik: InverseKinematics, tool: ToolPath, min_fraction: float
    ) -> Plan:
        marks, targets, distance = tool.samples()
        if len(marks) == 1:
            return self._cartesian_plan(query, query.start[None], 1.0, None, None)
        joints, reached = ik.follow(targets[1:], query.start, jump=0.35)
        joints = np.vstack([query.start, joints[:reached]])
        if reached < len(marks) - 1:
            at = targets[min(reached + 1, len(targets) - 1)][:3, 3]
            code, cause = (
                PlanCode.LIMITS,
                (
                    f"the arm cannot follow the line near ({at[0]:.3f}, {at[1]:.3f}, {at[2]:.3f}): "
                    + self._why_not_further(joints[-1])
                ),
            )
        else:
            code, cause = PlanCode.SUCCESS, ""
        blocked = self._first_blocked(query, joints)
        if blocked is not None:
            point, hit = blocked
            code, cause = PlanCode.NO_PATH, f"the line is blocked: {hit}"
            joints = joints[:point]
        fraction = float(marks[len(joints) - 1] / marks[-1]) if len(joints) else 0.0
        if code is not PlanCode.SUCCESS and (fraction < min_fraction or len(joints) < 3):
            raise _Failure(
                code,
                f"{cause}; {100 * fraction:.0f} % of the way is feasible, "
                f"{100 * min_fraction:.0f} % wanted",
                fraction,
            )
        return self._cartesian_plan(
            query, joints, fraction, marks[: len(joints)], distance[: len(joints)]
        )

    def _first_blocked(self, query: _Query, joints: Matrix) -> tuple[int, str] | None:
        """Index of the first point not reached freely from the one before, and what is hit."""
        for i in range(1, len(joints)):
            for q in paths.densify(joints[i - 1 : i + 1], CHECK_STEP)[1:]:
                if query.world.collides(q):
                    return i, query.world.report(q).text
                if not self._keeps_axis(query, q):
                    return i, "the orientation constraint"
        return None

    def _why_not_further(self, q: Vector) -> str:
        robot = self._robot
        margin = np.minimum(q - robot.lower, robot.upper - q)
        i = int(np.argmin(margin))
        if margin[i] < 0.05:
            return f"{robot.joint_names[i]} is at its limit ({q[i]:.3f} rad)"
        return "it is stretched out or would have to jump to another posture"

    def _cartesian_plan(
        self,
        query: _Query,
        joints: Matrix,
        fraction: float,
        marks: Vector | None,
        distance: Vector | None,
    ) -> Plan:
        limits = self._limits(query)
        if marks is None or distance is None:
            trajectory = resting(limits.joint_names, joints[-1])
        else:
            try:
                trajectory = self._time_lines(query, joints, limits, marks, distance)
            except TimingError as error:
                raise _Failure(
                    PlanCode.TIMING_FAILED, f"the path cannot be timed: {error}", fraction
                ) from error
            if not self._is_free(query, trajectory):
                raise _Failure(
                    PlanCode.NO_PATH, "the timed motion leaves the checked line", fraction
                )
        taken = time.monotonic() - query.began
        return Plan(
            PlanCode.SUCCESS,
            f"{100 * fraction:.0f} % of the line, {trajectory.duration:.2f} s of motion",
            joints,
            trajectory,
            fraction,
            0,
            taken,
            query.options.gripper_width,
            {pair: -depth for pair, depth in query.tolerated.items()},
        )

    def _time_lines(
        self,
        query: _Query,
        joints: Matrix,
        limits: JointLimits,
        marks: Vector,
        distance: Vector,
    ) -> Trajectory:
        speed = query.options.max_tool_speed
        return time_curve(
            paths.spline(marks, joints),
            limits,
            max_speed=None if speed is None else (paths.spline(marks, distance[:, None]), speed),
        )

    # ---------------------------------------------------------------- inverse kinematics

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
        """Joints that bring ``frame`` (the tool) to ``target`` (4x4) within 1e-6 m and rad.

        Of the solutions found from ``attempts`` start vectors, the one nearest to ``seed`` (by
        default the middle of the joint ranges) that is free of collision.

        Raises:
            ValueError: Malformed pose or vector, attempts below 1.
            KeyError: Unknown frame.
        """
        return self.inverse_kinematics_batch(
            as_pose("target", target)[None],
            seed=seed,
            frame=frame,
            avoid_collisions=avoid_collisions,
            attempts=attempts,
            gripper_width=gripper_width,
        )[0]

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
        """:meth:`inverse_kinematics` for (N, 4, 4) targets, each independent of the others."""
        poses = as_poses("targets", targets) if np.size(targets) else []
        if attempts < 1:
            raise ValueError(f"attempts: at least 1 wanted, got {attempts}")
        middle = 0.5 * (self._robot.lower + self._robot.upper)
        near = middle if seed is None else as_vector("seed", seed, self._robot.dof)
        ik = self._ik(frame)
        with self._lock:
            world = self._world(gripper_width) if avoid_collisions else None
            return [self._solve_one(ik, pose, near, attempts, world) for pose in poses]

    def _solve_one(
        self,
        ik: InverseKinematics,
        pose: Matrix,
        seed: Vector,
        attempts: int,
        world: CollisionWorld | None,
    ) -> IkResult:
        rng = np.random.default_rng([self.seed, 3])
        report = CollisionReport()
        reached = False
        # A few start vectors nearly always do; the rest is for the awkward targets.
        for tries in (min(attempts, 6), attempts - 6):
            if tries < 1:
                break
            for candidate in self._reaching(ik, [pose], seed, tries, rng):
                reached = True
                if world is None or not world.collides(candidate.q):
                    return IkResult(candidate.q, margin=ik.limit_margin(candidate.q))
                if report.ok:
                    report = world.report(candidate.q)
        if not reached:
            return IkResult(None, _out_of_reach([pose], self._robot.base_frame), PlanCode.NO_IK)
        return IkResult(None, f"every solution collides: {report.text}", PlanCode.GOAL_IN_COLLISION)

    # ---------------------------------------------------------------- checks

    def check_state(self, q: ArrayLike, *, gripper_width: float | None = None) -> CollisionReport:
        """What touches at joints ``q`` (dof,) without padding, and which joints exceed limits."""
        joints = as_vector("q", q, self._robot.dof)
        with self._lock:
            pairs = self._world(gripper_width).report(joints).pairs
        return CollisionReport(pairs, tuple(self._outside_limits(joints, 1e-6)))

    def check_path(self, qs: ArrayLike, *, gripper_width: float | None = None) -> int | None:
        """Index of the first invalid of (N, dof) joint vectors; None where all are valid."""
        points = np.asarray(qs, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self._robot.dof:
            raise ValueError(f"qs: shape (N, {self._robot.dof}) wanted, got {points.shape}")
        if not np.all(np.isfinite(points)):
            raise ValueError("qs: contains NaN or infinity")
        with self._lock:
            world = self._world(gripper_width)
            for i, q in enumerate(points):
                if self._outside_limits(q, 1e-6) or world.collides(q):
                    return i
        return None

    def distance(self, q: ArrayLike, *, gripper_width: float | None = None) -> DistanceReport:
        """Smallest distance [m] between any two parties that must not touch, and which."""
        joints = as_vector("q", q, self._robot.dof)
        with self._lock:
            return self._world(gripper_width).distance(joints)

    def is_plan_valid(self, plan: Plan, from_time: float = 0.0) -> bool:
        """True where the rest of a plan from ``from_time`` [s] is free in the scene as it is now.

        Contacts that the plan tolerated at its start stay tolerated.
        """
        if plan.trajectory is None:
            return False
        rest = plan.trajectory.from_time(from_time)
        with self._lock:
            world = self._world(plan.gripper_width)
            world.set_margins(0.0, {pair: -depth for pair, depth in plan.tolerated.items()})
            return world.first_collision(paths.densify(rest.positions, CHECK_STEP)) is None

    # ---------------------------------------------------------------- helpers

    def _world(self, gripper_width: float | None) -> CollisionWorld:
        """The collision world of the scene as it is now, with margins of zero."""
        snapshot = self._scene.snapshot()
        world = self._world_cache
        if world is None or world.scene.structure != snapshot.structure:
            world = self._world_cache = CollisionWorld(self._robot, snapshot)
        elif world.scene.revision != snapshot.revision:
            world.move_objects(snapshot)
        world.set_gripper_width(gripper_width)
        world.set_margins(0.0)
        return world

    def _ik(self, frame: str | None) -> InverseKinematics:
        name = frame or self._robot.tool_frame
        if name not in self._ik_cache:
            known("frame", name, self._robot.frame_names)
            self._ik_cache[name] = InverseKinematics(self._robot, name, self._limit_margin)
        return self._ik_cache[name]

    def _outside_limits(self, q: Vector, tolerance: float) -> list[str]:
        robot = self._robot
        bad = np.flatnonzero((q < robot.lower - tolerance) | (q > robot.upper + tolerance))
        return [
            f"{robot.joint_names[i]} at {q[i]:.4f} is outside "
            f"[{robot.lower[i]:.4f}, {robot.upper[i]:.4f}]"
            for i in bad
        ]

    def _tool_axis(self, q: Vector, options: PlanOptions) -> Vector:
        axis = np.asarray(options.constraint_axis, dtype=np.float64)
        rotation = self._robot.forward_kinematics(q)[:3, :3]
        turned: Vector = rotation @ (axis / np.linalg.norm(axis))
        return turned

    def _is_valid(self, query: _Query, q: Vector) -> bool:
        return not query.world.collides(q) and self._keeps_axis(query, q)

    def _keeps_axis(self, query: _Query, q: Vector, slack: float = 0.0) -> bool:
        limit = query.options.max_orientation_deviation
        if query.axis_at_start is None or limit is None:
            return True
        cosine = float(self._tool_axis(q, query.options) @ query.axis_at_start)
        return cosine >= math.cos(min(limit + slack, math.pi))


def _out_of_reach(poses: list[Matrix], base: str) -> str:
    nearest = min(poses, key=lambda p: float(np.linalg.norm(p[:3, 3])))
    x, y, z = nearest[:3, 3]
    which = "the pose" if len(poses) == 1 else f"any of the {len(poses)} poses, the nearest"
    return (
        f"no joints within the limits reach {which} at ({x:.3f}, {y:.3f}, {z:.3f}), "
        f"{np.linalg.norm(nearest[:3, 3]):.2f} m from {base}; bring it closer or turn it"
    )
