# SPDX-License-Identifier: Apache-2.0
"""Routes that fold, cross and repeat, followed by the executor's rules in the navigation world."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.maneuver import Horizons, RouteFollower
from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.regions import RegionIndex
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.path_planner import Maneuver, Mode, Plan
from behavior_sim.navigation.system import Command, NavigationSystem
from behavior_sim.worlds.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
REACH = 0.35
"""[m] by which corners are cut at most."""
ROUTES = {
    "there and back": [(0, 0), (3, 0), (0, 0)],
    "loop": [(0, 0), (1.4, 0), (1.4, 2.5), (-1, 2.5), (-1, 0), (0, 0)],
    "two loops": [(0, 0), (1.4, 0), (1.4, 1.6), (0, 1.6)] * 2 + [(0, 0)],
    "far there and back": [(0, 0), (8, 0), (0, 0)],
    "the same way three times": [(0, 0), (2, 0)] * 3,
    "crossing": [(0, 0), (1.4, 2), (-1, 2), (1.4, 0), (0, 0)],
}
"""[m] from where the robot starts."""


class Follower:
    """The executor in its simplest form: ten times a second a maneuver from where the robot is."""

    def __init__(self, points: list[tuple[float, float]], seed: int) -> None:
        self.system = NavigationSystem(CONFIG, seed=seed)
        self.line = Polyline(points)
        self.route = RouteFollower("r", self.line, Horizons(8.0, 1.0))
        self.track: list[tuple[float, float]] = []
        self.system.on(Command, lambda told: self.system.drive(told.linear, told.angular))
        self.system.on(Plan, self._note)
        self.failures: list[str] = []

    def _note(self, plan: Plan) -> None:
        if not plan.succeeded:
            self.failures.append(plan.text)

    def run(self, limit: float = 150.0) -> bool:
        """Drive until the end of the route; False: not within the time."""
        system = self.system
        system.set_mode(Mode.NOMINAL)
        goal = Pose2D(*self.line.point(math.inf), 0.0)
        while system.now < limit:
            robot = system.estimate
            told = self.route.maneuver(
                Pose2D(robot.x, robot.y, robot.yaw), goal, RegionIndex(()), odometer=None
            )
            end = Pose2D(told.goal.x, told.goal.y, told.goal.yaw)
            place = told.s_robot - told.s_start
            points = told.path if len(told.path) > 1 else np.vstack([told.path, told.path])
            system.set_maneuver(Maneuver(points, end, told.is_final, place=place))
            for _ in range(5):
                system.step()
                self.track.append((system.world.robot.x, system.world.robot.y))
            if self.route.remaining < 0.2 and math.dist(self.track[-1], points[-1]) < 0.2:
                return True
        return False


def passed_in_order(track: list[Any], line: Polyline) -> float:
    """[m] of the line that a track has come by, point after point."""
    places = iter(track)
    for s in np.arange(0.0, line.length, 0.1):
        x, y = line.point(float(s))
        if not any(math.hypot(place[0] - x, place[1] - y) <= REACH for place in places):
            return float(s)
    return line.length


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUTES)
def test_every_place_of_a_route_is_driven_in_its_order(name: str) -> None:
    begin = NavigationSystem(CONFIG).world.robot
    points = [(begin.x + x, begin.y + y) for x, y in ROUTES[name]]
    follower = Follower(points, seed=3)
    arrived = follower.run()
    assert passed_in_order(follower.track, follower.line) == follower.line.length
    assert arrived, f"{follower.route.s:.2f} of {follower.line.length:.2f} m"
    assert follower.failures == []
    assert follower.system.world.collisions == 0
