# SPDX-License-Identifier: Apache-2.0
"""Free polylines from joints to one of several joint goals, one after another.

A straight line in joint space is tried to the nearest goals; else RRT-Connect searches, and
shortcuts shorten what it found. Under a path constraint a projected search takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode
from behavior_motion.planning import manifold
from behavior_motion.planning.query import CHECK_STEP, JointGoal, PlanningFailed, Query
from behavior_motion.planning.sampling import SearchLimits, connect
from behavior_motion.trajectories import paths

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


def routes(
    query: Query, start: Vector, goals: list[JointGoal], stream: int = 2
) -> Iterator[tuple[JointGoal, Matrix]]:
    """Goal reached and corners of a free path to it; ask for the next where one does not do.

    Args:
        query: The request.
        start: Joints to start from.
        goals: Nearest first.
        stream: Tells apart the random choices of several parts of one request.

    Raises:
        PlanningFailed: TIMED_OUT or PLANNING_FAILED, once there are no more.
    """
    # A straight line to a farther goal beats a detour to a near one only up to a point.
    near = [g for g in goals if g.travel <= max(2.0 * goals[0].travel, goals[0].travel + 0.7)]
    at_start = query.clearance([start])
    for goal in near:
        query.keep_clearance(query.clearance([goal.q], at_start))
        if query.straight_is_free(start, goal.q, CHECK_STEP):
            yield goal, np.stack([start, goal.q])
    # The near goals and all of them in turn; the near ones leave half of the time.
    groups = [goals] if len(near) == len(goals) else [near, goals]
    rng = np.random.default_rng([query.seed, stream])
    refused = 0
    for round_ in range(MOST_ROUNDS):
        group = groups[round_ % len(groups)]
        query.keep_clearance(query.clearance([g.q for g in group], at_start))
        deadline = query.deadline.part(1.0 if group is goals else 0.5)
        limits = SearchLimits(deadline, FIRST_CHECKS * 2**round_)
        path = _sampled(query, start, group, rng, limits)
        if path is not None:
            yield _reached(group, path[-1]), path
            refused += 1
        if query.deadline.passed:
            raise PlanningFailed(
                ErrorCode.TIMED_OUT,
                f"no path within {query.deadline}; the goal may be walled in: allow more time, "
                "another goal, or move what is in the way",
            )
    raise PlanningFailed(
        ErrorCode.PLANNING_FAILED,
        f"{MOST_ROUNDS} ever longer searches found {refused} paths, none of which kept clear when "
        "checked densely; try another goal, or move what is in the way",
    )


def _reached(goals: list[JointGoal], q: Vector) -> JointGoal:
    return min(goals, key=lambda goal: float(np.abs(goal.q - q).max()))


def _sampled(
    query: Query,
    start: Vector,
    goals: list[JointGoal],
    rng: np.random.Generator,
    limits: SearchLimits,
) -> Matrix | None:
    """Corners of a sampled path, shortened; None: no path."""
    if query.cone is not None:
        return _on_manifold(query, start, goals, rng, limits)
    path = _shortest_of_a_few(query, start, goals, rng, limits)
    return None if path is None else shortened(query, path, rng, query.options.smoothing)


def _on_manifold(
    query: Query,
    start: Vector,
    goals: list[JointGoal],
    rng: np.random.Generator,
    limits: SearchLimits,
) -> Matrix | None:
    assert query.cone is not None
    bounds = (query.lower, query.upper)
    targets = [g.q for g in goals]
    limit = query.cone.inner([start, *targets])
    steps = manifold.Manifold(query.cone, limit, bounds, query.blocked)
    seed = int(rng.integers(1, 2**31 - 2))
    path = manifold.connect(steps, start, targets, bounds=bounds, limits=limits, seed=seed)
    return None if path is None else steps.shortcut(path, rng, 2 * query.options.smoothing)


def _shortest_of_a_few(
    query: Query,
    start: Vector,
    goals: list[JointGoal],
    rng: np.random.Generator,
    limits: SearchLimits,
) -> Matrix | None:
    """Shortest of a few sampled paths, their worst detours cut."""
    best: Matrix | None = None
    began = query.world.checks
    for _ in range(SEARCHES_PER_ROUND):
        path = connect(
            start,
            [g.q for g in goals],
            lower=query.lower,
            upper=query.upper,
            blocked=query.world.collides,
            limits=limits,
            seed=int(rng.integers(1, 2**31 - 2)),
        )
        if path is None:
            return best
        path = shortened(query, path, rng, 0)
        if best is None or paths.lengths(path).sum() < paths.lengths(best).sum():
            best = path
        if query.world.checks - began > CHECKS_FOR_CHOICE:
            break
    return best


def shortened(query: Query, path: Matrix, rng: np.random.Generator, tries: int) -> Matrix:
    """A path with as few corners as stay free, ``tries`` shortcuts tried besides."""
    return paths.shortcut(
        paths.without_repeats(path),
        lambda a, b: query.straight_is_free(a, b, 3 * CHECK_STEP),
        rng,
        tries,
    )
