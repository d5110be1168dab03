# SPDX-License-Identifier: Apache-2.0
"""The embedded planner: pinocchio, coal, OMPL, TOPP-RA and ruckig in one process.

This file is the interface; the work is done in ``solutions`` (inverse kinematics), ``search`` (free
motion), ``waypoints``, ``lines`` (Cartesian motion), ``replanning`` and ``collision``, all on one
``query`` at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import (
    Matrix,
    Vector,
    as_joints,
    as_pose,
    as_poses,
    at_most,
    positive,
)
from behavior_motion.collision.reports import CollisionReport, DistanceReport
from behavior_motion.collision.scene import PlanningScene
from behavior_motion.collision.world import CollisionWorld
from behavior_motion.errors import ErrorCode, MotionError, known
from behavior_motion.interruption import Deadline, check_interrupted, ended_by
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.limits import MOST_TARGETS, MOST_WAYPOINTS
from behavior_motion.planning.goals import given_goal, goals_of_poses
from behavior_motion.planning.lines import follow_lines
from behavior_motion.planning.options import LIMIT_MARGIN, IkOptions, PlanOptions
from behavior_motion.planning.planner import IkResult, Plan, PlanRequest, RequestKind
from behavior_motion.planning.previewed import (
    MotionSource,
    PlannedMotion,
    planned_motion,
)
from behavior_motion.planning.query import (
    CHECK_STEP,
    PlanningFailed,
    Query,
    RouteFinder,
    limit_faults,
)
from behavior_motion.planning.replanning import braked, joined, rest_of
from behavior_motion.planning.routes import routes
from behavior_motion.planning.search import search
from behavior_motion.planning.solutions import IkTask
from behavior_motion.planning.waypoints import follow_waypoints
from behavior_motion.robot.model import RobotModel
from behavior_motion.trajectories.cartesian import ToolPath
from behavior_motion.trajectories.timing import JointLimits

HARD_LIMIT = 2.0
"""Times its allowed planning time a request may take, all of its work included."""


class EmbeddedPlanner:
    """:class:`behavior_motion.MotionPlanner` without a ROS distribution."""

    def __init__(
        self,
        robot: RobotModel,
        scene: PlanningScene | None = None,
        *,
        seed: int = 0,
        padding: float = 0.006,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """Set up for one robot.

        Args:
            robot: The robot.
            scene: Its surroundings; by default an empty scene.
            seed: Of all random choices where a request gives none.
            padding: Clearance kept from world objects while searching [m].
            clock: That planning times count on [s]; by default the processor time of the thread
                that plans, so that a busy machine plans as well as a quiet one.
        """
        self._robot = robot
        self._scene = PlanningScene(robot) if scene is None else scene
        if self._scene.robot is not robot:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                "scene: belongs to another robot model; make it with PlanningScene(robot)",
            )
        self.seed = seed
        self.padding = positive("padding", padding, zero=True)
        self.clock = clock
        self.route_finder: RouteFinder = routes
        """Searches the way between two joint vectors; another backend may put its own here."""
        self.previewed: MotionSource | None = None
        """Motions to be done again instead of planning, where nothing has changed."""
        self.on_planned: Callable[[PlannedMotion], None] | None = None
        """Given every motion that is planned, in the thread that plans."""
        self._lock = threading.RLock()
        self._world_cache: CollisionWorld | None = None
        self._ik_cache: dict[tuple[str, float], InverseKinematics] = {}
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
            MotionError: INVALID_JOINT_COUNT or NOT_FINITE.
        """
        target = as_joints("goal", goal, self._robot.joint_names)
        return self._answer(start, RequestKind.JOINTS, (target,), options=options)

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
            MotionError: INVALID_JOINT_COUNT, INVALID_POSE, NOT_FINITE or INVALID_LINK_NAME.
        """
        poses = as_poses("goals", goals)  # type: ignore[arg-type, unused-ignore]
        at_most("goals", len(poses), MOST_WAYPOINTS)
        return self._answer(start, RequestKind.POSE, tuple(poses), frame=frame, options=options)

    def plan_waypoints(
        self,
        start: ArrayLike,
        waypoints: Sequence[ArrayLike],
        *,
        frame: str | None = None,
        options: PlanOptions | None = None,
    ) -> Plan:
        """Collision-free motion through every waypoint in turn, without stopping at any.

        Waypoints are joint vectors (dof,) and poses (4, 4) of ``frame`` (the tool) in any
        mixture, and are passed exactly.

        Raises:
            MotionError: INVALID_JOINT_COUNT, INVALID_POSE, NOT_FINITE or INVALID_LINK_NAME; the
                message names the waypoint.
        """
        at_most("waypoints", len(waypoints), MOST_WAYPOINTS)
        targets = [self._waypoint(i, waypoint) for i, waypoint in enumerate(waypoints)]
        if not targets:
            raise MotionError(ErrorCode.INVALID_OPTION, "waypoints: at least one wanted, got none")
        return self._answer(
            start, RequestKind.WAYPOINTS, tuple(targets), frame=frame, options=options
        )

    def _waypoint(self, index: int, value: ArrayLike) -> Matrix:
        name = f"waypoints[{index}]"
        if np.ndim(value) == 1:  # type: ignore[arg-type, unused-ignore]
            return as_joints(name, value, self._robot.joint_names)
        return as_pose(name, value)

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
            MotionError: INVALID_JOINT_COUNT, INVALID_POSE, NOT_FINITE, INVALID_LINK_NAME or
                INVALID_OPTION.
        """
        poses = as_poses("waypoints", waypoints)  # type: ignore[arg-type, unused-ignore]
        at_most("waypoints", len(poses), MOST_WAYPOINTS)
        if not 0 <= min_fraction <= 1:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"min_fraction: a number in [0, 1] wanted, got {min_fraction!r}",
            )
        kind = RequestKind.CARTESIAN
        return self._answer(
            start, kind, tuple(poses), frame=frame, options=options, min_fraction=min_fraction
        )

    def replan(self, plan: Plan, from_time: float) -> Plan:
        """The motion to a plan's goal in the scene as it is now, for a robot ``from_time`` into it.

        The rest of the plan where that is still free. Else a motion that begins in the state that
        the plan has at ``from_time``, brakes along its path with the robot's full limits, and goes
        on to the goal another way. Give a ``from_time`` far enough ahead to plan in.

        Raises:
            MotionError: INVALID_OPTION where ``plan`` has no trajectory.
        """
        if plan.trajectory is None or plan.request is None:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"plan: one with a trajectory wanted, got one that failed ({plan.code.name})",
            )
        began = min(positive("from_time", from_time, zero=True), plan.trajectory.duration)
        with self._lock:
            hit = self.first_invalid_time(plan, began)
            if hit is None:
                return rest_of(plan, began)
            brake, rests_at = braked(plan.trajectory, began, JointLimits.of(self._robot, 1.0, 1.0))
            if hit <= rests_at:
                q, _, _ = plan.trajectory.sample(hit)
                touching = self.check_state(q, gripper_width=plan.gripper_width)
                return PlanningFailed(
                    ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE,
                    f"{touching.text} in {hit - began:.2f} s, before the motion could be stopped "
                    "along its path; stop with stop_trajectory and plan anew from there",
                ).plan(self._robot.dof, 0.0)
            rest = rest_of(plan, rests_at)
            assert rest.request is not None
            again = self._run(brake.positions[-1], rest.request)
            return joined(brake, again) if again.ok else again

    def _answer(
        self,
        start: ArrayLike,
        kind: RequestKind,
        targets: tuple[Matrix, ...],
        *,
        frame: str | None = None,
        options: PlanOptions | None,
        min_fraction: float = 1.0,
    ) -> Plan:
        q_start = as_joints("start", start, self._robot.joint_names)
        ik = self._ik(frame)
        request = PlanRequest(kind, targets, ik.frame, options or PlanOptions(), min_fraction)
        return self._run(q_start, request)

    def _run(self, start: Vector, request: PlanRequest) -> Plan:
        """Run one request; failures become plans with a code."""
        options = request.options
        constraint = options.path_constraints
        constrained = None if constraint is None else self._ik(constraint.link_name)
        with self._lock:
            deadline = Deadline(HARD_LIMIT * options.allowed_planning_time, self.clock)
            try:
                with ended_by(deadline, lambda: _too_late(deadline)):
                    query = Query(
                        self._robot,
                        self._world(options.gripper_width),
                        start,
                        options,
                        seed=self.seed if options.seed is None else options.seed,
                        padding=self.padding,
                        constrained=constrained,
                        route_finder=self.route_finder,
                        clock=self.clock,
                    )
                    plan = self._planned_or_previewed(query, request)
            except PlanningFailed as failure:
                return failure.plan(self._robot.dof, deadline.spent)
        if self.on_planned is not None and (motion := planned_motion(query, request, plan)):
            self.on_planned(motion)
        return replace(plan, request=replace(request, options=query.settled_options()))

    def _planned_or_previewed(self, query: Query, request: PlanRequest) -> Plan:
        previewed, ik = self.previewed, self._ik(request.frame)
        if previewed is None:
            return self._plan(query, request)
        return previewed.answer(query, ik, request, lambda: self._plan(query, request))

    def _plan(self, query: Query, request: PlanRequest) -> Plan:
        ik, targets = self._ik(request.frame), list(request.targets)
        if request.kind is RequestKind.CARTESIAN:
            tool = ToolPath([self._robot.forward_kinematics(query.start, ik.frame), *targets])
            return follow_lines(query, ik, tool, request.min_fraction)
        if request.kind is RequestKind.WAYPOINTS:
            return follow_waypoints(query, ik, targets)
        if request.kind is RequestKind.JOINTS:
            goals = given_goal(query, targets[0])
        else:
            goals = goals_of_poses(query, ik, targets, query.start)
        goal, path, trajectory = search(query, goals)
        return query.answer(path, trajectory, goal_index=goal.index)

    # ---------------------------------------------------------------- inverse kinematics

    def inverse_kinematics(
        self,
        target: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        options: IkOptions | None = None,
    ) -> IkResult:
        """Joints that bring ``frame`` (the tool) to ``target`` (4x4) within 1e-6 m and rad.

        Of the solutions found, the one nearest to ``seed`` (by default the middle of the joint
        ranges) that is free of collision, unless ``options`` prefer another.

        Raises:
            MotionError: INVALID_POSE, INVALID_JOINT_COUNT, NOT_FINITE or INVALID_LINK_NAME.
        """
        return self.inverse_kinematics_batch(
            as_pose("target", target)[None], seed=seed, frame=frame, options=options
        )[0]

    def inverse_kinematics_batch(
        self,
        targets: ArrayLike,
        *,
        seed: ArrayLike | None = None,
        frame: str | None = None,
        options: IkOptions | None = None,
    ) -> list[IkResult]:
        """:meth:`inverse_kinematics` for (N, 4, 4) targets, each independent of the others.

        ``seed`` is one joint vector for all, or (N, dof).
        """
        options = options or IkOptions()
        poses = as_poses("targets", targets) if np.size(targets) else []
        at_most("targets", len(poses), MOST_TARGETS)
        seeds = self._seeds(seed, len(poses))
        posture = options.posture
        if posture is not None:
            posture = as_joints("posture", posture, self._robot.joint_names)
        ik = self._ik(frame, options.joint_limit_margin)
        with self._lock:
            world = self._world(options.gripper_width) if options.avoid_collisions else None
            task = IkTask(ik, options, posture, world, self.seed)
            return [task.solve(pose, near) for pose, near in zip(poses, seeds, strict=True)]

    def _seeds(self, seed: ArrayLike | None, count: int) -> list[Vector]:
        names = self._robot.joint_names
        if seed is None:
            return [0.5 * (self._robot.lower + self._robot.upper)] * count
        if np.ndim(seed) < 2:  # type: ignore[arg-type, unused-ignore]
            return [as_joints("seed", seed, names)] * count
        each = [as_joints(f"seed[{i}]", row, names) for i, row in enumerate(np.asarray(seed))]
        if len(each) != count:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"seed: one joint vector, or one for each of {count} targets wanted, "
                f"got {len(each)}",
            )
        return each

    # ---------------------------------------------------------------- checks

    def check_state(self, q: ArrayLike, *, gripper_width: float | None = None) -> CollisionReport:
        """What touches at joints ``q`` (dof,) without padding, and which joints exceed limits."""
        joints = as_joints("q", q, self._robot.joint_names)
        with self._lock:
            pairs = self._world(gripper_width).report(joints).pairs
        return CollisionReport(pairs, tuple(limit_faults(self._robot, joints, 1e-6)))

    def check_path(self, qs: ArrayLike, *, gripper_width: float | None = None) -> int | None:
        """Index of the first invalid of (N, dof) joint vectors; None where all are valid."""
        names = self._robot.joint_names
        points = [as_joints(f"qs[{i}]", q, names) for i, q in enumerate(np.asarray(qs))]
        with self._lock:
            world = self._world(gripper_width)
            for i, q in enumerate(points):
                if limit_faults(self._robot, q, 1e-6) or world.collides(q):
                    return i
        return None

    def distance(self, q: ArrayLike, *, gripper_width: float | None = None) -> DistanceReport:
        """Smallest distance [m] between any two parties that must not touch, and which."""
        joints = as_joints("q", q, self._robot.joint_names)
        with self._lock:
            return self._world(gripper_width).distance(joints)

    def is_plan_valid(self, plan: Plan, from_time: float = 0.0) -> bool:
        """True where the rest of a plan from ``from_time`` [s] is free in the scene as it is now.

        Contacts that the plan tolerated at its start stay tolerated.
        """
        return plan.trajectory is not None and self.first_invalid_time(plan, from_time) is None

    def first_invalid_time(self, plan: Plan, from_time: float = 0.0) -> float | None:
        """When, after ``from_time``, a plan collides in the scene as it is now [s]; None: never."""
        if plan.trajectory is None:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"plan: one with a trajectory wanted, got one that failed ({plan.code.name})",
            )
        times = plan.trajectory.dense_times(CHECK_STEP)
        times = np.concatenate([[from_time], times[times > from_time]])
        points, _, _ = plan.trajectory.sample_many(times)
        with self._lock:
            world = self._world(plan.gripper_width)
            world.set_margins(0.0, {pair: -depth for pair, depth in plan.tolerated.items()})
            hit = world.first_collision(points)
        return None if hit is None else float(times[hit])

    # ---------------------------------------------------------------- helpers

    def _world(self, gripper_width: float | None) -> CollisionWorld:
        """The collision world of the scene as it is now, with margins of zero."""
        snapshot = self._scene.snapshot()
        world = self._world_cache
        if world is None or world.scene.structure != snapshot.structure:
            world = self._world_cache = None  # what is there goes first: that may take long too
            check_interrupted()
            world = self._world_cache = CollisionWorld(self._robot, snapshot)
        elif world.scene.revision != snapshot.revision:
            world.move_objects(snapshot)
        world.set_gripper_width(gripper_width)
        world.set_margins(0.0)
        return world

    def _ik(self, frame: str | None, margin: float = LIMIT_MARGIN) -> InverseKinematics:
        name = frame or self._robot.tool_frame
        if (name, margin) not in self._ik_cache:
            known("frame", name, self._robot.frame_names)
            self._ik_cache[name, margin] = InverseKinematics(self._robot, name, margin)
        return self._ik_cache[name, margin]


def _too_late(deadline: Deadline) -> PlanningFailed:
    return PlanningFailed(
        ErrorCode.TIMED_OUT,
        f"no motion within {deadline}; allow more time, or ask for a shorter motion",
    )
