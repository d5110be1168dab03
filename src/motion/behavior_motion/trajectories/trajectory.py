# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: knots with position, velocity and acceleration, quintic in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_motion.checks import Matrix, Vector
from behavior_motion.interruption import check_interrupted


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Motion of the joints over time.

    Between knots every joint follows the quintic through both knots' positions, velocities and
    accelerations, as a joint trajectory controller does.
    """

    joint_names: tuple[str, ...]
    """Order of the columns."""
    times: Vector
    """Knot times from 0, strictly rising, (N,) [s]."""
    positions: Matrix
    """(N, dof) [rad or m]."""
    velocities: Matrix
    """(N, dof) [rad/s or m/s]."""
    accelerations: Matrix
    """(N, dof) [rad/s^2 or m/s^2]."""

    def __post_init__(self) -> None:
        n, dof = len(self.times), len(self.joint_names)
        if n < 1:
            raise ValueError("times: at least one knot wanted, got none")
        for name in ("positions", "velocities", "accelerations"):
            if getattr(self, name).shape != (n, dof):
                raise ValueError(
                    f"{name}: shape ({n}, {dof}) wanted, got {getattr(self, name).shape}"
                )
        if np.any(np.diff(self.times) <= 0):
            raise ValueError("times: must rise strictly")

    @property
    def duration(self) -> float:
        """Time of the last knot [s]."""
        return float(self.times[-1])

    def sample(self, time: float) -> tuple[Vector, Vector, Vector]:
        """Position, velocity and acceleration at ``time`` [s]; at rest outside the duration."""
        q, qd, qdd = self.sample_many(np.array([time]))
        return q[0], qd[0], qdd[0]

    def sample_many(self, times: NDArray[np.float64]) -> tuple[Matrix, Matrix, Matrix]:
        """Like :meth:`sample` for (M,) times; three (M, dof) arrays."""
        times = np.asarray(times, dtype=np.float64)
        outside = (times < self.times[0]) | (times > self.times[-1])
        if len(self.times) == 1:
            q = np.repeat(self.positions, len(times), axis=0)
            return q, np.zeros_like(q), np.zeros_like(q)
        t = np.clip(times, self.times[0], self.times[-1])
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        h = (self.times[k + 1] - self.times[k])[:, None]
        q, qd, qdd = _quintic(h, (t - self.times[k])[:, None] / h, *self._ends(k, k + 1, h))
        qd[outside] = 0.0
        qdd[outside] = 0.0
        return q, qd, qdd

    def _ends(self, i: Any, j: Any, h: Matrix) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
        """Values and derivatives with respect to s at both ends of intervals of length h."""
        first = (self.positions[i], self.velocities[i] * h, self.accelerations[i] * h * h)
        last = (self.positions[j], self.velocities[j] * h, self.accelerations[j] * h * h)
        return first, last

    def dense_times(self, step: float) -> Vector:
        """Times, the knots included, between which the joints move at most about ``step`` [rad]."""
        moved = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        counts = np.maximum(1, np.ceil(moved / step)).astype(np.int64)
        h = np.repeat(np.diff(self.times) / counts, counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        within = np.arange(len(h)) - first
        return np.append(np.repeat(self.times[:-1], counts) + within * h, self.times[-1])

    def fine_times(self, count: int) -> Vector:
        """``count`` times in every interval, and the last knot's."""
        share = np.linspace(0.0, 1.0, count, endpoint=False)
        h = np.diff(self.times)[:, None]
        return np.append((self.times[:-1, None] + h * share).ravel(), self.times[-1])

    def peaks(self) -> tuple[Vector, Vector, Vector]:
        """Largest speed, acceleration and jerk of every joint, between the knots too, (dof,).

        Accelerations and jerks are exact; speeds are the largest of sixteen samples per interval.
        """
        if len(self.times) == 1:
            nothing = np.zeros(len(self.joint_names))
            return nothing, nothing, nothing
        h = np.diff(self.times)
        first, last = self._ends(slice(None, -1), slice(1, None), h[:, None])
        c1, c2, c3, c4, c5 = _coefficients(first, last)
        share = np.linspace(0.0, 1.0, 16)[:, None, None]
        speeds = c1 + share * (2 * c2 + share * (3 * c3 + share * (4 * c4 + share * 5 * c5)))
        check_interrupted()
        speed = (np.abs(speeds).max(axis=0) / h[:, None]).max(axis=0)
        peak = np.abs(self.accelerations).max(axis=0)
        # The acceleration is a cubic of s: its extremes lie at the roots of a quadratic.
        root = np.sqrt(np.maximum(576 * c4**2 - 1440 * c3 * c5, 0.0))
        safe = np.where(np.abs(c5) > 1e-12, 120 * c5, np.inf)
        middle = np.full_like(c5, 0.5)  # for intervals whose quadratic degenerates
        for s in ((-24 * c4 + root) / safe, (-24 * c4 - root) / safe, middle):
            inside = np.clip(s, 0.0, 1.0)
            _, _, qdd = _quintic(h[:, None], inside, first, last)
            peak = np.maximum(peak, np.abs(qdd).max(axis=0))
        check_interrupted()
        # The jerk is a quadratic of s: its extremes lie at both ends and at its vertex.
        deep = np.where(np.abs(c5) > 1e-12, -c4 / np.where(c5 == 0.0, 1.0, 5 * c5), 0.0)
        jerk = np.zeros_like(peak)
        for s in (np.zeros_like(c5), np.ones_like(c5), np.clip(deep, 0.0, 1.0)):
            third = (6 * c3 + s * (24 * c4 + s * 60 * c5)) / h[:, None] ** 3
            jerk = np.maximum(jerk, np.abs(third).max(axis=0))
        return speed, peak, jerk

    def reversed(self) -> Trajectory:
        """The same motion backwards."""
        return Trajectory(
            self.joint_names,
            self.times[-1] - self.times[::-1],
            self.positions[::-1].copy(),
            -self.velocities[::-1],
            self.accelerations[::-1].copy(),
        )

    def scaled(self, factor: float) -> Trajectory:
        """The same path, ``factor`` times as long."""
        if not factor > 0:
            raise ValueError(f"factor: a number above zero wanted, got {factor!r}")
        return Trajectory(
            self.joint_names,
            self.times * factor,
            self.positions,
            self.velocities / factor,
            self.accelerations / factor**2,
        )

    def from_time(self, time: float) -> Trajectory:
        """What is left from ``time`` [s] on, its own time starting at 0."""
        if time <= self.times[0]:
            return self
        start = min(time, self.duration)
        q, qd, qdd = self.sample_many(np.array([start]))
        later = self.times > start + 1e-9
        return Trajectory(
            self.joint_names,
            np.concatenate([[0.0], self.times[later] - start]),
            np.vstack([q, self.positions[later]]),
            np.vstack([qd, self.velocities[later]]),
            np.vstack([qdd, self.accelerations[later]]),
        )

    def concatenate(self, other: Trajectory) -> Trajectory:
        """This motion, then ``other``; it must start where this one ends (1e-3 rad)."""
        if other.joint_names != self.joint_names:
            raise ValueError(f"other: joints {self.joint_names} wanted, got {other.joint_names}")
        gap = float(np.abs(other.positions[0] - self.positions[-1]).max())
        if gap > 1e-3:
            raise ValueError(f"other: starts {gap:.4f} rad away from the end of this trajectory")
        return Trajectory(
            self.joint_names,
            np.concatenate([self.times, self.duration + other.times[1:]]),
            np.vstack([self.positions, other.positions[1:]]),
            np.vstack([self.velocities, other.velocities[1:]]),
            np.vstack([self.accelerations, other.accelerations[1:]]),
        )


def _coefficients(first: tuple[Matrix, ...], last: tuple[Matrix, ...]) -> tuple[Matrix, ...]:
    """Coefficients 1 to 5 of the quintic on s in [0, 1] with given ends."""
    check_interrupted()
    p0, v0, a0 = first
    p1, v1, a1 = last
    d = p1 - p0
    return (
        v0,
        0.5 * a0,
        10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1,
        -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1,
        6 * d - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1,
    )


def _quintic(
    h: Matrix, s: Matrix, first: tuple[Matrix, ...], last: tuple[Matrix, ...]
) -> tuple[Matrix, Matrix, Matrix]:
    """Position, velocity, acceleration at s in [0, 1] of intervals of length h."""
    c1, c2, c3, c4, c5 = _coefficients(first, last)
    q = first[0] + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    check_interrupted()
    qd = (c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h
    check_interrupted()
    qdd = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / h**2
    return q, qd, qdd
