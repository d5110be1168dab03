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
from itertools import accumulate, pairwise, starmap

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
    # Numbers one by one: numpy takes many times as long for two of them.
    _points: list[list[float]] = field(init=False)
    _rest: list[float] = field(init=False)
    """Way from each point to the end [m]."""
    _segment: int = field(default=0, init=False)
    _twist: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), init=False)
    """Along x, along y, about z."""

    def __post_init__(self) -> None:
        """Measure the path."""
        self._points = self.goal.points.tolist()
        ways = starmap(math.dist, pairwise(reversed(self._points)))
        self._rest = [*accumulate(ways, initial=0.0)][::-1]

    def remaining(self, pose: Array) -> float:
        """Way to the end along the rest of the path [m]."""
        return self._rest[self._segment] + math.dist(self._points[self._segment], pose[:2].tolist())

    def done(self, pose: Array) -> bool:
        """Whether the base is at the goal within its tolerances, the whole path behind it."""
        if self._segment < len(self._points) - 1:
            return False  # a path may lead by its end, or begin there
        near = math.dist(self._points[-1], pose[:2].tolist()) <= self.goal.position_tolerance
        return near and abs(self._to(self.goal.yaw, pose)) <= self.goal.yaw_tolerance

    def twist(self, pose: Array, dt: float) -> tuple[float, float, float]:
        """Speeds along x [m/s], about z [rad/s] and along y [m/s] to command now, `dt` [s] after
        the last; as `Base.command` takes them.
        """
        x, y, yaw = pose.tolist()
        last = len(self._points) - 1
        while (
            self._segment < last
            and math.dist(self._points[self._segment], (x, y)) <= self.limits.lookahead
        ):
            self._segment += 1
        to_x, to_y = self._points[self._segment]
        distance, remaining = math.dist((to_x, to_y), (x, y)), self.remaining(pose)
        limits = self.limits
        speed = self._slow(limits.linear, limits.linear_acceleration, remaining)
        share = speed / max(distance, 1e-9)
        ahead, beside = (to_x - x) * share, (to_y - y) * share
        c, s = math.cos(yaw), math.sin(yaw)
        aside = self._aside(pose)
        turn = self._slow(limits.angular, limits.angular_acceleration, abs(aside))
        on_the_way = distance if self.goal.yaws is not None else remaining
        if on_the_way > self.goal.position_tolerance:
            turn = min(turn, abs(aside) * speed / on_the_way)
        self._change(
            (c * ahead + s * beside, c * beside - s * ahead, math.copysign(turn, aside)), dt
        )
        along, across, about = self._twist
        return along, about, across

    def _aside(self, pose: Array) -> float:
        """Angle by which it has to turn until the next point [rad]."""
        yaws = self.goal.yaws
        return self._to(self.goal.yaw if yaws is None else float(yaws[self._segment]), pose)

    def _to(self, yaw: float | None, pose: Array) -> float:
        return 0.0 if yaw is None else wrapped(yaw - float(pose[2]))

    def _change(self, wanted: tuple[float, float, float], dt: float) -> None:
        """Come as near to a twist as the accelerations allow within `dt` [s]."""
        along, across, about = self._twist
        x, y, turn = wanted[0] - along, wanted[1] - across, wanted[2] - about
        most = self.limits.linear_acceleration * dt
        share = min(1.0, most / max(math.hypot(x, y), 1e-12))
        most_turn = self.limits.angular_acceleration * dt
        turn = min(max(turn, -most_turn), most_turn)
        self._twist = along + share * x, across + share * y, about + turn

    def _slow(self, fastest: float, acceleration: float, way: float) -> float:
        """Speed from which it can stop within a way [m or rad]."""
        return min(fastest, GAIN * way, math.sqrt(2.0 * BRAKING * acceleration * way))
