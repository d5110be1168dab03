# SPDX-License-Identifier: Apache-2.0
"""Occupancy grids: cells, clearances, lines and beams."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from behavior_motion.planar_pose import Points, Pose2D
from behavior_sim.navigation.config import Box

Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Grid:
    """Cells of a rectangle that are occupied or free; row 0 is the lowest y."""

    occupied: Mask
    """Shape (rows, columns)."""
    resolution: float
    """[m] edge of a cell."""
    x: float = 0.0
    """[m] of the corner with the lowest coordinates."""
    y: float = 0.0
    _clearance: NDArray[np.float64] | None = field(default=None, init=False, repr=False)

    @classmethod
    def empty(cls, box: Box, resolution: float) -> Grid:
        """A free grid over a box."""
        left, low, right, high = box
        rows, columns = (round((b - a) / resolution) for a, b in ((low, high), (left, right)))
        return cls(np.zeros((rows, columns), dtype=bool), resolution, left, low)

    @property
    def box(self) -> Box:
        """What it covers [m]."""
        rows, columns = self.occupied.shape
        return (
            self.x,
            self.y,
            self.x + columns * self.resolution,
            self.y + rows * self.resolution,
        )

    def fill(self, box: Box) -> None:
        """Occupy every cell whose centre lies in a box."""
        left, low, right, high = box
        (r0, c0), (r1, c1) = (
            (round((y - self.y) / self.resolution), round((x - self.x) / self.resolution))
            for x, y in ((left, low), (right, high))
        )
        # What is thinner than a cell still fills one.
        self.occupied[max(r0, 0) : max(r1, r0 + 1), max(c0, 0) : max(c1, c0 + 1)] = True
        self._clearance = None

    def crop(self, box: Box) -> Grid:
        """A copy of the cells in a box; what lies outside of this grid is occupied."""
        part = Grid.empty(box, self.resolution)
        rows, columns = part.occupied.shape
        r0 = round((part.y - self.y) / self.resolution)
        c0 = round((part.x - self.x) / self.resolution)
        part.occupied[:] = True
        top, right = (
            min(r0 + rows, self.occupied.shape[0]),
            min(c0 + columns, self.occupied.shape[1]),
        )
        low, left = max(r0, 0), max(c0, 0)
        if low < top and left < right:
            part.occupied[low - r0 : top - r0, left - c0 : right - c0] = self.occupied[
                low:top, left:right
            ]
        return part

    def cells(self, points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of points (..., 2); may lie outside."""
        rows = np.floor((points[..., 1] - self.y) / self.resolution).astype(np.intp)
        columns = np.floor((points[..., 0] - self.x) / self.resolution).astype(np.intp)
        return rows, columns

    def inside(self, points: Points) -> Mask:
        """Whether points (..., 2) lie on the grid."""
        rows, columns = self.cells(points)
        height, width = self.occupied.shape
        result: Mask = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return result

    @property
    def clearance(self) -> NDArray[np.float64]:
        """Distance of each cell to the nearest occupied one [m], computed once."""
        if self._clearance is None:
            self._clearance = self.resolution * distance_transform_edt(~self.occupied)
        return self._clearance

    def clearance_at(self, points: Points) -> NDArray[np.float64]:
        """Distance of points (..., 2) to the nearest occupied cell [m]; 0 outside."""
        rows, columns = self.cells(points)
        height, width = self.occupied.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        values = self.clearance[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
        return np.where(inside, values, 0.0)

    def is_free(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc touches nothing."""
        return bool(self.clearance_at(np.array([x, y])) > radius)

    def line_is_free(self, start: Points, end: Points, radius: float) -> bool:
        """Whether a disc may move straight from one point (2,) to another."""
        steps = max(2, math.ceil(float(np.linalg.norm(end - start)) / (0.5 * self.resolution)))
        line = start + np.linspace(0.0, 1.0, steps)[:, None] * (end - start)
        return bool((self.clearance_at(line) > radius).all())

    def beams(self, pose: Pose2D, angles: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
        """How far one sees [m] from a pose in directions relative to it, at most `reach`."""
        step = 0.5 * self.resolution
        distances = np.arange(step, reach, step)
        directions = np.stack([np.cos(pose.yaw + angles), np.sin(pose.yaw + angles)], axis=-1)
        points = pose.position + directions[:, None, :] * distances[None, :, None]
        rows, columns = self.cells(points)
        height, width = self.occupied.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        hit = inside & self.occupied[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
        first = hit.argmax(axis=1)
        seen = hit[np.arange(len(angles)), first]
        return np.where(seen, distances[first], reach)


def resampled(points: Points, spacing: float) -> Points:
    """A polyline (n, 2) with points at even distances [m] of about `spacing`; keeps both ends."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    if along[-1] < 1e-9:
        return points[:1].copy()
    count = max(2, round(along[-1] / spacing) + 1)
    at = np.linspace(0.0, along[-1], count)
    return np.stack(
        [np.interp(at, along, points[:, 0]), np.interp(at, along, points[:, 1])], axis=-1
    )


_FOLD = -0.3
"""Cosine of the turn from which on a corner counts as a fold."""
_AT_FOLD = 0.1
"""[m] before a fold; nearer, it counts as reached."""


def up_to_fold(points: Points, begin: float) -> tuple[Points, float, bool]:
    """A polyline (n, 2) from an arc length [m] on, up to the first corner where it turns back.

    Also the arc length at which it begins, which is that of a fold that is all but reached, and
    whether it goes on to the end.
    """
    steps = np.diff(points, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    points, lengths = points[np.append(True, lengths > 1e-6)], lengths[lengths > 1e-6]
    if not len(lengths):
        return points, 0.0, True
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    units = np.diff(points, axis=0) / lengths[:, None]
    turns = (units[1:] * units[:-1]).sum(axis=1)
    folds = along[1:-1][turns < _FOLD]
    begin = float(np.clip(begin, 0.0, along[-1]))
    reached = folds[(folds >= begin) & (folds < begin + _AT_FOLD)]
    begin = float(reached[-1]) if len(reached) else begin
    ahead = folds[folds > begin]
    end = float(ahead[0]) if len(ahead) else float(along[-1])
    ends = [[np.interp(s, along, points[:, axis]) for axis in (0, 1)] for s in (begin, end)]
    between = points[(along > begin) & (along < end)]
    return np.vstack([ends[0], between, ends[1]]), begin, not len(ahead)


def nearest_on(points: Points, x: float, y: float) -> tuple[int, float]:
    """Index of the nearest point of a polyline (n, 2), and its distance [m]."""
    distances = np.hypot(points[:, 0] - x, points[:, 1] - y)
    index = int(distances.argmin())
    return index, float(distances[index])


def in_polygon(polygon: Points, x: float, y: float) -> bool:
    """Whether a point lies in a polygon (n, 2), by the number of edges that a ray crosses."""
    ends = np.roll(polygon, -1, axis=0)
    above = (polygon[:, 1] > y) != (ends[:, 1] > y)
    rise = np.where(above, ends[:, 1] - polygon[:, 1], 1.0)
    at = polygon[:, 0] + (y - polygon[:, 1]) * (ends[:, 0] - polygon[:, 0]) / rise
    return bool(np.count_nonzero(above & (x < at)) % 2)
