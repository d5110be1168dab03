# SPDX-License-Identifier: Apache-2.0
"""Search and shortcuts among the joint vectors that a path constraint leaves.

Bidirectional RRT whose every step is projected back onto the constraint (CBiRRT: Berenson,
Srinivasa, Ferguson, Kuffner, "Manipulation planning on constraint manifolds", ICRA 2009).
Rejecting samples instead finds nothing once the tolerance is a few degrees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.interruption import check_interrupted
from behavior_motion.planning.constraints import AxisCone
from behavior_motion.planning.sampling import SearchLimits
from behavior_motion.trajectories import paths

STEP = 0.06
"""Distance between the states of a tree [rad]."""
FARTHEST = 60
"""Most steps of one extension."""


class Manifold:
    """Steps between joint vectors that keep a constraint and are free."""

    def __init__(
        self,
        cone: AxisCone,
        limit: float,
        bounds: tuple[Vector, Vector],
        blocked: Callable[[Vector], bool],
    ) -> None:
        """States keep ``limit`` [rad]; ``blocked`` is true for joints that may not be passed."""
        self._cone, self._limit, self._bounds, self._blocked = cone, limit, bounds, blocked
        self.checks = 0
        """Number of states checked so far."""

    def walk(self, start: Vector, goal: Vector) -> tuple[list[Vector], bool]:
        """States from ``start`` (not included) towards ``goal``, and whether it was reached."""
        here, left = start, float(np.linalg.norm(goal - start))
        points: list[Vector] = []
        for _ in range(FARTHEST):
            check_interrupted()
            if left <= STEP:
                return [*points, goal], True
            ahead = here + STEP / left * (goal - here)
            if not self._cone.project(ahead, self._limit, self._bounds):
                break
            remaining = float(np.linalg.norm(goal - ahead))
            moved = float(np.linalg.norm(ahead - here))
            # A projection that undoes the step, or leaps, has left the neighbourhood.
            if remaining > left - 0.1 * STEP or moved > 2.5 * STEP:
                break
            self.checks += 1
            if self._blocked(ahead):
                break
            points.append(ahead)
            here, left = ahead, remaining
        return points, False

    def shortcut(self, path: Matrix, rng: np.random.Generator, tries: int) -> Matrix:
        """Replace parts of a path by direct walks where those are shorter."""
        idle = 0
        for _ in range(tries):
            if len(path) < 4 or idle >= 20:
                break
            i, j = np.sort(rng.integers(0, len(path), 2))
            idle += 1
            if j - i < 2:
                continue
            points, arrived = self.walk(path[i], path[j])
            if not arrived:
                continue
            detour = np.vstack([path[i], *points])
            if paths.lengths(detour).sum() < paths.lengths(path[i : j + 1]).sum() - 1e-3:
                path = np.vstack([path[: i + 1], *points, path[j + 1 :]])
                idle = 0
        return path


class _Tree:
    def __init__(self, roots: list[Vector]) -> None:
        self._states = np.empty((256, len(roots[0])))
        self._parents: list[int] = []
        for root in roots:
            self.add(root, -1)

    def add(self, q: Vector, parent: int) -> int:
        count = len(self._parents)
        if count == len(self._states):
            self._states = np.vstack([self._states, np.empty_like(self._states)])
        self._states[count] = q
        self._parents.append(parent)
        return count

    def extend(self, manifold: Manifold, target: Vector) -> tuple[int, bool]:
        """Grow towards ``target``; the newest (or nearest) node, and whether it is the target."""
        offsets = self._states[: len(self._parents)] - target
        node = int(np.argmin(np.einsum("ij,ij->i", offsets, offsets)))
        points, arrived = manifold.walk(self._states[node].copy(), target)
        for point in points:
            node = self.add(point, node)
        return node, arrived

    def state(self, node: int) -> Vector:
        return np.array(self._states[node])

    def branch(self, node: int) -> list[Vector]:
        """States from the root to a node."""
        result = []
        while node >= 0:
            result.append(self.state(node))
            node = self._parents[node]
        return result[::-1]


def connect(
    manifold: Manifold,
    start: Vector,
    goals: list[Vector],
    *,
    bounds: tuple[Vector, Vector],
    limits: SearchLimits,
    seed: int,
) -> Matrix | None:
    """States of a path from ``start`` to one of ``goals``, (N, dof); None where none was found."""
    rng = np.random.default_rng(seed)
    trees = [_Tree([start]), _Tree(goals)]
    target, growing = goals[0], 0
    # The limit on checks counts refused samples too: walks of no length cost time as well.
    for attempt in range(limits.checks):
        grown, other = trees[growing], trees[1 - growing]
        node, _ = grown.extend(manifold, target)
        meeting, joined = other.extend(manifold, grown.state(node))
        if joined:
            halves = grown.branch(node), other.branch(meeting)
            first, last = halves if growing == 0 else halves[::-1]
            return paths.without_repeats(np.array([*first, *last[::-1]]))
        if manifold.checks > limits.checks or limits.deadline.passed:
            return None
        growing = 1 - growing
        target = goals[attempt % len(goals)] if attempt < 4 else rng.uniform(*bounds)
    return None
