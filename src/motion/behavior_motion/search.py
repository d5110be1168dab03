# SPDX-License-Identifier: Apache-2.0
"""From the start to one of several joint goals: straight if possible, else by sampling.

A straight line in joint space is tried to the nearest goals; else RRT-Connect searches, and
shortcuts and rounded corners shorten what it found. The timed motion is checked once more,
densely and without padding; what fails this check is planned anew.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PPoly

from behavior_motion import paths
from behavior_motion.checks import Matrix, Vector
from behavior_motion.goals import JointGoal
from behavior_motion.planner import PlanCode
from behavior_motion.query import CHECK_STEP, Failure, Query
from behavior_motion.sampling import SearchLimits, connect
from behavior_motion.timing import TimingError, resting, time_curve, time_straight
from behavior_motion.trajectory import Trajectory

MOST_ROUNDS = 10
"""How often a search is begun anew: it found nothing within its checks, or the final check refused
what it found."""
FIRST_CHECKS = 4_000
"""State checks of a search in the first round; each round doubles them. An unlucky tree may take a
hundred times the usual effort, and starting over is cheaper than waiting for it."""
SEARCHES_PER_ROUND = 4
"""Number of sampled paths of which the shortest is taken ..."""
CHECKS_FOR_CHOICE = 3000
"""... as long as they took fewer state checks than this together."""
CONSTRAINED_STEP = 0.5
"""Longest extension of a tree under an orientation constraint [rad]: longer ones mostly leave
the region that the constraint allows."""
LARGEST_ROUNDING = 1.0
"""How far from a corner its rounding may begin [rad]."""


def search(query: Query, goals: list[JointGoal]) -> tuple[JointGoal, Matrix, Trajectory]:
    """Goal reached, corners of the path, and motion; ``goals`` come nearest first.

    Raises:
        Failure: TIMEOUT, NO_PATH or TIMING_FAILED.
    """
    # A straight line to a farther goal beats a detour to a near one only up to a point.
    near = [g for g in goals if g.travel <= max(2.0 * goals[0].travel, goals[0].travel + 0.7)]
    at_start = query.clearance([query.start])
    for goal in near:
        query.keep_clearance(query.clearance([goal.q], at_start))
        if query.straight_is_free(query.start, goal.q, CHECK_STEP):
            path = np.stack([query.start, goal.q])
            trajectory = _timed(query, path)
            if trajectory is not None:
                return goal, path, trajectory
    # The near goals and all of them in turn; the near ones leave half of the time.
    groups = [goals] if len(near) == len(goals) else [near, goals]
    rng = np.random.default_rng([query.seed, 2])
    refused = 0
    for round_ in range(MOST_ROUNDS):
        group = groups[round_ % len(groups)]
        query.keep_clearance(query.clearance([g.q for g in group], at_start))
        now = time.monotonic()
        share = 1.0 if group is goals else 0.5
        limits = SearchLimits(
            now + share * (query.deadline - now),
            FIRST_CHECKS * 2**round_,
            step=CONSTRAINED_STEP if query.constrained else 0.0,
        )
        sampled = _sampled(query, group, rng, limits)
        if sampled is not None:
            path = _shortened(query, sampled, rng, query.options.smoothing)
            trajectory = _timed(query, path)
            if trajectory is not None:
                return _reached(group, path[-1]), path, trajectory
            refused += 1
        if time.monotonic() > query.deadline:
            raise Failure(
                PlanCode.TIMEOUT,
                f"no path within {query.options.planning_time:g} s; the goal may be walled in: "
                "allow more time, another goal, or move what is in the way",
            )
    raise Failure(
        PlanCode.NO_PATH,
        f"{MOST_ROUNDS} ever longer searches found {refused} paths, none of which kept clear when "
        "checked densely; try another goal, or move what is in the way",
    )


def _reached(goals: list[JointGoal], q: Vector) -> JointGoal:
    return min(goals, key=lambda goal: float(np.abs(goal.q - q).max()))


def _sampled(
    query: Query, goals: list[JointGoal], rng: np.random.Generator, limits: SearchLimits
) -> Matrix | None:
    """Corners of the shortest of a few sampled paths, its worst detours cut; None: no path."""
    best: Matrix | None = None
    began = query.world.checks
    for _ in range(SEARCHES_PER_ROUND):
        path = connect(
            query.start,
            [g.q for g in goals],
            lower=query.lower,
            upper=query.upper,
            blocked=query.blocked if query.constrained else query.world.collides,
            limits=limits,
            seed=int(rng.integers(1, 2**31 - 2)),
        )
        if path is None:
            return best
        path = _shortened(query, path, rng, 0)
        if best is None or paths.lengths(path).sum() < paths.lengths(best).sum():
            best = path
        if query.world.checks - began > CHECKS_FOR_CHOICE:
            break
    return best


def _shortened(query: Query, path: Matrix, rng: np.random.Generator, tries: int) -> Matrix:
    return paths.shortcut(
        paths.without_repeats(path),
        lambda a, b: query.straight_is_free(a, b, 3 * CHECK_STEP),
        rng,
        tries,
    )


def _timed(query: Query, path: Matrix) -> Trajectory | None:
    """The polyline as a motion that passed the final check, or None."""
    path = paths.without_repeats(path)
    if len(path) == 1:
        return resting(query.limits.joint_names, path[-1])
    try:
        if len(path) == 2:
            trajectory = time_straight(path[0], path[1], query.limits)
        else:
            trajectory = time_curve(_rounded(query, path), query.limits)
    except TimingError as error:
        raise Failure(PlanCode.TIMING_FAILED, f"the path cannot be timed: {error}") from error
    return trajectory if query.is_free(trajectory) else None


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
