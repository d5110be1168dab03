# SPDX-License-Identifier: Apache-2.0
"""The screw primitive in closed form: translation along and rotation about one axis at once.

The axis is the x axis of a frame S. With the tool at T0 in S, the pose after the share s of the
motion is ``T(s) = Trans_x(s * translation) * Rot_x(s * rotation) * T0``: exact, without drift,
whatever the axis. Nothing is divided by the tool's distance
from the axis, so that distance may be 0.

Timing: the motion is thought of as K segments of at most 10 degrees and 5 cm. Cruising, each lasts
``dt = base_duration / K`` with ``base_duration = max(|rotation| / w_max, arc / v_max)``; the first
and the last one last 2 dt, in which the speed rises from 0 and falls to 0. The speed in between is
that which gives the limits their name, and nowhere is it higher.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from behavior_skills.interfaces import Array

SEGMENT_ANGLE = math.radians(10.0)
"""[rad] at most in one segment."""
SEGMENT_LENGTH = 0.05
"""[m] of translation at most in one segment."""
LEAST_MOTION = 1e-9
"""[m, rad] less than this is no motion."""


@dataclass(frozen=True)
class ScrewMotion:
    """A tool's motion along a screw; poses are 4x4 in one base frame."""

    base_T_axis: Array
    """The motion is along and about this frame's x axis."""
    base_T_start: Array
    """The tool before it."""
    translation: float
    """[m] along the axis."""
    rotation: float
    """[rad] about the axis."""
    max_linear: float
    """[m/s] of the tool's origin, above 0."""
    max_angular: float
    """[rad/s], above 0."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: a number is not finite, a speed is not above 0, or nothing moves.
        """
        numbers = (self.translation, self.rotation, self.max_linear, self.max_angular)
        poses = (self.base_T_axis, self.base_T_start)
        if not (np.isfinite(numbers).all() and all(np.isfinite(pose).all() for pose in poses)):
            raise ValueError("axis, translation, rotation and speeds must be finite numbers")
        if self.max_linear <= 0.0 or self.max_angular <= 0.0:
            raise ValueError(
                f"the speeds must be above 0, not {self.max_linear} m/s and {self.max_angular} "
                "rad/s"
            )
        if max(abs(self.translation), abs(self.rotation)) < LEAST_MOTION:
            raise ValueError("translation and rotation are both 0: give at least one of them")

    # ------------------------------------------------------------------ space

    @cached_property
    def radius(self) -> float:
        """Distance of the tool from the axis [m]."""
        local = np.linalg.solve(self.base_T_axis, self.base_T_start)
        return math.hypot(local[1, 3], local[2, 3])

    @cached_property
    def arc(self) -> float:
        """Length of the tool's way, a helix [m]."""
        return math.hypot(self.radius * self.rotation, self.translation)

    def pose(self, share: float) -> Array:
        """base_T_tool after a share of the motion, 0..1."""
        turn = share * self.rotation
        c, s = math.cos(turn), math.sin(turn)
        screw = np.array(
            [
                [1.0, 0.0, 0.0, share * self.translation],
                [0.0, c, -s, 0.0],
                [0.0, s, c, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        moved: Array = self.base_T_axis @ screw @ _inverse(self.base_T_axis) @ self.base_T_start
        return moved

    # ------------------------------------------------------------------ time

    @property
    def segments(self) -> int:
        """K, at least 1."""
        parts = abs(self.rotation) / SEGMENT_ANGLE + abs(self.translation) / SEGMENT_LENGTH
        return max(1, math.ceil(parts - 1e-9))

    @property
    def base_duration(self) -> float:
        """[s] that the motion takes at full speed throughout."""
        return max(abs(self.rotation) / self.max_angular, self.arc / self.max_linear)

    @property
    def duration(self) -> float:
        """[s] from rest to rest."""
        return self.base_duration * (1.0 + 2.0 / self.segments)

    @property
    def ramp(self) -> float:
        """[s] in which the speed rises, and in which it falls."""
        return min(2.0 * self.base_duration / self.segments, 0.5 * self.duration)

    def share(self, time: float) -> tuple[float, float]:
        """Share of the motion done at a time [s] since its start, and its rate [1/s].

        The rate rises and falls along a smooth step, so that the acceleration has no jumps.
        """
        duration, ramp = self.duration, self.ramp
        cruise = 1.0 / (duration - ramp)
        t = min(max(time, 0.0), duration)
        if t > duration - ramp:
            done, rate = _rise((duration - t) / ramp)
            return 1.0 - cruise * ramp * done, cruise * rate
        if t < ramp:
            done, rate = _rise(t / ramp)
            return cruise * ramp * done, cruise * rate
        return cruise * (t - 0.5 * ramp), cruise

    def waypoint_times(self) -> Array:
        """[s] at which the ends of the segments are reached, (K + 1,)."""
        times = (np.arange(self.segments + 1) + 1.0) * self.base_duration / self.segments
        times[0], times[-1] = 0.0, self.duration
        return times

    def waypoints(self) -> list[Array]:
        """base_T_tool at the ends of the segments, K + 1 of them."""
        return [self.pose(k / self.segments) for k in range(self.segments + 1)]


def _rise(x: float) -> tuple[float, float]:
    """Integral and value of the smooth step 3 x^2 - 2 x^3 on 0..1."""
    return x**3 - 0.5 * x**4, x * x * (3.0 - 2.0 * x)


def _inverse(pose: Array) -> Array:
    inverse = np.eye(4)
    inverse[:3, :3] = pose[:3, :3].T
    inverse[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return inverse
