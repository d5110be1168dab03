# SPDX-License-Identifier: Apache-2.0
"""Driving an omnidirectional base to a pose or along a path, as pure mathematics.

It drives straight to the next point and turns meanwhile, so that it has the point's yaw when it is
there: along an arc whose points all look at the centre it keeps looking at the centre. Where the
yaw at the end is free it keeps the one that it has. Speeds and their changes are bounded, and it
slows down so that it can stop at the end. Planar poses are (x, y, yaw) [m, rad] in one fixed frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from behavior_motion.planar_pose import wrapped
from behavior_skills.base.motion import BaseGoal, BaseLimits
from behavior_skills.interfaces import Array

GAIN = 2.5
"""[1/s] of the last centimetres and degrees."""
BRAKING = 0.7
"""Part of the acceleration that braking is planned with."""


@dataclass(slots=True)
class OmnidirectionalMotion:
    """Follows one goal: ask for the twist with each new pose."""

    goal: BaseGoal
    limits: BaseLimits
    _segment: int = field(default=0, init=False)
    _twist: Array = field(default_factory=lambda: np.zeros(3), init=False)

    def remaining(self, pose: Array) -> float:
        """Way to the end along the rest of the path [m]."""
        points = self.goal.points
        rest = float(np.linalg.norm(np.diff(points[self._segment :], axis=0), axis=1).sum())
        return rest + float(np.linalg.norm(points[self._segment] - pose[:2]))

    def done(self, pose: Array) -> bool:
        """Whether the base is at the goal within its tolerances, and slow."""
        off = float(np.linalg.norm(self.goal.points[-1] - pose[:2]))
        near = off <= self.goal.position_tolerance
        return near and abs(self._to(self.goal.yaw, pose)) <= self.goal.yaw_tolerance

    def twist(self, pose: Array, dt: float) -> tuple[float, float, float]:
        """Speeds along x [m/s], about z [rad/s] and along y [m/s] to command now, `dt` [s] after
        the last; as `Base.command` takes them.
        """
        points = self.goal.points
        while self._segment < len(points) - 1:
            if np.linalg.norm(points[self._segment] - pose[:2]) > self.limits.lookahead:
                break
            self._segment += 1
        way = points[self._segment] - pose[:2]
        distance = float(np.linalg.norm(way))
        limits = self.limits
        speed = self._slow(limits.linear, limits.linear_acceleration, self.remaining(pose))
        ahead = way / max(distance, 1e-9) * speed
        c, s = math.cos(pose[2]), math.sin(pose[2])
        aside = self._aside(pose)
        turn = self._slow(limits.angular, limits.angular_acceleration, abs(aside))
        on_the_way = distance if self.goal.yaws is not None else self.remaining(pose)
        if on_the_way > self.goal.position_tolerance:
            turn = min(turn, abs(aside) * speed / on_the_way)
        wanted = np.array(
            [c * ahead[0] + s * ahead[1], c * ahead[1] - s * ahead[0], math.copysign(turn, aside)]
        )
        self._twist = self._twist + self._bounded(wanted - self._twist, dt)
        x, y, z = self._twist.tolist()
        return x, z, y

    def _aside(self, pose: Array) -> float:
        """Angle by which it has to turn until the next point [rad]."""
        yaws = self.goal.yaws
        return self._to(self.goal.yaw if yaws is None else float(yaws[self._segment]), pose)

    def _to(self, yaw: float | None, pose: Array) -> float:
        return 0.0 if yaw is None else wrapped(yaw - pose[2])

    def _bounded(self, change: Array, dt: float) -> Array:
        """A change of the twist that the accelerations allow."""
        most = self.limits.linear_acceleration * dt
        length = float(np.linalg.norm(change[:2]))
        turn = self.limits.angular_acceleration * dt
        bounded = change * min(1.0, most / max(length, 1e-12))
        bounded[2] = float(np.clip(change[2], -turn, turn))
        return bounded

    def _slow(self, fastest: float, acceleration: float, way: float) -> float:
        """Speed from which it can stop within a way [m or rad]."""
        return min(fastest, GAIN * way, math.sqrt(2.0 * BRAKING * acceleration * way))
