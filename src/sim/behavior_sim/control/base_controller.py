# SPDX-License-Identifier: Apache-2.0
"""Drives a base by velocities the way its controller does: ahead, sideways and turning.

Speeds and accelerations are bounded, and the base stands when commands cease. The wheels push with
a bounded force: where something holds the base, the setpoint does not run away from it.
"""

import math
from collections.abc import Sequence

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
_REST = (0.0, 0.0, 0.0)
_STILL = 1e-4
"""[m/s, rad/s] slower than this it stands."""


class BaseController:
    """Setpoint of the base over time; poses are x, y, yaw in the world [m, m, rad].

    Args:
        config: the base.
    """

    def __init__(self, config: SimulatedBase) -> None:
        # Numbers one by one: numpy takes four times as long for three of them.
        self._max_velocity = config.velocity
        self._max_acceleration = config.acceleration
        self._free = (1.0, float(config.omnidirectional), 1.0)
        self._slip = [
            _SLIP * force / stiffness
            for force, stiffness in zip(config.force, config.stiffness, strict=True)
        ]
        self._wanted: Sequence[float] = _REST
        self._twist: Sequence[float] = _REST
        self._pose: Sequence[float] = _REST
        self._commanded = -math.inf
        self._time = 0.0

    @property
    def moving(self) -> bool:
        """Whether it drives, or is told to."""
        return any(self._wanted) or any(self._twist)

    @property
    def driven(self) -> bool:
        """Whether it is told to drive, rather than to stand."""
        return any(self._wanted)

    def remaining(self, t: float) -> float:
        """How long [s] from `t` [s] on it drives as it is told, until it is told anew."""
        return max(0.0, self._commanded + COMMAND_PERIOD - t) if self.driven else 0.0

    def yields(self, pose: Array) -> bool:
        """Whether something has pushed it further off where it stands than its wheels hold it."""
        rows = zip(pose.tolist(), self._pose, self._slip, strict=True)
        return any(abs(where - at) > slip for where, at, slip in rows)

    @property
    def twist(self) -> Array:
        """Speeds ahead, sideways and turning that it drives with [m/s, m/s, rad/s]."""
        return np.array(self._twist)

    def command(self, t: float, twist: Array) -> None:
        """Drive with speeds ahead, sideways and turning [m/s, m/s, rad/s] from `t` [s] on; numbers
        that are not finite stop it.
        """
        if not self.moving:
            self._time = t
        finite = twist.tolist() if np.isfinite(twist).all() else _REST
        rows = zip(finite, self._free, self._max_velocity, strict=True)
        self._wanted = [min(max(speed * free, -most), most) for speed, free, most in rows]
        self._commanded = t

    def reset(self, pose: Array) -> None:
        """Stand at a pose at once; the world was reset."""
        self._pose = pose.tolist()
        self._wanted = self._twist = _REST

    def step(self, t: float, pose: Array) -> tuple[Array, Array]:
        """Setpoints in the world at `t` [s] of pose and velocity, given where the base is."""
        dt, self._time = max(0.0, elapsed(t, self._time)), t
        if elapsed(t, self._commanded) > COMMAND_LIFETIME:
            self._wanted = _REST
        rows = zip(self._twist, self._wanted, self._max_acceleration, strict=True)
        self._twist = [
            now + min(max(wanted - now, -most * dt), most * dt) for now, wanted, most in rows
        ]
        if max(map(abs, self._twist)) < _STILL and not any(self._wanted):
            self._twist = _REST
        ahead, aside, turn = self._twist
        yaw = self._pose[2] + 0.5 * dt * turn
        cosine, sine = math.cos(yaw), math.sin(yaw)
        velocity = [cosine * ahead - sine * aside, sine * ahead + cosine * aside, turn]
        places = zip(self._pose, velocity, pose.tolist(), self._slip, strict=True)
        self._pose = [
            min(max(at + dt * speed, where - slip), where + slip)
            for at, speed, where, slip in places
        ]
        return np.array(self._pose), np.array(velocity)
