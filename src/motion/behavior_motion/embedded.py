# SPDX-License-Identifier: Apache-2.0
"""The embedded planner: pinocchio, coal, OMPL, TOPP-RA and ruckig in one process.

This file is the interface; the work is done in ``goals`` (inverse kinematics), ``search`` (free
motion), ``lines`` (Cartesian motion) and ``collision``, all on one ``query`` at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion import lines, paths
from behavior_motion.cartesian import ToolPath
from behavior_motion.checks import Matrix, Vector, as_pose, as_poses, as_vector, known
from behavior_motion.collision import CollisionWorld
from behavior_motion.goals import given_goal, goals_of_poses, out_of_reach, reaching
from behavior_motion.kinematics import InverseKinematics
from behavior_motion.planner import (
    CollisionReport,
    DistanceReport,
    IkResult,
    Plan,
    PlanCode,
    PlanOptions,
)
from behavior_motion.query import CHECK_STEP, Failure, Query, limit_faults
from behavior_motion.robot import RobotModel
from behavior_motion.scene import PlanningScene
from behavior_motion.search import search


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
    ) -> None:
        """Set up for one robot.

        Args:
            robot: The robot.
            scene: Its surroundings; by default an empty scene.
            seed: Of all random choices where a request gives none.
            padding: Clearance kept from world objects while searching [m].
            limit_margin: Distance from the joint limits that solutions of inverse kinematics
                keep [rad].
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

        def plan(query: Query) -> Plan:
            _, path, trajectory = search(query, given_goal(query, q_goal))
            return query.answer(path, trajectory)

        return self._answer(q_start, options, plan)

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

        def plan(query: Query) -> Plan:
            goal, path, trajectory = search(query, goals_of_poses(query, ik, poses))
            return query.answer(path, trajectory, goal_index=goal.index)

        return self._answer(q_start, options, plan)

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
        tool = ToolPath([self._robot.forward_kinematics(q_start, frame), *poses])
        return self._answer(
            q_start, options, lambda query: lines.follow(query, ik, tool, min_fraction)
        )

    def _answer(
        self, start: Vector, options: PlanOptions | None, plan: Callable[[Query], Plan]
    ) -> Plan:
        """Run one request; failures become plans with a code."""
        options = options or PlanOptions()
        with self._lock:
            began = time.monotonic()
            try:
                query = Query(
                    self._robot,
                    self._world(options.gripper_width),
                    start,
                    options,
                    seed=self.seed if options.seed is None else options.seed,
                    padding=self.padding,
                )
                return plan(query)
            except Failure as failure:
                return failure.plan(self._robot.dof, time.monotonic() - began)

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
            for candidate in reaching(ik, [pose], seed, tries, rng):
                reached = True
                if world is None or not world.collides(candidate.q):
                    return IkResult(candidate.q, margin=ik.limit_margin(candidate.q))
                if report.ok:
                    report = world.report(candidate.q)
        if not reached:
            return IkResult(None, out_of_reach([pose], self._robot.base_frame), PlanCode.NO_IK)
        return IkResult(None, f"every solution collides: {report.text}", PlanCode.GOAL_IN_COLLISION)

    # ---------------------------------------------------------------- checks

    def check_state(self, q: ArrayLike, *, gripper_width: float | None = None) -> CollisionReport:
        """What touches at joints ``q`` (dof,) without padding, and which joints exceed limits."""
        joints = as_vector("q", q, self._robot.dof)
        with self._lock:
            pairs = self._world(gripper_width).report(joints).pairs
        return CollisionReport(pairs, tuple(limit_faults(self._robot, joints, 1e-6)))

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
                if limit_faults(self._robot, q, 1e-6) or world.collides(q):
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
