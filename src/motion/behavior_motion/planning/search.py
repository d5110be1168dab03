# SPDX-License-Identifier: Apache-2.0
"""From the start to one of several joint goals: the first route whose timed motion is free.

Corners are rounded as far as that stays free. The timed motion is checked once more, densely and
without padding; what fails this check is planned anew.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PPoly

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode
from behavior_motion.planning.query import CHECK_STEP, JointGoal, PlanningFailed, Query
from behavior_motion.trajectories import paths
from behavior_motion.trajectories.timing import TimingError, resting, time_curve_at, time_straight
from behavior_motion.trajectories.trajectory import Trajectory

LARGEST_ROUNDING = 1.0
"""How far from a corner its rounding may begin [rad]."""
KNOT_DISTANCE = 0.15
"""Distance of the spline's knots on a path that follows a constraint [rad]."""


def search(query: Query, goals: list[JointGoal]) -> tuple[JointGoal, Matrix, Trajectory]:
    """Goal reached, corners of the path, and motion; ``goals`` come nearest first.

    Raises:
        PlanningFailed: TIMED_OUT, PLANNING_FAILED or TIME_PARAMETERIZATION_FAILED.
    """
    for goal, path in query.find_routes(query, query.start, goals):
        motion = timed(query, path, np.zeros(0))
        if motion is not None:
            return goal, path, motion[0]
    raise AssertionError("routes end with a failure")


def timed(query: Query, path: Matrix, marks: Vector) -> tuple[Trajectory, Vector] | None:
    """A polyline as a motion that passed the final check, and when it passes the marks [s].

    ``marks`` are lengths along the polyline. None: every way to round it is refused.
    """
    path = paths.without_repeats(path)
    if len(path) == 1:
        return resting(query.limits.joint_names, path[-1]), np.zeros(len(marks))
    if len(path) == 2:
        return checked(query, lambda: _along_line(query, path, marks))
    if query.cone is not None:
        smooth = checked(query, lambda: _along_spline(query, path, marks))
        if smooth is not None:
            return smooth
    return checked(query, lambda: time_curve_at(_rounded(query, path), query.limits, marks))


def checked(
    query: Query, timing: Callable[[], tuple[Trajectory, Vector]]
) -> tuple[Trajectory, Vector] | None:
    """What ``timing`` returns where its motion is free; None where not.

    Raises:
        PlanningFailed: TIME_PARAMETERIZATION_FAILED.
    """
    try:
        trajectory, passed = timing()
    except TimingError as error:
        message = f"the path cannot be timed: {error}; try other waypoints or another goal"
        raise PlanningFailed(ErrorCode.TIME_PARAMETERIZATION_FAILED, message) from error
    return (trajectory, passed) if query.is_free(trajectory) else None


def _along_line(query: Query, path: Matrix, marks: Vector) -> tuple[Trajectory, Vector]:
    trajectory = time_straight(path[0], path[1], query.limits)
    way = np.linalg.norm(trajectory.positions - path[0], axis=1)
    return trajectory, np.interp(marks, way, trajectory.times)


def _along_spline(query: Query, path: Matrix, marks: Vector) -> tuple[Trajectory, Vector]:
    """Through points of a finely stepped path: rounding its many small corners would crawl."""
    along = np.concatenate([[0.0], np.cumsum(paths.lengths(path))])
    fixed = np.unique(np.concatenate([[0.0], marks, [along[-1]]]))
    knots = [0.0]
    for a, b in pairwise(fixed):
        if b - a > 1e-6:
            knots.extend(np.linspace(a, b, max(1, round((b - a) / KNOT_DISTANCE)) + 1)[1:])
    points = np.stack([np.interp(knots, along, column) for column in path.T], axis=1)
    return time_curve_at(paths.spline(np.array(knots), points), query.limits, marks)


def _rounded(query: Query, path: Matrix) -> PPoly:
    """The polyline with its corners rounded as far as that stays free."""
    radii = paths.corner_radii(path, LARGEST_ROUNDING)
    for _ in range(5):
        curve = paths.rounded(path, radii)
        blocked = _blocked_corners(query, curve, path, radii)
        if not blocked.any():
            break
        radii[blocked] *= 0.5
    return curve


def _blocked_corners(query: Query, curve: PPoly, path: Matrix, radii: Vector) -> NDArray[np.bool_]:
    """Which rounded corners (N - 2,) are blocked somewhere."""
    cuts = np.concatenate([[0.0], radii, [0.0]])
    straights = paths.lengths(path) - cuts[:-1] - cuts[1:]
    blocked = np.zeros(len(radii), dtype=bool)
    u = 0.0
    for i, radius in enumerate(radii):
        u += straights[i]
        arc = np.linspace(u, u + 2 * radius, max(3, int(radius / CHECK_STEP)))
        u += 2 * radius
        blocked[i] = any(query.blocked(q) for q in curve(arc))
    return blocked
