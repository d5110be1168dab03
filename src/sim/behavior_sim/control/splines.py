# SPDX-License-Identifier: Apache-2.0
"""Splines through the points of a joint trajectory.

What a point gives decides the degree, as in ros2_control: positions alone make a cubic spline with
continuous acceleration (there: linear), with velocities it is cubic, with accelerations quintic.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

Array = NDArray[np.float64]

_SAME_TIME = 1e-9
"""[s]"""


class JointSpline:
    """Positions, velocities and accelerations of n joints over time.

    Args:
        times: (k,) [s], growing.
        positions: (k, n) [rad].
        velocities: (k, n) [rad/s], or None: zero at both ends, smooth between.
        accelerations: (k, n) [rad/s^2], or None; needs `velocities`.
        start_velocity: (n,) [rad/s] at the first point, where `velocities` is None.
    """

    def __init__(
        self,
        times: Array,
        positions: Array,
        velocities: Array | None = None,
        accelerations: Array | None = None,
        *,
        start_velocity: Array | None = None,
    ) -> None:
        if velocities is None:
            rest = np.zeros(positions.shape[1])
            first = rest if start_velocity is None else start_velocity
            spline: PPoly = CubicSpline(times, positions, bc_type=((1, first), (1, rest)))
        elif accelerations is None:
            spline = CubicHermiteSpline(times, positions, velocities)
        else:
            spline = _quintic(times, positions, velocities, accelerations)
        self._spline = spline
        self._velocity = spline.derivative()
        self._begin, self.duration = float(times[0]), float(times[-1])
        """Time of the first point, and of the last one [s]."""

    def sample(self, t: float | Array) -> tuple[Array, Array]:
        """Positions [rad] and velocities [rad/s], (n,) each, or (k, n) at k times; held at the ends
        outside.

        Args:
            t: [s], or (k,).
        """
        inside = np.minimum(np.maximum(t, self._begin), self.duration)
        return self._spline(inside), self._velocity(inside)

    def extremes(self, period: float) -> tuple[Array, Array, Array]:
        """Least and greatest position and greatest speed of each joint, looked at each `period`."""
        times = np.append(np.arange(self._begin, self.duration, period), self.duration)
        positions, velocities = self.sample(times)
        return positions.min(axis=0), positions.max(axis=0), np.abs(velocities).max(axis=0)


class Setpoints:
    """Samples of a spline, one period after the other: some at once take no longer than one.

    Args:
        spline: of which.
        period: from one to the next [s].
    """

    _AHEAD = 16

    def __init__(self, spline: JointSpline, period: float) -> None:
        self._spline, self._period = spline, period
        self._times: Array = period * np.arange(self._AHEAD, dtype=np.float64)
        self._first = 0.0
        self._positions = self._velocities = np.empty((0, 0))

    @property
    def duration(self) -> float:
        """Time of the spline's last point [s]."""
        return self._spline.duration

    def at(self, t: float) -> tuple[Array, Array]:
        """As `JointSpline.sample`, at any `t` [s] to a nanosecond."""
        index = round((t - self._first) / self._period)
        is_known = 0 <= index < len(self._positions)
        if not is_known or abs(self._first + index * self._period - t) > _SAME_TIME:
            self._first, index = t, 0
            self._positions, self._velocities = self._spline.sample(self._times + t)
        return self._positions[index], self._velocities[index]


def _quintic(times: Array, positions: Array, velocities: Array, accelerations: Array) -> PPoly:
    """The polynomials of degree 5 from each point to the next, all at once."""
    step = np.diff(times)[:, None]
    start, speed, bend = positions[:-1], velocities[:-1], 0.5 * accelerations[:-1]
    # What is missing at each segment's end, as if each had the duration 1.
    way = positions[1:] - (start + step * (speed + step * bend))
    faster = step * (velocities[1:] - (speed + 2.0 * step * bend))
    more = 0.5 * step**2 * np.diff(accelerations, axis=0)
    highest = (6.0 * way - 3.0 * faster + more) / step**5
    fourth = (-15.0 * way + 7.0 * faster - 2.0 * more) / step**4
    third = (10.0 * way - 4.0 * faster + more) / step**3
    return PPoly(np.stack([highest, fourth, third, bend, speed, start]), times)
