# SPDX-License-Identifier: Apache-2.0
"""A route that the client gave: all of it has to be driven, in its order.

What the route planner finds is only a way to somewhere. It serves a route that was given by leading
to its beginning, or around what blocks it and back to it; the rest of the given route follows.
"""

from __future__ import annotations

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.maneuver import Horizons, RouteFollower, route_polyline
from behavior_navigation.rules.polyline import Points, Polyline

JOIN = 1.0
"""[m] of the route's beginning that a robot which stands beside it need not go back for."""


class GivenRoute:
    """One route, and how much of it is behind the robot."""

    def __init__(self, route_id: str, horizons: Horizons) -> None:
        """Begin before its first point; where that is, `place` tells."""
        self.route_id = route_id
        self.s = 0.0
        """[m] of it that is behind the robot; grows only."""
        self.left_out = 0.0
        """[m] of it that were blocked, and driven around."""
        self._horizons = horizons
        self._line = Polyline([(0.0, 0.0)])
        self._target = 0.0
        self._joins_at, self._joined = 0.0, 0.0

    def place(self, points: Points) -> None:
        """Say where it is now, shape (n, 2) [m]: its frame may move."""
        before, self._line = self._line.length, Polyline(points)
        if before > 0.0:
            self.s *= self._line.length / before

    def set_out(self, robot: Pose2D, odometer: float | None) -> RouteFollower | None:
        """Drive on it from here; None: the robot has to be led to it first."""
        line = self._line
        if len(line.points) == 1:
            line = route_polyline(line.points, robot)
        follower = RouteFollower(self.route_id, line, self._horizons, begin=self.s)
        found = follower.update(robot, odometer)
        near = line.length if len(self._line.points) == 1 else found.distance
        if near > self._horizons.largest_offset or found.s - self.s > JOIN:
            return None
        self._joins_at = self._joined = 0.0
        return follower

    def led_to(self) -> Pose2D:
        """Where the robot has to be led so that it goes on where it was."""
        return self._led_to(self.s)

    def led_past(self, robot: Pose2D, lookahead: float) -> Pose2D:
        """Where the robot has to be led because the next `lookahead` [m] are blocked.

        That is the first point that was given beyond. A robot that is far off is no robot that
        stands before an obstacle: it goes on where it was.
        """
        x, y = self._line.point(self.s)
        if robot.distance(Pose2D(x, y)) > self._horizons.largest_offset:
            return self.led_to()
        beyond = self._line.arc[self._line.arc >= self.s + lookahead]
        return self._led_to(float(beyond[0]) if len(beyond) else self._line.length)

    def spliced(self, way: Points) -> Polyline | None:
        """The way (n, 2) [m] that was asked for, and what is left of the route where it ends.

        None: the robot has passed the place already, so the way is not needed.
        """
        if self._target < self.s:
            return None
        rest = self._line.slice(self._target, self._line.length)
        line = Polyline(np.vstack([way, rest]))
        self._joined = self._target
        self._joins_at = line.length - (self._line.length - self._target)
        return line

    def driven(self, s: float) -> None:
        """The robot is at this arc length of the route that it follows [m]."""
        own = self._joined + s - self._joins_at
        if s >= self._joins_at and own > self.s:
            self.left_out += max(0.0, self._joined - self.s)
            self.s = min(own, self._line.length)

    def _led_to(self, s: float) -> Pose2D:
        self._target = s
        return Pose2D(*self._line.point(s), self._line.heading(s))
