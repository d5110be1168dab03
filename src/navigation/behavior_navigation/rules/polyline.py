# SPDX-License-Identifier: Apache-2.0
"""A route as a polyline, and where a robot is along it (Frenet coordinates).

With waypoints ``W_i``, segment lengths ``l_i`` and unit vectors ``u_i``, the arc length of a
waypoint is ``s_0 = 0, s_{i+1} = s_i + l_i``. A point ``p`` projects on segment ``i`` to
``q = W_i + t u_i`` with ``t = clamp((p - W_i) . u_i, 0, l_i)``. Then ``s = s_i + t`` and the
lateral offset is ``u_i x (p - q)``, left positive. Which of the segments counts is another question
where a route folds or crosses itself: see :mod:`behavior_navigation.rules.route_progress`.

Everything works on whole arrays or by bisection, so that routes of ten thousand points cost
microseconds where a window is searched, and well below a millisecond where all of it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]
"""Shape (n, 2) [m]."""

SHORTEST = 1e-3
"""[m] Waypoints nearer to the one before are dropped."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The nearest points of consecutive segments."""

    s: NDArray[np.float64]
    """[m] arc lengths, shape (n,)."""
    distance: NDArray[np.float64]
    """[m] shape (n,)."""
    corner: NDArray[np.float64]
    """[m] distance of the corner between each and the next, shape (n - 1,).

    Along a segment the distance to a point is convex, so between two of the nearest points nothing
    is farther away than the corners that lie between them.
    """


class Polyline:
    """Points joined by straight segments."""

    def __init__(self, points: ArrayLike) -> None:
        """Take points of shape (n, 2) [m], in order; repeated ones are dropped.

        Raises:
            ValueError: there is no point, or one is not finite.
        """
        given = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        if len(given) == 0:
            raise ValueError("a route needs at least one point")
        if not np.isfinite(given).all():
            bad = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise ValueError(f"point {bad} of the route is not finite: {given[bad].tolist()}")
        self.points: Points = _without_repeats(given)
        """Shape (n, 2) [m], n >= 1."""
        steps = np.diff(self.points, axis=0)
        self._lengths = np.hypot(steps[:, 0], steps[:, 1])
        self._units = steps / self._lengths[:, None]
        self.arc: NDArray[np.float64] = np.concatenate(([0.0], np.cumsum(self._lengths)))
        """Arc length of each point [m], shape (n,), strictly growing."""

    @property
    def length(self) -> float:
        """[m]."""
        return float(self.arc[-1])

    def point(self, s: float) -> tuple[float, float]:
        """The point at an arc length, which is clamped to the polyline [m]."""
        if len(self.points) == 1:
            return float(self.points[0, 0]), float(self.points[0, 1])
        i = self._segment(s)
        t = min(max(s - self.arc[i], 0.0), self._lengths[i])
        x, y = self.points[i] + t * self._units[i]
        return float(x), float(y)

    def heading(self, s: float) -> float:
        """Direction of travel at an arc length [rad]; 0 when there is only one point."""
        if len(self.points) == 1:
            return 0.0
        x, y = self._units[self._segment(s)]
        return math.atan2(y, x)

    def slice(self, start: float, end: float) -> Points:
        """The part between two arc lengths [m]: its ends and the points between, shape (m, 2).

        A part without length is one point.
        """
        first = int(np.searchsorted(self.arc, start, side="right"))
        last = int(np.searchsorted(self.arc, end, side="left"))
        if end <= start:
            return np.array([self.point(start)])
        return np.vstack([[self.point(start)], self.points[first:last], [self.point(end)]])

    def near(self, x: float, y: float, low: float, high: float) -> Nearby:
        """The nearest point of each segment with an arc length of `low`..`high` [m].

        A window beyond an end of the polyline is that end.
        """
        if len(self.points) == 1:
            d = np.array([math.hypot(x - self.points[0, 0], y - self.points[0, 1])])
            return Nearby(np.zeros(1), d, np.zeros(0))
        low, high = min(max(low, 0.0), self.length), max(min(high, self.length), 0.0)
        first, last = self._segment(low), self._segment(high) + 1
        begin, units = self.points[first:last], self._units[first:last]
        offset_x, offset_y = x - begin[:, 0], y - begin[:, 1]
        along = offset_x * units[:, 0] + offset_y * units[:, 1]
        arc = self.arc[first:last]
        t = np.clip(along, 0.0, self._lengths[first:last])
        t = np.minimum(np.maximum(t, low - arc), np.maximum(high, low) - arc)
        distances = np.hypot(offset_x - t * units[:, 0], offset_y - t * units[:, 1])
        return Nearby(arc + t, distances, np.hypot(offset_x[1:], offset_y[1:]))

    def lateral(self, x: float, y: float, s: float) -> float:
        """Offset of a point from the direction of travel at an arc length [m], left positive."""
        if len(self.points) == 1:
            return 0.0
        u_x, u_y = self._units[self._segment(s)]
        q_x, q_y = self.point(s)
        return float(u_x * (y - q_y) - u_y * (x - q_x))

    def _segment(self, s: float) -> int:
        """Index of the segment at an arc length; at a point the one after it."""
        i = int(np.searchsorted(self.arc, s, side="right")) - 1
        return min(max(i, 0), len(self._lengths) - 1)


def _without_repeats(points: Points) -> Points:
    """The points without those that lie at the one kept before."""
    steps = np.diff(points, axis=0)
    if (np.hypot(steps[:, 0], steps[:, 1]) >= SHORTEST).all():
        return points
    kept = [0]
    for i in range(1, len(points)):
        x, y = points[i] - points[kept[-1]]
        if math.hypot(x, y) >= SHORTEST:
            kept.append(i)
    return points[kept]
