# SPDX-License-Identifier: Apache-2.0
"""Driving a differential-drive base to a pose or along a path, as pure mathematics.

Planar poses are (x, y, yaw) [m, rad] in one fixed frame. The controller turns to the next point,
drives with a curvature that brings the base onto it (pure pursuit), slows down so that it can stop
at the end, and turns to the final yaw. Speeds and their changes are bounded.

Source: R. C. Coulter, "Implementation of the Pure Pursuit Path Tracking Algorithm",
CMU-RI-TR-92-01.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from behavior_motion.planar_pose import wrapped
from behavior_skills.interfaces import Array

TURN_FIRST = 0.6
"""[rad] a point further aside is turned to on the spot."""
YAW_GAIN = 2.5
"""[1/s]"""


@dataclass(frozen=True, slots=True)
class BaseLimits:
    """Speeds and accelerations of the base."""

    linear: float = 0.5
    """[m/s]"""
    angular: float = 1.2
    """[rad/s]"""
    linear_acceleration: float = 0.8
    """[m/s^2]"""
    angular_acceleration: float = 3.0
    """[rad/s^2]"""
    lookahead: float = 0.3
    """[m]"""


@dataclass(frozen=True, slots=True)
class BaseGoal:
    """Where to drive."""

    points: Array
    """(N, 2) [m], the last one is the end."""
    yaw: float | None
    """At the end [rad]; None: free."""
    yaws: Array | None = None
    """(N,) at each point [rad], for a base that turns on its way; None: only that at the end."""
    position_tolerance: float = 0.03
    """[m]"""
    yaw_tolerance: float = 0.05
    """[rad]"""
    backwards: bool = False
    """Drive in reverse."""


@dataclass(slots=True)
class BaseMotion:
    """Follows one goal: ask for the twist with each new pose."""

    goal: BaseGoal
    limits: BaseLimits
    _segment: int = field(default=0, init=False)
    _twist: tuple[float, float] = field(default=(0.0, 0.0), init=False)
    _arrived: bool = field(default=False, init=False)
    _turning: bool = field(default=True, init=False)

    def remaining(self, pose: Array) -> float:
        """Way to the end along the rest of the path [m]."""
        points = self.goal.points
        rest = float(np.linalg.norm(np.diff(points[self._segment :], axis=0), axis=1).sum())
        return rest + float(np.linalg.norm(points[self._segment] - pose[:2]))

    def done(self, pose: Array) -> bool:
        """Whether the base is at the goal within its tolerances, the whole path behind it."""
        if self._segment < len(self.goal.points) - 1:
            return False  # a path may lead by its end, or begin there
        off = float(np.linalg.norm(self.goal.points[-1] - pose[:2]))
        # Once there, turning on the spot may shift the base a little.
        near = off <= self.goal.position_tolerance * (1.5 if self._arrived else 1.0)
        yaw = self.goal.yaw
        return near and (yaw is None or abs(wrapped(yaw - pose[2])) <= self.goal.yaw_tolerance)

    def twist(self, pose: Array, dt: float) -> tuple[float, float]:
        """Speed along x [m/s] and about z [rad/s] to command now, `dt` [s] after the last."""
        self._advance(pose)
        wanted = self._wanted(pose)
        limits = (self.limits.linear_acceleration, self.limits.angular_acceleration)
        self._twist = tuple(  # type: ignore[assignment]
            before + float(np.clip(now - before, -limit * dt, limit * dt))
            for now, before, limit in zip(wanted, self._twist, limits, strict=True)
        )
        return self._twist

    def _advance(self, pose: Array) -> None:
        points = self.goal.points
        while self._segment < len(points) - 1:
            if np.linalg.norm(points[self._segment] - pose[:2]) > self.limits.lookahead:
                break
            self._segment += 1
            self._turning = self._turning and self._segment == 0
        if self._segment == len(points) - 1:
            off = float(np.linalg.norm(points[-1] - pose[:2]))
            if off <= self.goal.position_tolerance:
                self._arrived = True
            elif off > 2.0 * self.goal.position_tolerance:
                self._arrived = False

    def _wanted(self, pose: Array) -> tuple[float, float]:
        if self._arrived:
            return 0.0, self._turn_rate(self.goal.yaw, pose)
        way = self.goal.points[self._segment] - pose[:2]
        heading = math.atan2(way[1], way[0]) + (math.pi if self.goal.backwards else 0.0)
        aside = wrapped(heading - pose[2])
        self._turning = abs(aside) > (0.1 if self._turning else TURN_FIRST)
        if self._turning:
            return 0.0, self._turn_rate(heading, pose)
        distance = max(float(np.linalg.norm(way)), 1e-6)
        stop = math.sqrt(2.0 * 0.7 * self.limits.linear_acceleration * self.remaining(pose))
        speed = min(self.limits.linear, stop) * max(0.2, math.cos(aside))
        curvature = 2.0 * math.sin(aside) / max(distance, 0.1)
        if abs(curvature) * speed > self.limits.angular:
            speed = self.limits.angular / abs(curvature)
        return (-speed if self.goal.backwards else speed), curvature * speed

    def _turn_rate(self, yaw: float | None, pose: Array) -> float:
        if yaw is None:
            return 0.0
        aside = wrapped(yaw - pose[2])
        stop = math.sqrt(2.0 * 0.5 * self.limits.angular_acceleration * abs(aside))
        rate = min(self.limits.angular, YAW_GAIN * abs(aside), stop)
        return math.copysign(rate, aside)
