# SPDX-License-Identifier: Apache-2.0
"""How many points lie in upright capsules that are moved through a cloud."""

from __future__ import annotations

import math

import numpy as np

from behavior_scene.detections import Array


def half_widths(points: Array, radius: float, bottom: float, top: float) -> Array:
    """How far from the capsule's axis points may be, by their height.

    Args:
        points: N x 3 [m].
        radius: of the capsule [m].
        bottom: lower end of its axis [m].
        top: upper end of its axis [m].

    Returns:
        N horizontal distances [m]; nan where the capsule does not reach the height.
    """
    beyond = np.maximum(np.maximum(bottom - points[:, 2], points[:, 2] - top), 0.0)
    square = radius**2 - beyond**2
    return np.sqrt(np.where(square >= 0.0, square, np.nan))


def count_in_capsule(
    points: Array, center: tuple[float, float], radius: float, bottom: float, top: float
) -> int:
    """Number of points in an upright capsule around `center` (x, y) [m]."""
    width = half_widths(points, radius, bottom, top)
    apart = np.hypot(points[:, 0] - center[0], points[:, 1] - center[1])
    return int(np.count_nonzero(apart <= width))


def first_hit(
    points: Array,
    *,
    y: float,
    start: float,
    end: float,
    step: float,
    radius: float,
    bottom: float,
    top: float,
    count: int,
) -> float | None:
    """Move an upright capsule along x until it holds enough points.

    A point at height z and lateral offset dy is inside while |x - x_point| is at most a width that
    follows from both, so every point adds one to a range of steps: no step looks at the points
    again.

    Args:
        points: N x 3 in the frame of the movement [m].
        y: lateral place of the capsule [m].
        start: first x [m].
        end: last x [m].
        step: between two x [m].
        radius: of the capsule [m].
        bottom: lower end of its axis [m].
        top: upper end of its axis [m].
        count: number of points that is enough.

    Returns:
        The first x with enough points, or None.
    """
    square = half_widths(points, radius, bottom, top) ** 2 - (points[:, 1] - y) ** 2
    inside = square >= 0.0  # False for nan
    x, width = points[inside, 0], np.sqrt(square[inside])
    steps = math.floor((end - start) / step + 1e-9) + 1
    first = np.ceil((x - width - start) / step - 1e-9)
    last = np.floor((x + width - start) / step + 1e-9)
    reached = (first <= last) & (last >= 0) & (first < steps)
    changes = np.zeros(steps + 1, dtype=np.int64)
    np.add.at(changes, np.clip(first[reached], 0, steps).astype(np.int64), 1)
    np.add.at(changes, np.clip(last[reached] + 1, 0, steps).astype(np.int64), -1)
    enough = np.flatnonzero(np.cumsum(changes[:-1]) >= count)
    return None if enough.size == 0 else start + step * int(enough[0])
