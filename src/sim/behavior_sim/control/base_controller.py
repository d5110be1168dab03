# SPDX-License-Identifier: Apache-2.0
"""Drives a base by velocities the way its controller does: ahead, sideways and turning.

Speeds and accelerations are bounded, and the base stands when commands cease. The wheels push with
a bounded force: where something holds the base, the setpoint does not run away from it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from behavior_sim.goals import elapsed
from behavior_sim.worlds.robot import SimulatedBase

Array = NDArray[np.float64]

COMMAND_LIFETIME = 0.5
"""[s] after which a velocity that was not told again is over."""
COMMAND_PERIOD = 0.06
"""[s] from one velocity to the next: 50 ms at the least, and a robot tells its pose every 20 ms."""
_SLIP = 2.0
"""The setpoint is so many times as far ahead at most as what the wheels' full force takes."""
_STILL = 1e-4
"""[m/s, rad/s] slower than this it stands."""


class BaseController:
    """Setpoint of the base over time; poses are x, y, yaw in the world [m, m, rad].

    Args:
        config: the base.
    """

    def __init__(self, config: SimulatedBase) -> None:
        self._max_velocity = np.array(config.velocity)
        self._max_acceleration = np.array(config.acceleration)
        self._free = np.array([1.0, float(config.omnidirectional), 1.0])
        self._slip = _SLIP * np.array(config.force) / np.array(config.stiffness)
        self._wanted = np.zeros(3)
        self._twist = np.zeros(3)
        self._pose = np.zeros(3)
        self._commanded = -math.inf
        self._time = 0.0

    @property
    def moving(self) -> bool:
        """Whether it drives, or is told to."""
        return bool(self._wanted.any() or self._twist.any())

    @property
    def driven(self) -> bool:
        """Whether it is told to drive, rather than to stand."""
        return bool(self._wanted.any())

    def remaining(self, t: float) -> float:
        """How long [s] from `t` [s] on it drives as it is told, until it is told anew."""
        return max(0.0, self._commanded + COMMAND_PERIOD - t) if self.driven else 0.0

    def yields(self, pose: Array) -> bool:
        """Whether something has pushed it further off where it stands than its wheels hold it."""
        return bool((np.abs(pose - self._pose) > self._slip).any())

    @property
    def twist(self) -> Array:
        """Speeds ahead, sideways and turning that it drives with [m/s, m/s, rad/s]."""
        return self._twist

    def command(self, t: float, twist: Array) -> None:
        """Drive with speeds ahead, sideways and turning [m/s, m/s, rad/s] from `t` [s] on; numbers
        that are not finite stop it.
        """
        if not self.moving:
            self._time = t
        finite = twist if np.isfinite(twist).all() else np.zeros(3)
        self._wanted = np.clip(finite * self._free, -self._max_velocity, self._max_velocity)
        self._commanded = t

    def reset(self, pose: Array) -> None:
        """Stand at a pose at once; the world was reset."""
        self._pose = pose.copy()
        self._wanted, self._twist = np.zeros(3), np.zeros(3)

    def step(self, t: float, pose: Array) -> tuple[Array, Array]:
        """Setpoints in the world at `t` [s] of pose and velocity, given where the base is."""
        dt, self._time = max(0.0, elapsed(t, self._time)), t
        if elapsed(t, self._commanded) > COMMAND_LIFETIME:
            self._wanted = np.zeros(3)
        most = self._max_acceleration * dt
        self._twist = self._twist + np.clip(self._wanted - self._twist, -most, most)
        if (np.abs(self._twist) < _STILL).all() and not self._wanted.any():
            self._twist = np.zeros(3)
        yaw = self._pose[2] + 0.5 * dt * self._twist[2]
        velocity = np.array(
            [
                math.cos(yaw) * self._twist[0] - math.sin(yaw) * self._twist[1],
                math.sin(yaw) * self._twist[0] + math.cos(yaw) * self._twist[1],
                self._twist[2],
            ]
        )
        self._pose = np.clip(self._pose + dt * velocity, pose - self._slip, pose + self._slip)
        return self._pose, velocity
