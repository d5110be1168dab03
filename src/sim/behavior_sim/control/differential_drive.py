# SPDX-License-Identifier: Apache-2.0
"""A base on two driven wheels, without physics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

COMMAND_TIMEOUT = 0.25
"""[s] after which an old command counts no more."""


@dataclass(slots=True)
class DifferentialDrive:
    """A base that rolls without slipping; integrated exactly on arcs."""

    max_linear: float = 1.0
    """[m/s]"""
    max_angular: float = 2.0
    """[rad/s]"""
    linear_acceleration: float = 1.5
    """[m/s^2]"""
    angular_acceleration: float = 6.0
    """[rad/s^2]"""
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    linear: float = 0.0
    angular: float = 0.0
    blocked: bool = False
    """Something holds it: it does not move, whatever is commanded."""
    command_timeout: float = COMMAND_TIMEOUT
    """[s]"""
    _wanted: tuple[float, float] = field(default=(0.0, 0.0), init=False)
    _wanted_at: float = field(default=-math.inf, init=False)

    def command(self, linear: float, angular: float, now: float) -> None:
        """Take a command [m/s, rad/s]; one that is not finite is a stop."""
        finite = math.isfinite(linear) and math.isfinite(angular)
        self._wanted = (linear, angular) if finite else (0.0, 0.0)
        self._wanted_at = now

    def step(self, now: float, dt: float) -> None:
        """Move for `dt` [s] up to `now`."""
        fresh = now - self._wanted_at <= self.command_timeout
        linear, angular = self._wanted if fresh else (0.0, 0.0)
        self.linear = _towards(self.linear, linear, self.max_linear, self.linear_acceleration * dt)
        self.angular = _towards(
            self.angular, angular, self.max_angular, self.angular_acceleration * dt
        )
        if self.blocked:
            self.linear = self.angular = 0.0
        turn = self.angular * dt
        # Chord of the arc: 2 r sin(turn / 2) in the mean direction.
        chord = self.linear * dt * float(np.sinc(turn / (2.0 * math.pi)))
        self.x += chord * math.cos(self.yaw + turn / 2.0)
        self.y += chord * math.sin(self.yaw + turn / 2.0)
        self.yaw = math.remainder(self.yaw + turn, 2.0 * math.pi)


def _towards(now: float, wanted: float, limit: float, step: float) -> float:
    wanted = min(max(wanted, -limit), limit)
    return now + min(max(wanted - now, -step), step)
