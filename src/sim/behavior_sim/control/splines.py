# SPDX-License-Identifier: Apache-2.0
"""Splines through the points of a joint trajectory.

What a point gives decides the degree, as in ros2_control: positions alone make a cubic spline with
continuous acceleration (there: linear), with velocities it is cubic, with accelerations quintic.
"""

from bisect import bisect_right
from itertools import accumulate, repeat
from operator import mul

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

Array = NDArray[np.float64]


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
        self._knots = times.tolist()
        # Lowest power first, and velocities beside positions: (segments, powers, 2, joints).
        positions_of = np.swapaxes(spline.c[::-1], 0, 1)
        velocities_of = np.zeros_like(positions_of)
        velocities_of[:, :-1] = np.swapaxes(self._velocity.c[::-1], 0, 1)
        both = np.stack([positions_of, velocities_of], axis=2)
        self._coefficients = both.reshape(*both.shape[:2], -1)
        self._shape = both.shape[2:]
        self._end = (positions[-1].copy(), np.asarray(self._velocity(times[-1])))

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self._knots[-1])

    def sample(self, t: float) -> tuple[Array, Array]:
        """Positions [rad] and velocities [rad/s] at `t` [s]; held at the ends outside."""
        if t >= self._knots[-1]:
            return self._end
        segment = max(0, bisect_right(self._knots, t) - 1)
        coefficients = self._coefficients[segment]
        passed = max(0.0, t - self._knots[segment])
        powers = list(accumulate(repeat(passed, len(coefficients) - 1), mul, initial=1.0))
        position, velocity = (np.array(powers) @ coefficients).reshape(self._shape)
        return position, velocity

    def extremes(self, period: float) -> tuple[Array, Array, Array]:
        """Least and greatest position and greatest speed of each joint, looked at each `period`."""
        times = np.append(np.arange(self._knots[0], self._knots[-1], period), self._knots[-1])
        positions = self._spline(times)
        speeds = np.abs(self._velocity(times))
        return positions.min(axis=0), positions.max(axis=0), speeds.max(axis=0)


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
