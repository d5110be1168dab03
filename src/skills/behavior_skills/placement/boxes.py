# SPDX-License-Identifier: Apache-2.0
"""Oriented boxes: bounds, exact intersection volume, IoU and containment.

Two boxes intersect in a convex polytope given by twelve half spaces. Its vertices are found with
qhull around a point well inside, which linear programming finds (the Chebyshev centre); boxes that
merely touch have no such point and intersect in volume 0.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from behavior_skills.interfaces import Array

_CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
_FLAT = 1e-9
"""[m] a common part thinner than this has no volume."""


@dataclass(frozen=True, slots=True)
class OrientedBox:
    """A box anywhere."""

    pose: Array
    """Of its centre, 4x4 [m]."""
    half_extents: Array
    """[m], shape (3,)."""

    @property
    def volume(self) -> float:
        """[m^3]"""
        return float(8.0 * np.prod(self.half_extents))

    @property
    def corners(self) -> Array:
        """Shape (8, 3) [m]."""
        corners: Array = _CORNERS * self.half_extents @ self.pose[:3, :3].T + self.pose[:3, 3]
        return corners

    @property
    def upright_axis(self) -> int:
        """Which of its axes is nearest to the vertical: 0, 1 or 2."""
        return int(np.argmax(np.abs(self.pose[2, :3])))

    def bounds(self) -> tuple[Array, Array]:
        """Least and greatest coordinates in the frame of `pose` [m]."""
        reach = np.abs(self.pose[:3, :3]) @ self.half_extents
        return self.pose[:3, 3] - reach, self.pose[:3, 3] + reach

    def aligned(self) -> OrientedBox:
        """The smallest box around it with the axes of the frame of `pose`."""
        low, high = self.bounds()
        pose = np.eye(4)
        pose[:3, 3] = (low + high) / 2
        return OrientedBox(pose, (high - low) / 2)

    def half_spaces(self) -> Array:
        """Rows (n, -d) with n . x - d <= 0 inside; shape (6, 4)."""
        normals = np.concatenate([self.pose[:3, :3].T, -self.pose[:3, :3].T])
        offsets = normals @ self.pose[:3, 3] + np.tile(self.half_extents, 2)
        return np.column_stack([normals, -offsets])


def intersection_volume(first: OrientedBox, second: OrientedBox) -> float:
    """Volume of the common part [m^3]; 0 for boxes that touch or are apart."""
    reach = np.linalg.norm(first.half_extents) + np.linalg.norm(second.half_extents)
    if np.linalg.norm(first.pose[:3, 3] - second.pose[:3, 3]) > reach:
        return 0.0
    half_spaces = np.concatenate([first.half_spaces(), second.half_spaces()])
    # Largest ball inside: maximise r with n . x + r <= d, all normals being of length 1.
    best = linprog(
        [0.0, 0.0, 0.0, -1.0],
        A_ub=np.column_stack([half_spaces[:, :3], np.ones(len(half_spaces))]),
        b_ub=-half_spaces[:, 3],
        bounds=[(None, None)] * 3 + [(0.0, None)],
    )
    if best.x is None or best.x[3] < _FLAT:
        return 0.0
    try:
        vertices = HalfspaceIntersection(half_spaces, best.x[:3]).intersections
        return float(ConvexHull(vertices).volume)
    except QhullError:
        return 0.0  # Thinner than qhull's own precision.


def intersection_over_union(first: OrientedBox, second: OrientedBox) -> float:
    """Common volume over united volume, 0..1."""
    common = intersection_volume(first, second)
    return common / (first.volume + second.volume - common) if common > 0.0 else 0.0


def containment(inner: OrientedBox, outer: OrientedBox) -> float:
    """Share of `inner` that lies in `outer`, 0..1."""
    return intersection_volume(inner, outer) / inner.volume if inner.volume > 0.0 else 0.0
