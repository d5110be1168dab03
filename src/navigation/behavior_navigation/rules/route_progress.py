# SPDX-License-Identifier: Apache-2.0
"""How far a robot has driven along a route: a quantity of its own, not the nearest place.

Where a route folds back, crosses itself or is driven twice, one position belongs to several places
of it, and only what the robot has driven before tells which. So progress

- never goes back;
- never grows by more than ``GAIN`` times what the robot has driven since, and ``ROOM`` once
  besides, for the noise of both and for what was missed between two looks;
- goes on to the first place ahead that the robot approaches. A place behind a fold or a bend, from
  where the way first leads away again, must be nearer by ``MARGIN``, or lie behind a corner that
  the robot has all but reached (``BUMP``).

Without odometry the changes of the position count as driven. With it, a position that jumps by more
than the wheels turned was corrected by the localizer, and counts as far as ``JUMP``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from behavior_navigation.rules.polyline import Nearby, Polyline

GAIN = 1.5
"""Progress [m] per metre driven at most; more than one, to catch up with corners that were cut."""
ROOM = 0.6
"""[m] that progress may be ahead of what was driven."""
MARGIN = 0.2
"""[m] by which a place behind a bend must be nearer."""
BUMP = 0.12
"""[m] that the way may lead away from the robot before it approaches again."""
JUMP = 2.0
"""[m] of a correction of the localizer that counts as driven."""
NOISE = 0.1
"""[m] between position and odometry that is no correction."""
TIE = 1e-6
"""[m] Distances that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a robot is along a route."""

    s: float
    """[m] arc length."""
    lateral: float
    """[m] offset from the direction of travel there, left positive."""
    distance: float
    """[m] of the robot from there."""


class RouteProgress:
    """Follows one robot along one route."""

    def __init__(
        self, route: Polyline, x: float, y: float, *, begin: float = 0.0, driven: float = 0.0
    ) -> None:
        """Begin on a route, at the first place that the way from its beginning approaches.

        Args:
            route: the route.
            x: of the robot [m].
            y: of the robot [m].
            begin: arc length that is behind the robot already [m].
            driven: since the route was made [m].
        """
        self.route = route
        self._x, self._y = x, y
        self._odometer: float | None = None
        self._lead = ROOM
        found = _approached(route.near(x, y, begin, math.inf), math.inf)
        self.place = self._place(found, x, y)
        self._advance(x, y, GAIN * driven)

    def update(self, x: float, y: float, odometer: float | None = None) -> Place:
        """Take in where the robot is now.

        Args:
            x: [m]
            y: [m]
            odometer: what the robot has driven since ever [m]; None: nobody knows.
        """
        moved = self._moved(x, y, odometer)
        self._x, self._y, self._odometer = x, y, odometer
        self._advance(x, y, GAIN * moved)
        return self.place

    def _advance(self, x: float, y: float, lead: float) -> None:
        self._lead = min(self._lead, ROOM) + lead
        s = self.place.s
        found = _approached(self.route.near(x, y, s, s + self._lead), MARGIN)
        self._lead -= found - s
        self.place = self._place(found, x, y)

    def _moved(self, x: float, y: float, odometer: float | None) -> float:
        moved = math.hypot(x - self._x, y - self._y)
        if odometer is None or self._odometer is None:
            return moved
        driven = max(0.0, odometer - self._odometer)
        correction = moved - driven
        return driven + (min(correction, JUMP) if correction > NOISE else 0.0)

    def _place(self, s: float, x: float, y: float) -> Place:
        q_x, q_y = self.route.point(s)
        return Place(s, self.route.lateral(x, y, s), math.hypot(x - q_x, y - q_y))


class Odometer:
    """Adds up how far a position moved, without what only trembles.

    Args:
        step: [m] that a position must have moved to count.
    """

    def __init__(self, step: float = 0.05) -> None:
        self.total = 0.0
        """[m]"""
        self._step = step
        self._last: tuple[float, float] | None = None

    def update(self, x: float, y: float) -> float:
        """Take in a position [m]; returns the way so far [m]."""
        if self._last is None:
            self._last = (x, y)
        moved = math.hypot(x - self._last[0], y - self._last[1])
        if moved >= self._step:
            self.total += moved
            self._last = (x, y)
        return self.total


def _approached(nearby: Nearby, margin: float) -> float:
    """Arc length of the first place that the way approaches.

    Args:
        nearby: the nearest points of the segments ahead.
        margin: [m] by which a place behind a bend must be nearer.
    """
    distances, corners = nearby.distance.tolist(), nearby.corner.tolist()
    best, here, highest = 0, distances[0], 0.0
    lowest = min(distances)
    for i in range(1, len(distances)):
        if here - lowest <= TIE:
            break  # nothing ahead is nearer
        highest = max(highest, corners[i - 1])
        over_a_bump = highest - here <= BUMP and distances[i] < here - TIE
        if over_a_bump or distances[i] < here - margin:
            best, here, highest = i, distances[i], 0.0
        elif math.isinf(margin) and highest - here > BUMP:
            break
    return float(nearby.s[best])
