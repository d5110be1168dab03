# SPDX-License-Identifier: Apache-2.0
"""Geometry of paths: densifying, shortcuts, rounding of corners. No robot, no time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from behavior_motion.checks import Matrix, Vector

StraightCheck = Callable[[Vector, Vector], bool]


def lengths(path: Matrix) -> Vector:
    """Euclidean lengths of the segments of a polyline (N, dof), (N - 1,)."""
    result: Vector = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return result


def densify(path: Matrix, step: float) -> Matrix:
    """Points of a polyline at most ``step`` apart (Euclidean), its corners included."""
    pieces = [path[:1]]
    for a, b, length in zip(path[:-1], path[1:], lengths(path), strict=True):
        count = max(1, int(np.ceil(length / step)))
        pieces.append(a + np.linspace(0.0, 1.0, count + 1)[1:, None] * (b - a))
    return np.vstack(pieces)


def without_repeats(path: Matrix, tolerance: float = 1e-9) -> Matrix:
    """The polyline without points that repeat the one before."""
    keep = np.concatenate([[True], lengths(path) > tolerance])
    kept: Matrix = path[keep]
    if len(kept) > 1:
        # The very last point must survive, whatever lay just before it.
        kept = kept.copy()
        kept[-1] = path[-1]
    return kept


def shortcut(
    path: Matrix, straight_is_free: StraightCheck, rng: np.random.Generator, tries: int
) -> Matrix:
    """Shorten a polyline by straight connections that are free.

    First drops whole corners, then connects random points along the path. Stops early when
    nothing improved for a while. The ends stay.
    """
    path = _drop_corners(path, straight_is_free)
    idle = 0
    for _ in range(tries):
        if len(path) < 3 or idle >= 20:
            break
        shorter = _connect_random_points(path, straight_is_free, rng)
        idle = idle + 1 if shorter is None else 0
        path = path if shorter is None else shorter
    return _drop_corners(path, straight_is_free)


def _drop_corners(path: Matrix, straight_is_free: StraightCheck) -> Matrix:
    i = 0
    while i < len(path) - 2:
        for j in range(len(path) - 1, i + 1, -1):
            if straight_is_free(path[i], path[j]):
                path = np.vstack([path[: i + 1], path[j:]])
                break
        i += 1
    return path


def _connect_random_points(
    path: Matrix, straight_is_free: StraightCheck, rng: np.random.Generator
) -> Matrix | None:
    marks = np.concatenate([[0.0], np.cumsum(lengths(path))])
    u, v = np.sort(rng.uniform(0.0, marks[-1], 2))
    i = int(np.searchsorted(marks, u, side="right")) - 1
    j = int(np.searchsorted(marks, v, side="right")) - 1
    if i == j:
        return None
    a = path[i] + (u - marks[i]) / (marks[i + 1] - marks[i]) * (path[i + 1] - path[i])
    b = path[j] + (v - marks[j]) / (marks[j + 1] - marks[j]) * (path[j + 1] - path[j])
    if v - u - np.linalg.norm(b - a) < 1e-3 or not straight_is_free(a, b):
        return None
    return without_repeats(np.vstack([path[: i + 1], a, b, path[j + 1 :]]))


def rounded(path: Matrix, radii: Vector) -> PPoly:
    """Polyline with rounded corners as a piecewise polynomial of (nearly) its arc length.

    Each inner corner is replaced, from ``radii[i]`` before it to ``radii[i]`` after it, by the
    quartic whose direction turns with a smooth step. The curve is twice continuously
    differentiable and leaves the corner by at most ``3/16 * radius * |t1 - t0|``.

    Args:
        path: Corners (N >= 2, dof), no repeats.
        radii: Rounding of the N - 2 inner corners, above zero; two neighbours together at most
            the length of the segment between them.
    """
    sizes = lengths(path)
    directions = np.diff(path, axis=0) / sizes[:, None]
    cuts = np.concatenate([[0.0], radii, [0.0]])
    breaks, pieces, u = [0.0], [], 0.0
    for i, direction in enumerate(directions):
        straight = sizes[i] - cuts[i] - cuts[i + 1]
        if straight > 1e-12:
            pieces.append(_polynomial(path[i] + cuts[i] * direction, direction, 0 * direction, 1.0))
            u += straight
            breaks.append(u)
        if i + 1 < len(directions):
            radius = cuts[i + 1]
            start = path[i + 1] - radius * direction
            turn = directions[i + 1] - direction
            pieces.append(_polynomial(start, direction, turn, 2 * radius))
            u += 2 * radius
            breaks.append(u)
    return PPoly(np.stack(pieces, axis=1), np.array(breaks))


def _polynomial(start: Vector, direction: Vector, turn: Vector, width: float) -> Matrix:
    # d/du q = direction + turn * (3 x^2 - 2 x^3) with x = u / width, integrated.
    zero = np.zeros_like(start)
    return np.stack([-turn / (2 * width**3), turn / width**2, zero, direction, start])


def corner_radii(path: Matrix, largest: float) -> Vector:
    """Rounding for each inner corner: ``largest``, or half the shorter neighbour segment."""
    sizes = lengths(path)
    return np.minimum(largest, 0.5 * np.minimum(sizes[:-1], sizes[1:]))


def spline(marks: Vector, points: Matrix) -> PPoly:
    """Cubic spline through points (N, dof) at rising marks (N,)."""
    while len(marks) < 4:
        # Too few for a cubic: the middles of the straight lines in between, too.
        middles = np.arange(1, len(marks))
        marks = np.insert(marks, middles, 0.5 * (marks[1:] + marks[:-1]))
        points = np.insert(points, middles, 0.5 * (points[1:] + points[:-1]), axis=0)
    cubic = CubicSpline(marks, points)
    return PPoly(cubic.c, cubic.x)
