# SPDX-License-Identifier: Apache-2.0
"""The part of the route that the path planner shall follow now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.polyline import Points, Polyline
from behavior_navigation.rules.regions import Region, RegionIndex
from behavior_navigation.rules.route_progress import Place, RouteProgress
from behavior_navigation.rules.tiles import Tile, stretch_within


@dataclass(frozen=True, slots=True)
class Horizons:
    """How much of a route is told."""

    front: float
    """[m] ahead of the robot, along the route, at least 0."""
    rear: float
    """[m] behind it, at least 0."""
    largest_offset: float = 2.0
    """[m] from its place on a route that the client gave, with which the robot may set out on it;
    from farther away a way there is asked for."""

    def __post_init__(self) -> None:
        """Check.

        Raises:
            ValueError: a horizon is negative, or the offset not positive.
        """
        if not (self.front >= 0.0 and self.rear >= 0.0 and self.largest_offset > 0.0):
            raise ValueError(f"horizons must not be negative, the offset positive: {self}")


@dataclass(frozen=True, eq=False)
class Maneuver:
    """A slice of a route with its goal; poses and lengths in the frame of the route."""

    route_id: str
    path: Points
    """Shape (m, 2) [m], m >= 1."""
    goal: Pose2D
    """End of the slice, or the action's goal when final."""
    is_final: bool
    s_start: float
    """[m] along the route."""
    s_robot: float
    s_end: float
    route_length: float
    lateral_offset: float
    """[m] of the robot from the route, left positive."""
    regions: tuple[Region, ...] = ()

    @property
    def distance_remaining(self) -> float:
        """[m] along the route."""
        return self.route_length - self.s_robot


class RouteFollower:
    """Keeps track of the robot's place on one route, and cuts maneuvers out of it."""

    def __init__(
        self,
        route_id: str,
        route: Polyline,
        horizons: Horizons,
        *,
        begin: float = 0.0,
        driven: float = 0.0,
    ) -> None:
        """Start on a new route; where the robot is on it, the first update finds.

        Args:
            route_id: tells it from others.
            route: in the frame of the robot's poses.
            horizons: of the maneuvers.
            begin: arc length that is behind the robot already [m].
            driven: by the robot since the route was asked for [m].
        """
        self.route_id = route_id
        self.route = route
        self.horizons = horizons
        self._begin = self._joined = begin
        self._driven = driven
        self._progress: RouteProgress | None = None

    @property
    def place(self) -> Place | None:
        """Of the robot at the last update."""
        return self._progress.place if self._progress is not None else None

    @property
    def s(self) -> float:
        """[m] arc length that is behind the robot; grows only."""
        return self.place.s if self.place is not None else self._begin

    @property
    def covered(self) -> float:
        """[m] driven along it since the first update."""
        return self.s - self._joined if self._progress is not None else 0.0

    @property
    def remaining(self) -> float:
        """[m] of the route that is still to be driven."""
        return self.route.length - self.s

    def update(self, robot: Pose2D, odometer: float | None = None) -> Place:
        """Find how far along the route the robot is now.

        Args:
            robot: in the frame of the route.
            odometer: what it has driven since ever [m]; None: nobody knows.
        """
        if self._progress is None:
            self._progress = RouteProgress(
                self.route, robot.x, robot.y, begin=self._begin, driven=self._driven
            )
            self._joined = self._progress.place.s
        return self._progress.update(robot.x, robot.y, odometer)

    def maneuver(
        self,
        robot: Pose2D,
        goal: Pose2D,
        regions: RegionIndex,
        tile: Tile | None = None,
        *,
        odometer: float | None = None,
    ) -> Maneuver:
        """The maneuver for the robot where it is now.

        Args:
            robot: in the frame of the route.
            goal: of the action, in the frame of the route.
            regions: those that the slice touches are attached.
            tile: the maneuver ends where the route leaves it: beyond, there is no map to plan on.
            odometer: what the robot has driven since ever [m]; None: nobody knows.
        """
        place = self.update(robot, odometer)
        route = self.route
        s_start = max(0.0, place.s - self.horizons.rear)
        s_end = min(route.length, place.s + self.horizons.front)
        if tile is not None:
            s_start, s_end = stretch_within(tile, route, place.s, s_start, s_end)
        is_final = s_end >= route.length
        path = route.slice(s_start, s_end)
        end = Pose2D(*route.point(s_end), route.heading(s_end))
        return Maneuver(
            route_id=self.route_id,
            path=path,
            goal=goal if is_final else end,
            is_final=is_final,
            s_start=s_start,
            s_robot=place.s,
            s_end=s_end,
            route_length=route.length,
            lateral_offset=place.lateral,
            regions=regions.touched_by(path),
        )


def route_polyline(points: Points, robot: Pose2D) -> Polyline:
    """The polyline of a route; one that is a single point leads there straight from the robot."""
    line = Polyline(points)
    if len(line.points) == 1:
        return Polyline(np.vstack([[robot.x, robot.y], line.points]))
    return line
