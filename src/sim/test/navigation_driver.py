# SPDX-License-Identifier: Apache-2.0
"""What an executor does with the navigation system, in its simplest form."""

from __future__ import annotations

from collections import deque

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.grid import resampled
from behavior_sim.navigation.path_planner import Maneuver, Mode, Plan
from behavior_sim.navigation.routes import PlannedRoute
from behavior_sim.navigation.system import Command, NavigationSystem

FRONT, REAR = 80, 20
"""Horizons in points of 0.1 m."""


class Driver:
    """Drives a system along routes.

    Args:
        system: that is driven.
        late: [s] that velocity commands take to the base.
    """

    def __init__(self, system: NavigationSystem, *, late: float = 0.0) -> None:
        self.system = system
        self.plans: list[Plan] = []
        self._commands: deque[tuple[float, Command]] = deque()
        system.on(Command, lambda command: self._commands.append((system.now + late, command)))
        system.on(Plan, self.plans.append)
        self.wait(0.2)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        until = self.system.now + seconds
        while self.system.now < until:
            self.system.step()
            while self._commands and self._commands[0][0] <= self.system.now + 1e-9:
                _, command = self._commands.popleft()
                self.system.drive(command.linear, command.angular)

    def go(self, goal: Pose2D, *, limit: float = 120.0, avoid: tuple[str, ...] = ()) -> bool:
        """Drive to a goal; returns whether it was reached before another route is recommended."""
        route = self.system.request_route(None, goal, list(avoid))
        assert route is not None
        assert len(route.points), route.text
        return self.follow(route, goal, limit=limit)

    def follow(self, route: PlannedRoute, goal: Pose2D, *, limit: float = 120.0) -> bool:
        """Drive along a route."""
        system, line, at = self.system, resampled(route.points, 0.1), 0
        until = system.now + limit
        self.plans.clear()
        system.set_mode(Mode.NOMINAL)
        try:
            while system.now < until:
                robot = system.estimate
                window = line[at : at + FRONT]
                at += int(np.hypot(*(window - robot.position).T).argmin())
                end = min(at + FRONT, len(line) - 1)
                final = end == len(line) - 1
                points = line[max(at - REAR, 0) : end + 1]
                target = goal if final else Pose2D(*map(float, points[-1]), 0.0)
                place = 0.1 * (at - max(at - REAR, 0))
                system.set_maneuver(Maneuver(points, target, final, place=place))
                self.wait(0.1)
                if system.world.robot.distance_to(goal.x, goal.y) < 0.15:
                    return True
                if self.plans and self.plans[-1].reroute:
                    return False
            return False
        finally:
            system.set_mode(Mode.IDLE)
