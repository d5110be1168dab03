# SPDX-License-Identifier: Apache-2.0
"""Motion through any number of waypoints, joints or poses, without stopping at any.

The posture for every pose is chosen so that the whole way is short (dynamic programming over the
solutions of inverse kinematics, as in Descartes). Between waypoints a free route is searched.
Each waypoint is passed exactly, in the faster of two ways: on a spline through all corners of the
route; or on the route itself, with the corner replaced by a short straight piece through the
waypoint, along the bisector of the directions before and behind it, and the corners at its ends
rounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.goals import given_goal, goals_of_poses
from behavior_motion.planning.planner import Plan
from behavior_motion.planning.query import CHECK_STEP, JointGoal, PlanningFailed, Query
from behavior_motion.planning.search import checked, timed
from behavior_motion.trajectories import paths
from behavior_motion.trajectories.timing import time_curve_at
from behavior_motion.trajectories.trajectory import Trajectory

Found = tuple[Matrix, Trajectory, tuple[float, ...]]
"""Corners, motion, and when it passes the waypoints."""

LONGEST_PASS = 0.3
"""Longest half of the straight piece through a waypoint [rad]."""
PASS_SHARE = 0.3
"""It also takes at most this part of the neighbouring straight lines."""
SHRINKINGS = 4
"""How often a piece is made smaller where it is blocked, ..."""
SHRINKING = 0.4
"""... to this part of its size each time."""


@dataclass
class _Leg:
    """The way to one waypoint."""

    goal: JointGoal
    supply: Iterator[tuple[JointGoal, Matrix]]
    path: Matrix


def follow_waypoints(query: Query, ik: InverseKinematics, targets: list[Matrix]) -> Plan:
    """The motion from the start through the targets: joints (dof,) and poses (4, 4).

    Raises:
        PlanningFailed: What stands in the way, and at which waypoint.
    """
    postures = _chosen(query, ik, targets)
    legs: list[_Leg] = []
    here = query.start
    for i, goal in enumerate(postures):
        legs.append(_leg(query, here, goal, i))
        here = goal.q
    turn = 0
    while True:
        found = _joined(query, [leg.path for leg in legs])
        if found is not None:
            path, trajectory, times = found
            return query.answer(path, trajectory, waypoint_times=times)
        if query.deadline.passed:
            raise PlanningFailed(
                ErrorCode.TIMED_OUT,
                f"no free motion through all {len(targets)} waypoints within {query.deadline}; "
                "allow more time, or move waypoints away from obstacles",
            )
        # Another way for one leg after the other.
        leg = legs[turn % len(legs)]
        with _naming(turn % len(legs)):
            _, leg.path = next(leg.supply)
        turn += 1


@contextmanager
def _naming(index: int) -> Iterator[None]:
    """Failures within the block name the waypoint."""
    try:
        yield
    except PlanningFailed as failure:
        message = f"waypoint {index}: {failure.message}"
        raise PlanningFailed(failure.code, message, failure.fraction) from failure


def _leg(query: Query, start: Vector, goal: JointGoal, index: int) -> _Leg:
    if np.abs(goal.q - start).max() < 1e-9:
        here = start[None]
        return _Leg(goal, itertools.repeat((goal, here)), here)
    supply = query.find_routes(query, start, [goal], stream=100 + index)
    with _naming(index):
        _, path = next(supply)
    return _Leg(goal, supply, path)


def _chosen(query: Query, ik: InverseKinematics, targets: list[Matrix]) -> list[JointGoal]:
    """One posture per target such that the sum of the ways between them is shortest."""
    layers: list[list[JointGoal]] = []
    near = query.start
    query.be_exact()
    for i, target in enumerate(targets):
        with _naming(i):
            if target.ndim == 1:
                layers.append(given_goal(query, target))
            else:
                layers.append(goals_of_poses(query, ik, [target], near))
        near = layers[-1][0].q
    costs = [ik.travel(np.array([g.q for g in layers[0]]), query.start)]
    choices = []
    for before, behind in pairwise(layers):
        origins = np.array([g.q for g in before])
        step = np.array([costs[-1] + ik.travel(origins, g.q) for g in behind])
        choices.append(step.argmin(axis=1))
        costs.append(step.min(axis=1))
    k = int(costs[-1].argmin())
    chosen = [layers[-1][k]]
    for layer, choice in zip(layers[-2::-1], choices[::-1], strict=True):
        k = int(choice[k])
        chosen.append(layer[k])
    return chosen[::-1]


def _joined(query: Query, legs: list[Matrix]) -> Found | None:
    """Corners, motion and passing times of the legs as one; None: no rounding of it is free."""
    whole = paths.without_repeats(np.vstack(legs))
    ends = [leg[-1] for leg in legs]
    if query.cone is not None:
        # The spline of a constrained path passes through its points without any help.
        return _timed_through(query, whole, ends)
    # Swinging through all corners is mostly faster; keeping to the straight lines is safer.
    found = [
        _swinging(query, whole, ends),
        _timed_through(query, _with_passes(query, whole, ends[:-1]), ends),
    ]
    return min((f for f in found if f is not None), key=lambda f: f[1].duration, default=None)


def _swinging(query: Query, path: Matrix, ends: list[Vector]) -> Found | None:
    """Along the natural cubic spline through the corners (centripetal parameters)."""
    if len(path) < 3:
        return None
    knots = np.concatenate([[0.0], np.cumsum(np.sqrt(paths.lengths(path)))])
    along = np.concatenate([[0.0], np.cumsum(paths.lengths(path))])
    marks = np.interp(_marks(path, ends), along, knots)
    cubic = CubicSpline(knots, path, bc_type="natural")
    curve = PPoly(cubic.c, cubic.x)
    found = checked(query, lambda: time_curve_at(curve, query.limits, marks))
    return None if found is None else (path, found[0], tuple(float(t) for t in found[1]))


def _timed_through(query: Query, path: Matrix, ends: list[Vector]) -> Found | None:
    marks = _marks(path, ends)
    found = timed(query, path, marks)
    if found is None:
        return None
    trajectory, passed = found
    return path, trajectory, tuple(float(t) for t in passed)


def _marks(path: Matrix, ends: list[Vector]) -> Vector:
    """Lengths along the polyline at which it passes the ends, in their order."""
    along = np.concatenate([[0.0], np.cumsum(paths.lengths(path))])
    # Ends are corners of the polyline, or middles of its straight pieces.
    points = np.vstack([path, 0.5 * (path[1:] + path[:-1])])
    places = np.concatenate([along, 0.5 * (along[1:] + along[:-1])])
    marks = [0.0]
    for end in ends:
        ahead = places >= marks[-1] - 1e-12
        distance = np.where(ahead, np.linalg.norm(points - end, axis=1), np.inf)
        marks.append(float(places[distance <= distance.min() + 1e-9].min()))
    return np.array(marks[1:])


def _with_passes(query: Query, path: Matrix, through: list[Vector]) -> Matrix:
    """The polyline with a straight piece through each of the points where it had a corner."""
    query.be_exact()
    corners: list[Vector] = []
    waiting = list(through)
    for i, here in enumerate(path):
        reached = False
        # Repeated waypoints are reached together.
        while waiting and np.abs(here - waiting[0]).max() < 1e-9:
            waiting.pop(0)
            reached = True
        if reached and 0 < i < len(path) - 1:
            corners.extend(_free_pass(query, corners[-1], here, path[i + 1]))
        else:
            corners.append(here)
    return np.array(corners)


def _free_pass(query: Query, before: Vector, here: Vector, behind: Vector) -> tuple[Vector, Vector]:
    """The longest piece that is free, with the ways to and from it."""
    size = LONGEST_PASS
    room = np.minimum(here - query.lower, query.upper - here)
    for _ in range(SHRINKINGS):
        first, last = _pass(before, here, behind, size, room=room)
        corners = (before, first, last, behind)
        if all(query.straight_is_free(a, b, 3 * CHECK_STEP) for a, b in pairwise(corners)):
            break
        size *= SHRINKING
    return first, last


def _pass(
    before: Vector, here: Vector, behind: Vector, size: float, *, room: Vector
) -> tuple[Vector, Vector]:
    """Ends of a piece through ``here``; ``room`` is its distance from the joint limits."""
    into, out = here - before, behind - here
    lengths = np.linalg.norm(into), np.linalg.norm(out)
    half = min(size, PASS_SHARE * float(min(lengths)))
    into, out = into / lengths[0], out / lengths[1]
    direction = into + out
    if np.linalg.norm(direction) < 1e-3:
        # Straight back: pass it sideways, along an axis that has room and that the way hardly uses.
        direction = np.eye(len(here))[int(np.argmax(np.minimum(room, 1.0) * (1 - np.abs(into))))]
        direction = direction - (direction @ into) * into
    direction = direction / np.linalg.norm(direction)
    # A joint at its limit turns back there.
    direction = np.where(half * np.abs(direction) < room, direction, 0.0)
    step = half * direction
    return here - step, here + step
