# SPDX-License-Identifier: Apache-2.0
"""Regions of a map with a meaning, and which of them a stretch of a route touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from behavior_navigation.rules.polyline import Points

REGION_TYPES = (
    "NAVIGABLE",
    "ROI_OBSTACLE",
    "RESTRICTED",
    "SPEED_ZONE",
    "STAIRS",
    "ENTRANCE",
    "DOCK",
)
"""Names of the types of ``SemanticRegion``, by their numbers; a test compares."""


@dataclass(frozen=True, eq=False)
class Region:
    """A polygon with a meaning."""

    id: str
    type: int
    """One of the types of ``SemanticRegion``."""
    polygon: Points
    """Corners in order, shape (k, 2) [m]; the last one is joined to the first."""
    speed_limit: float = 0.0
    """[m/s], 0: none."""


class RegionIndex:
    """Finds the regions that a polyline touches; boxes first, then exactly."""

    def __init__(self, regions: Sequence[Region]) -> None:
        """Index these regions; polygons of less than three corners have no inside and count not."""
        self.regions = tuple(region for region in regions if len(region.polygon) >= 3)
        corners = [region.polygon for region in self.regions]
        self._low = np.array([c.min(axis=0) for c in corners]).reshape(-1, 2)
        self._high = np.array([c.max(axis=0) for c in corners]).reshape(-1, 2)

    def touched_by(self, line: Points) -> tuple[Region, ...]:
        """The regions that a polyline of shape (m, 2), m >= 1, crosses, touches or lies in."""
        if not self.regions:
            return ()
        apart = (self._high < line.min(axis=0)) | (self._low > line.max(axis=0))
        near = np.flatnonzero(~apart.any(axis=1))
        return tuple(self.regions[i] for i in near if touches(line, self.regions[i].polygon))


def touches(line: Points, polygon: Points) -> bool:
    """Whether a polyline (m, 2) has a point in common with a polygon (k, 2), its edge included."""
    if contains(polygon, line[:1]).any():
        return True
    begin, end = polygon, np.roll(polygon, -1, axis=0)
    if len(line) == 1:
        return _any_crossing(line, line, begin, end)
    return _any_crossing(line[:-1], line[1:], begin, end)


def contains(polygon: Points, points: Points) -> NDArray[np.bool_]:
    """Which of the points (m, 2) lie within a polygon, by the rule of odd crossings."""
    begin, end = polygon, np.roll(polygon, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    spans = (begin[:, 1] > y) != (end[:, 1] > y)
    rise = end[:, 1] - begin[:, 1]
    crossing = begin[:, 0] + (y - begin[:, 1]) * (end[:, 0] - begin[:, 0]) / np.where(
        rise == 0.0, 1.0, rise
    )
    inside: NDArray[np.bool_] = (spans & (x < crossing)).sum(axis=1) % 2 == 1
    return inside


def _any_crossing(a: Points, b: Points, c: Points, d: Points) -> bool:
    """Whether any segment a-b meets any segment c-d, touching included."""
    a, b, c, d = a[:, None], b[:, None], c[None], d[None]
    ab_c, ab_d = _turn(a, b, c), _turn(a, b, d)
    cd_a, cd_b = _turn(c, d, a), _turn(c, d, b)
    straddle = (ab_c * ab_d <= 0.0) & (cd_a * cd_b <= 0.0)
    boxes = (np.minimum(a, b) <= np.maximum(c, d)) & (np.minimum(c, d) <= np.maximum(a, b))
    return bool((straddle & boxes.all(axis=2)).any())


def _turn(a: Points, b: Points, c: Points) -> NDArray[np.float64]:
    """Twice the signed area of the triangles a, b, c."""
    area: NDArray[np.float64] = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (
        b[..., 1] - a[..., 1]
    ) * (c[..., 0] - a[..., 0])
    return area
