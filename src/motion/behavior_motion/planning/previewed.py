# SPDX-License-Identifier: Apache-2.0
"""Motions that were planned once, in a preview, and are to be done again where nothing has changed.

A planner that is given :class:`PreviewedMotions` looks there before it searches. What it finds is
bent by the little that start and goal differ, and passes the same checks as any motion: limits,
collisions in the scene as it is now, constraints. Where nothing fits, the reason is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Protocol

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.scene import SceneSnapshot
from behavior_motion.collision.shapes import Shape, Sphere
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.options import PlanOptions
from behavior_motion.planning.planner import Plan, PlanRequest, RequestKind
from behavior_motion.planning.query import Query
from behavior_motion.pose_difference import angle_between, distance_between
from behavior_motion.robot.model import RobotModel
from behavior_motion.robot.other_links import PREFIX
from behavior_motion.trajectories.trajectory import Trajectory

SHORTEST_FADING = 1e-3
"""Least time in which what a start or an end differs by fades [s]."""
MOST_SLOWER = 3.0
"""How many times as long a motion may take that is bent: a new one is not bent."""


@dataclass(frozen=True, kw_only=True)
class PreviewTolerances:
    """Up to where what is asked now counts as what was previewed."""

    distance: float = 0.01
    """Between places of a goal, or of an object in the hand [m]."""
    around: float = 0.01
    """Between places of what stands around, as seen from the arm [m]: the check finds what is in
    the way."""
    angle: float = 0.2
    """Between orientations of an object or of a goal [rad]."""
    joint: float = 0.05
    """Between positions of a joint, at the start and at the end [rad or m]."""
    passed: float = 1e-3
    """Between targets that a motion goes through [m and rad]: it is bent before and behind them."""
    width: float = 0.004
    """Between openings of the gripper [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedMotion:
    """A motion with all that it was planned for."""

    request: PlanRequest
    trajectory: Trajectory
    goal_index: int = 0
    """Which of the request's targets it reaches."""
    waypoint_times: tuple[float, ...] = ()
    """When each target of an order is passed [s]."""
    objects: Mapping[str, Matrix] = field(default_factory=dict)
    """base_T_object (4, 4) of what stood around, by name."""
    held: Mapping[str, Matrix] = field(default_factory=dict)
    """link_T_object (4, 4) of what the robot carried, by name."""


def planned_motion(query: Query, request: PlanRequest, plan: Plan) -> PlannedMotion | None:
    """A plan with all that it was made for; None where it is none to be done again.

    A resting robot needs no plan, and a line that ends before its goal tells less than a new one.
    """
    trajectory = plan.trajectory
    if trajectory is None or not trajectory.duration > 0.0 or plan.fraction < 1.0:
        return None
    return PlannedMotion(
        request=request,
        trajectory=trajectory,
        goal_index=plan.goal_index,
        waypoint_times=plan.waypoint_times,
        objects=_objects_of(query.world.scene),
        held=_held_of(query.world.scene),
    )


def _objects_of(scene: SceneSnapshot) -> dict[str, Matrix]:
    """Poses of what does not move with the robot, by name."""
    return {name: _told(each.shape, each.world_T_object) for name, each in scene.objects.items()}


def _held_of(scene: SceneSnapshot) -> dict[str, Matrix]:
    """Poses, in their links, of what moves with the robot, by name."""
    return {name: _told(each.shape, each.link_T_object) for name, each in scene.attached.items()}


def _told(shape: Shape, pose: Matrix) -> Matrix:
    """What a pose tells of a thing: a ball is turned no way, whatever its detector says."""
    if not isinstance(shape, Sphere):
        return pose
    place = np.eye(4)
    place[:3, 3] = pose[:3, 3]
    return place


class MotionSource(Protocol):
    """Motions to be asked for instead of planning."""

    def answer(
        self, query: Query, ik: InverseKinematics, request: PlanRequest, plan: Callable[[], Plan]
    ) -> Plan:
        """A motion that there is, or what ``plan`` finds; it raises what that does."""


class PreviewedMotions:
    """The motions of a preview, to be asked for instead of planning.

    Args:
        motions: of the preview, in any order; read when they are first asked for.
        tell: given, for every request that is answered, whether by a previewed motion, and
            otherwise what differs, in words.
        tolerances: None: the usual ones.
    """

    def __init__(
        self,
        motions: Iterable[PlannedMotion],
        tell: Callable[[bool, str], None],
        tolerances: PreviewTolerances | None = None,
    ) -> None:
        self._source, self._tell = motions, tell
        self.tolerances = tolerances or PreviewTolerances()

    @cached_property
    def motions(self) -> tuple[PlannedMotion, ...]:
        """All of them."""
        return tuple(self._source)

    def answer(
        self, query: Query, ik: InverseKinematics, request: PlanRequest, plan: Callable[[], Plan]
    ) -> Plan:
        """What was previewed, or what ``plan`` finds; it raises what that does."""
        try:
            motion = self.fitting(query, request)
            found = plan_as_previewed(query, ik, request, motion, self.tolerances)
        except NotPreviewed as difference:
            found = plan()
            self._tell(False, str(difference))
            return found
        self._tell(True, "")
        return found

    def fitting(self, query: Query, request: PlanRequest) -> PlannedMotion:
        """The motion that was planned for this.

        Raises:
            NotPreviewed: there is none; the text says what differs from the nearest.
        """
        names, start, scene = query.robot.joint_names, query.start, query.world.scene
        alike = [
            motion
            for motion in self.motions
            if motion.trajectory.joint_names == names and self._same_wish(motion.request, request)
        ]
        if not alike:
            raise NotPreviewed("such a motion was not previewed")
        limit, around = self.tolerances, replace(self.tolerances, distance=self.tolerances.around)
        objects, held, of_nearest = _objects_of(scene), _held_of(scene), ""
        # Of two that go the same way it is the one among these things.
        for motion in sorted(alike, key=lambda motion: _apart(motion, start, request)):
            differences = chain(
                _moved(motion.objects, objects, "is", around),
                _moved(motion.held, held, "is held", limit),
                self._ends(motion, start, request),
            )
            difference = next(differences, "")
            if not difference:
                return motion
            of_nearest = of_nearest or difference
        raise NotPreviewed(of_nearest)

    def _same_wish(self, was: PlanRequest, now: PlanRequest) -> bool:
        """Whether it was asked for in the same way, wherever from and to."""
        return (
            (was.kind, was.frame, was.min_fraction) == (now.kind, now.frame, now.min_fraction)
            and [target.shape for target in was.targets] == [target.shape for target in now.targets]
            and self._same_options(was.options, now.options)
        )

    def _same_options(self, was: PlanOptions, now: PlanOptions) -> bool:
        one, other = was.gripper_width, now.gripper_width
        if (one is None) != (other is None):
            return False
        near = one is None or other is None or abs(one - other) <= self.tolerances.width
        return near and _wishes(was) == _wishes(now)

    def _ends(self, motion: PlannedMotion, start: Vector, request: PlanRequest) -> Iterator[str]:
        limit = self.tolerances
        yield from _joints_apart(start, motion.trajectory.positions[0], "start", limit.joint)
        if len(request.targets) > 1 and request.kind is not RequestKind.POSE:
            limit = replace(limit, distance=limit.passed, angle=limit.passed, joint=limit.passed)
        for was, now in zip(motion.request.targets, request.targets, strict=True):
            if now.ndim == 1:
                yield from _joints_apart(now, was, "goal", limit.joint)
                continue
            shift, turn = distance_between(was, now), angle_between(was, now)
            if shift > limit.distance:
                yield f"the goal is {1e3 * shift:.0f} mm from the previewed one"
            elif turn > limit.angle:
                yield f"the goal is turned by {np.rad2deg(turn):.0f} degrees"


class NotPreviewed(Exception):
    """A motion has to be planned anew; the text says what differs."""


def _wishes(options: PlanOptions) -> PlanOptions:
    """Options without what differs from time to time though the same is wished.

    The search's patience and dice are no part of a motion. How far a frame may turn on the way
    follows from start and goal, and is checked anew.
    """
    constraint = options.path_constraints
    return replace(
        options,
        gripper_width=None,
        allowed_planning_time=1.0,
        seed=None,
        path_constraints=constraint and replace(constraint, tolerance=1.0, direction=None),
    )


def _joints_apart(now: Vector, was: Vector, what: str, limit: float) -> Iterator[str]:
    if (off := float(np.abs(now - was).max())) > limit:
        yield f"at the {what} a joint is {off:.3f} (rad or m) from where it was previewed"


def _apart(motion: PlannedMotion, start: Vector, request: PlanRequest) -> float:
    """How far a request is from what a motion was planned for, [rad] and [m] alike."""
    apart = float(np.abs(start - motion.trajectory.positions[0]).max())
    for was, now in zip(motion.request.targets, request.targets, strict=True):
        if now.ndim == 1:
            apart += float(np.abs(now - was).max())
        else:
            apart += distance_between(was, now) + 0.1 * angle_between(was, now)
    return apart


def _moved(
    before: Mapping[str, Matrix],
    after: Mapping[str, Matrix],
    verb: str,
    limit: PreviewTolerances,
) -> Iterator[str]:
    """What is not where it was, the farthest first, in words."""
    for name in sorted(before.keys() ^ after.keys()):
        there = name in after
        yield f"{_named(name)} {verb} {'there now' if there else 'there no more'}"
    shifts = {
        name: distance_between(before[name], after[name]) for name in before.keys() & after.keys()
    }
    for name in sorted(shifts, key=lambda each: (-shifts[each], each)):
        if shifts[name] > limit.distance:
            yield f"{_named(name)} {verb} {1e3 * shifts[name]:.0f} mm from where it was previewed"
        elif (turn := angle_between(before[name], after[name])) > limit.angle:
            yield f"{_named(name)} {verb} turned by {np.rad2deg(turn):.0f} degrees"


def _named(name: str) -> str:
    """Of an object, or of one of the robot's other links, as people call it."""
    return name.removeprefix(PREFIX)


def plan_as_previewed(
    query: Query,
    ik: InverseKinematics,
    request: PlanRequest,
    motion: PlannedMotion,
    limit: PreviewTolerances,
) -> Plan:
    """A previewed motion as the answer to a request that it fits, checked like any other.

    Raises:
        NotPreviewed: bent to start and goal as they are it is not the same motion, or not free.
    """
    ends_at, was = _end(ik, request, motion), motion.trajectory.positions[-1]
    for trouble in _joints_apart(ends_at, was, "end", limit.joint):
        raise NotPreviewed(trouble)
    moved = bent(motion.trajectory, query.start, ends_at, between=motion.waypoint_times[:-1])
    slower = max(
        1.0, query.limits.slowdown(moved), _too_fast(query.robot, ik.frame, request, moved)
    )
    if slower > MOST_SLOWER:
        raise NotPreviewed(f"the previewed motion would take {slower:.1f} times as long from here")
    moved = moved.scaled(slower)
    if not query.is_free(moved):
        raise NotPreviewed("the previewed motion is not free any more")
    passed = tuple(time * slower for time in motion.waypoint_times)
    return query.answer(moved.positions, moved, goal_index=motion.goal_index, waypoint_times=passed)


def _end(ik: InverseKinematics, request: PlanRequest, motion: PlannedMotion) -> Vector:
    """Joints (dof,) at which the request's goal is reached as the motion reaches its own."""
    goal = request.targets[motion.goal_index if request.kind is RequestKind.POSE else -1]
    if goal.ndim == 1:
        return goal
    joints, reached = ik.solve(goal[None], motion.trajectory.positions[-1][None, None])
    if not reached[0, 0]:
        raise NotPreviewed("the goal is not reached in the previewed posture")
    end: Vector = joints[0, 0]
    return end


def _too_fast(robot: RobotModel, frame: str, request: PlanRequest, motion: Trajectory) -> float:
    """How many times too fast the frame is along a line whose speed is limited."""
    speed = request.options.max_cartesian_speed
    if speed is None or request.kind is not RequestKind.CARTESIAN:
        return 0.0
    return robot.largest_speed(motion.positions, motion.times, frame) / speed


def bent(
    trajectory: Trajectory, start: Vector, end: Vector, *, between: tuple[float, ...] = ()
) -> Trajectory:
    """The motion from another start to another end (dof,), both near its own.

    What the ends differ by fades as a smooth step over the time, so that positions, velocities and
    accelerations stay continuous and rest stays rest. From the first to the last of the times
    ``between`` the motion is what it was.
    """
    at_start, at_end = start - trajectory.positions[0], end - trajectory.positions[-1]
    whole = trajectory.duration
    until, since = (between[0], between[-1]) if between else (whole, 0.0)
    fading = _smooth_step(trajectory.times, 0.0, min(max(until, SHORTEST_FADING), whole))
    coming = _smooth_step(trajectory.times, min(since, whole - SHORTEST_FADING), whole)
    q, qd, qdd = (
        one * at_end - other * at_start for one, other in zip(coming, fading, strict=True)
    )
    return Trajectory(
        trajectory.joint_names,
        trajectory.times,
        trajectory.positions + at_start + q,
        trajectory.velocities + qd,
        trajectory.accelerations + qdd,
    )


def _smooth_step(times: Vector, begin: float, end: float) -> tuple[Matrix, Matrix, Matrix]:
    """From 0 to 1 between two times, with its first and second derivative, (N, 1) each."""
    width = end - begin
    t = np.clip((times - begin) / width, 0.0, 1.0)[:, None]
    return (
        t**3 * (10 - 15 * t + 6 * t**2),
        30 * t**2 * (1 - t) ** 2 / width,
        60 * t * (1 - t) * (1 - 2 * t) / width**2,
    )
