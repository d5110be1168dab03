# SPDX-License-Identifier: Apache-2.0
"""The part of the route that the path planner shall follow now (facts B3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_executor.navigation.polyline import Points, Polyline, Projection
from behavior_executor.navigation.poses import Pose2D
from behavior_executor.navigation.regions import Region, RegionIndex
from behavior_executor.navigation.tiles import Tile, stretch_within

SMALLEST_WINDOW = 1.0
"""[m] that the robot's place is searched for ahead and behind, however short the horizons are."""
START_SLACK = 0.2
"""[m] by which a later place must be nearer to count as the robot's place on a new route."""


@dataclass(frozen=True, slots=True)
class Horizons:
    """How much of a route is told."""

    front: float
    """[m] ahead of the robot, along the route, at least 0."""
    rear: float
    """[m] behind it, at least 0."""
    largest_offset: float = 2.0
    """[m] from the route; beyond, the robot's place is searched along all of it."""

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

    def __init__(self, route_id: str, route: Polyline, horizons: Horizons) -> None:
        """Start on a new route; where the robot is on it, the first update finds."""
        self.route_id = route_id
        self.route = route
        self.horizons = horizons
        self.place: Projection | None = None
        """Of the robot at the last update."""

    def update(self, robot: Pose2D) -> Projection:
        """Find the robot's place.

        The search is limited to a window around the last place, so that a route which crosses
        itself or turns back on itself is followed in order. It covers all of the route at first,
        and whenever the robot is further away from the route than it may be.
        """
        place = self.place
        if place is None:
            found = self.route.project_early(robot.x, robot.y, START_SLACK)
        else:
            found = self.route.project(
                robot.x,
                robot.y,
                place.s - max(self.horizons.rear, SMALLEST_WINDOW),
                place.s + max(self.horizons.front, SMALLEST_WINDOW),
            )
            if found.distance > self.horizons.largest_offset:
                found = self.route.project(robot.x, robot.y)
        self.place = found
        return found

    def maneuver(
        self, robot: Pose2D, goal: Pose2D, regions: RegionIndex, tile: Tile | None = None
    ) -> Maneuver:
        """The maneuver for the robot where it is now.

        Args:
            robot: in the frame of the route.
            goal: of the action, in the frame of the route.
            regions: those that the slice touches are attached.
            tile: the maneuver ends where the route leaves it: beyond, there is no map to plan on.
        """
        place = self.update(robot)
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
