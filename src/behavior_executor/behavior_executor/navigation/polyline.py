# SPDX-License-Identifier: Apache-2.0
"""A route as a polyline, and where a robot is along it (Frenet coordinates).

With waypoints ``W_i``, segment lengths ``l_i`` and unit vectors ``u_i``, the arc length of a
waypoint is ``s_0 = 0, s_{i+1} = s_i + l_i``. A point ``p`` projects on segment ``i`` to
``q = W_i + t u_i`` with ``t = clamp((p - W_i) . u_i, 0, l_i)``; the nearest ``q`` counts. Then
``s = s_i + t`` and the lateral offset is ``u_i x (p - q)``, left positive. (Facts B3.1.)

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
TIE = 1e-9
"""[m] Distances that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a point is along a polyline."""

    s: float
    """[m] arc length of the nearest point of the polyline."""
    lateral: float
    """[m] offset from the polyline's direction there, left positive."""
    distance: float
    """[m] from the nearest point; more than the offset's size beyond the ends and at corners."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The nearest points of consecutive segments."""

    first: int
    """Index of the first segment."""
    t: NDArray[np.float64]
    """[m] along each segment."""
    distance: NDArray[np.float64]
    """[m]"""


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

    def project(
        self, x: float, y: float, low: float = -math.inf, high: float = math.inf
    ) -> Projection:
        """The nearest point with an arc length of `low`..`high` [m]; of several the farthest along.

        A window beyond an end of the polyline is that end.
        """
        found = self._candidates(x, y, low, high)
        nearest = int(np.flatnonzero(found.distance <= found.distance.min() + TIE)[-1])
        return self._projection(x, y, found, nearest)

    def project_early(self, x: float, y: float, slack: float) -> Projection:
        """The first place along the polyline that is nearest but for `slack` [m].

        Where a route passes the same place twice, this is the first time.
        """
        found = self._candidates(x, y, -math.inf, math.inf)
        near = found.distance <= found.distance.min() + slack
        begin = int(np.argmax(near))
        rest = np.flatnonzero(~near[begin:])
        end = begin + int(rest[0]) if len(rest) else len(near)
        nearest = begin + int(np.argmin(found.distance[begin:end]))
        return self._projection(x, y, found, nearest)

    def _candidates(self, x: float, y: float, low: float, high: float) -> _Candidates:
        """The nearest point of each segment in the window."""
        if len(self.points) == 1:
            d = np.array([math.hypot(x - self.points[0, 0], y - self.points[0, 1])])
            return _Candidates(0, np.zeros(1), d)
        low, high = min(max(low, 0.0), self.length), max(min(high, self.length), 0.0)
        first, last = self._segment(low), self._segment(high) + 1
        begin, units = self.points[first:last], self._units[first:last]
        offset_x, offset_y = x - begin[:, 0], y - begin[:, 1]
        along = offset_x * units[:, 0] + offset_y * units[:, 1]
        arc = self.arc[first:last]
        t = np.clip(along, 0.0, self._lengths[first:last])
        t = np.minimum(np.maximum(t, low - arc), np.maximum(high, low) - arc)
        distances = np.hypot(offset_x - t * units[:, 0], offset_y - t * units[:, 1])
        return _Candidates(first, t, distances)

    def _projection(self, x: float, y: float, found: _Candidates, i: int) -> Projection:
        distance = float(found.distance[i])
        if len(self.points) == 1:
            return Projection(0.0, 0.0, distance)
        segment, t = found.first + i, found.t[i]
        u_x, u_y = self._units[segment]
        q_x, q_y = self.points[segment] + t * self._units[segment]
        lateral = float(u_x * (y - q_y) - u_y * (x - q_x))
        return Projection(float(self.arc[segment] + t), lateral, distance)

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
