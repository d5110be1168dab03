# SPDX-License-Identifier: Apache-2.0
"""People who walk about, and wait for the robot or do not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.grid import Grid

RADIUS = 0.25
"""[m] of a person's footprint."""
_PERSONAL_SPACE = 0.6
"""[m] between the footprints within which somebody who yields stands still."""
_AT_WAYPOINT = 0.15
"""[m]"""
_PATIENCE = 3.0
"""[s] of waiting, after which somebody goes back."""


@dataclass(slots=True)
class Person:
    """Somebody who walks between waypoints to and fro, or straight on where there are none."""

    name: str
    pose: Pose2D
    speed: float
    """[m/s]"""
    yields: bool = True
    """Stands still while the robot is close in front."""
    route: list[tuple[float, float]] = field(default_factory=list)
    _next: int = 1
    _step: int = 1
    _waited: float = 0.0

    def step(self, dt: float, grid: Grid, robot: Pose2D, robot_radius: float) -> None:
        """Walk for `dt` [s]; turns round at what stands in the way."""
        if self.route:
            self._head_for_waypoint()
        dx, dy = robot.x - self.pose.x, robot.y - self.pose.y
        gap = math.hypot(dx, dy) - robot_radius - RADIUS
        ahead = dx * math.cos(self.pose.yaw) + dy * math.sin(self.pose.yaw) > 0.0
        if ahead and gap < (_PERSONAL_SPACE if self.yields else 0.0):
            self._waited += dt
            if self._waited > _PATIENCE:
                self._turn_round()
            return
        way = self.speed * dt
        x = self.pose.x + way * math.cos(self.pose.yaw)
        y = self.pose.y + way * math.sin(self.pose.yaw)
        # Looks one foot ahead.
        front = np.array(
            [x + RADIUS * math.cos(self.pose.yaw), y + RADIUS * math.sin(self.pose.yaw)]
        )
        if grid.clearance_at(front) <= 0.05:
            self._turn_round()
            return
        self._waited = 0.0
        self.pose = Pose2D(x, y, self.pose.yaw)

    def _head_for_waypoint(self) -> None:
        x, y = self.route[self._next]
        if self.pose.distance_to(x, y) < _AT_WAYPOINT:
            if not 0 <= self._next + self._step < len(self.route):
                self._step = -self._step
            self._next += self._step
            x, y = self.route[self._next]
        self.pose = Pose2D(self.pose.x, self.pose.y, math.atan2(y - self.pose.y, x - self.pose.x))

    def _turn_round(self) -> None:
        self._waited = 0.0
        if self.route:
            self._step = -self._step
            self._next = min(max(self._next + self._step, 0), len(self.route) - 1)
        else:
            self.pose = Pose2D(self.pose.x, self.pose.y, self.pose.yaw + math.pi)
