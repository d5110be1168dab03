# SPDX-License-Identifier: Apache-2.0
"""From paths to trajectories within velocity, acceleration and jerk limits.

Straight lines in joint space: one ruckig profile along the line, jerk-limited and time-optimal.
Curves: TOPP-RA gives the fastest speed profile along the curve; a moving average over time then
makes its acceleration continuous (bounding the jerk), and the result is measured between its knots
and slowed down by as much as it exceeds any limit. Ruckig's waypoint mode is never used: it calls
a cloud service.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import ruckig
import toppra
import toppra.algorithm
import toppra.constraint
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly

from behavior_motion.checks import Matrix, Vector, as_joints, scaling_factor
from behavior_motion.interruption import check_interrupted
from behavior_motion.limits import MOST_KNOTS
from behavior_motion.robot.model import RobotModel
from behavior_motion.trajectories.trajectory import Trajectory

logging.getLogger("toppra").setLevel(logging.ERROR)

KNOT_PERIOD = 0.01
"""Longest time between knots of a trajectory of up to ``MOST_KNOTS`` knots [s]."""
RAMP_TIME = 0.04
"""Shortest time in which full acceleration builds up [s]: keeps the quintics between knots close
to the profile, and arms with very high jerk limits from hammering."""
PROFILE_TRIES = 4
"""How often a profile is asked for, ..."""
GENTLER = 0.999
"""... each time with this part of the jerk before."""

BETWEEN_SAMPLES = 1e-5
"""By which part a speed may be greater between two samples than at them."""


class TimingError(RuntimeError):
    """No timing of the path satisfies the limits."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of the joints, each (dof,)."""

    joint_names: tuple[str, ...]
    velocity: Vector
    """[rad/s or m/s]."""
    acceleration: Vector
    """[rad/s^2 or m/s^2]."""
    jerk: Vector
    """[rad/s^3 or m/s^3]."""

    @classmethod
    def of(
        cls,
        robot: RobotModel,
        velocity_scaling: float | None = None,
        acceleration_scaling: float | None = None,
    ) -> JointLimits:
        """The robot's limits, scaled; None takes the robot's default scaling."""
        default = robot.config.default_scaling
        v = _scaling("velocity_scaling", velocity_scaling, default.velocity)
        a = _scaling("acceleration_scaling", acceleration_scaling, default.acceleration)
        return cls(
            robot.joint_names,
            robot.velocity_limits * v,
            robot.acceleration_limits * a,
            robot.jerk_limits * a,
        )

    @cached_property
    def shaping_jerk(self) -> Vector:
        """The jerk that profiles are made with: the limit, or less; see ``RAMP_TIME``."""
        return np.minimum(self.jerk, self.acceleration / RAMP_TIME)

    def slowdown(self, trajectory: Trajectory) -> float:
        """How many times slower a motion must be to keep the limits between its knots too.

        Slowing down by a factor lowers speed by it, acceleration by its square, jerk by its cube.
        """
        speed, acceleration, jerk = trajectory.peaks()
        return max(
            float(np.max(speed / self.velocity)) * (1 + BETWEEN_SAMPLES),
            float(np.sqrt(np.max(acceleration / self.acceleration))),
            float(np.cbrt(np.max(jerk / self.jerk))),
        )


def _scaling(name: str, given: float | None, default: float) -> float:
    return default if given is None else scaling_factor(name, given)


def resting(joint_names: tuple[str, ...], q: Vector) -> Trajectory:
    """A trajectory of no duration at ``q``."""
    zero = np.zeros((1, len(q)))
    return Trajectory(joint_names, np.zeros(1), np.array(q)[None], zero, zero)


def time_straight(start: Vector, goal: Vector, limits: JointLimits) -> Trajectory:
    """Straight line in joint space from rest to rest."""
    way = goal - start
    moving = np.abs(way) > 1e-9
    if not moving.any():
        return resting(limits.joint_names, goal)
    bound = [
        float(np.min(limit[moving] / np.abs(way[moving])))
        for limit in (limits.velocity, limits.acceleration, limits.shaping_jerk)
    ]
    profile = ruckig.InputParameter(1)
    profile.current_position, profile.target_position = [0.0], [1.0]
    profile.max_velocity, profile.max_acceleration, profile.max_jerk = ([b] for b in bound)
    times, s, sd, sdd = _run_ruckig(profile)
    return _within_limits(
        Trajectory(limits.joint_names, times, start + s * way, sd * way, sdd * way),
        limits,
    )


def stop_trajectory(
    q: ArrayLike,
    qd: ArrayLike,
    limits: JointLimits | RobotModel,
    *,
    qdd: ArrayLike | None = None,
    together: bool = True,
) -> Trajectory:
    """Bring moving joints to rest as fast as acceleration and jerk limits allow.

    Args:
        q: Present joints, (dof,) [rad].
        qd: Present velocities, (dof,) [rad/s].
        limits: Limits; a robot means its full ones.
        qdd: Present accelerations, (dof,) [rad/s^2]; by default none.
        together: All joints come to rest at the same time, so that the arm stays near its path;
            else each as soon as it can, so that none runs into the end of its range that need not.
    """
    if isinstance(limits, RobotModel):
        limits = JointLimits.of(limits, 1.0, 1.0)
    position, velocity, acceleration = _as_state(q, qd, qdd, limits)
    if _rests(velocity, acceleration):
        return resting(limits.joint_names, position)
    profile = _stop_profile(position, velocity, acceleration, limits)
    if not together:
        profile.synchronization = ruckig.Synchronization.No
    return Trajectory(limits.joint_names, *_run_ruckig(profile))


def stop_states(
    q: ArrayLike, qd: ArrayLike, limits: JointLimits, *, qdd: ArrayLike, count: int
) -> Matrix:
    """Joints at even times of :func:`stop_trajectory`, each joint for itself, (count, dof) [rad].

    The first is ``q``, the last where all have come to rest. Nothing else of the motion is made:
    a tenth of its time.
    """
    position, velocity, acceleration = _as_state(q, qd, qdd, limits)
    if _rests(velocity, acceleration):
        return np.tile(position, (count, 1))
    profile = _stop_profile(position, velocity, acceleration, limits)
    profile.synchronization = ruckig.Synchronization.No
    motion = _solved(profile)
    return np.array([motion.at_time(motion.duration * k / (count - 1))[0] for k in range(count)])


def _as_state(
    q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None, limits: JointLimits
) -> tuple[Vector, Vector, Vector]:
    names = limits.joint_names
    still = np.zeros(len(names))
    acceleration = still if qdd is None else as_joints("qdd", qdd, names)
    return as_joints("q", q, names), as_joints("qd", qd, names), acceleration


def _rests(velocity: Vector, acceleration: Vector) -> bool:
    return bool(np.abs(velocity).max() < 1e-9 and np.abs(acceleration).max() < 1e-9)


def _stop_profile(
    position: Vector, velocity: Vector, acceleration: Vector, limits: JointLimits
) -> ruckig.InputParameter:
    """What brings moving joints to rest as fast as limits allow."""
    dof = len(position)
    profile = ruckig.InputParameter(dof)
    profile.control_interface = ruckig.ControlInterface.Velocity
    profile.current_position = position.tolist()
    profile.current_velocity = velocity.tolist()
    profile.current_acceleration = acceleration.tolist()
    profile.target_velocity = [0.0] * dof
    profile.max_acceleration = limits.acceleration.tolist()
    profile.max_jerk = limits.shaping_jerk.tolist()
    return profile


def _solved(profile: ruckig.InputParameter) -> ruckig.Trajectory:
    """The motion of a profile, whose jerk may be lowered for it.

    Where phases of a motion vanish, as where full acceleration is reached for a moment just as half
    of the way is done, rounding lets ruckig find none: next to it there is one.
    """
    solver = ruckig.Ruckig(profile.degrees_of_freedom)
    motion = ruckig.Trajectory(profile.degrees_of_freedom)
    for _ in range(PROFILE_TRIES):
        try:
            solver.calculate(profile, motion)
        except ruckig.RuckigError:
            profile.max_jerk = [GENTLER * jerk for jerk in profile.max_jerk]
        else:
            return motion
    raise TimingError("ruckig found no profile within the limits")


def _run_ruckig(profile: ruckig.InputParameter) -> tuple[Vector, Matrix, Matrix, Matrix]:
    motion = _solved(profile)
    times = _knots(motion)
    parts = []
    for piece in np.array_split(times, len(times) // 1000 + 1):
        check_interrupted()
        parts.append(np.array([motion.at_time(t)[:3] for t in piece]))
    q, qd, qdd = np.concatenate(parts).transpose(1, 0, 2)
    return times, q, qd, qdd


def _knots(motion: ruckig.Trajectory) -> Vector:
    """Knot times: wherever a joint's jerk changes, so that each piece is a cubic, and between."""
    changes = [0.0, motion.duration]
    for profile in motion.profiles[0]:
        changes.extend(np.cumsum([*profile.brake.t, *profile.t]))
    exact = np.unique(np.clip(changes, 0.0, motion.duration))
    exact = exact[np.concatenate([[True], np.diff(exact) > 1e-7])]
    exact[-1] = motion.duration
    regular = _regular(motion.duration)
    gap = np.abs(regular[:, None] - exact[None, :]).min(axis=1)
    times: Vector = np.sort(np.concatenate([exact, regular[gap > 0.2 * regular[1]]]))
    return times


def _regular(duration: float) -> Vector:
    """Times from 0 to a duration, evenly apart; at least two."""
    times: Vector = np.linspace(
        0.0, duration, min(max(2, int(np.ceil(duration / KNOT_PERIOD)) + 1), MOST_KNOTS)
    )
    return times


class _Curve(toppra.interpolator.AbstractGeometricPath):  # type: ignore[misc, unused-ignore]
    """A piecewise polynomial in the form that TOPP-RA asks for."""

    def __init__(self, curve: PPoly) -> None:
        self._derivatives = (curve, curve.derivative(1), curve.derivative(2))

    def __call__(self, path_positions: Vector | float, order: int = 0) -> Matrix:
        values: Matrix = self._derivatives[order](path_positions)
        return values

    @property
    def dof(self) -> int:
        return int(self._derivatives[0].c.shape[2])

    @property
    def path_interval(self) -> Vector:
        return np.array([self._derivatives[0].x[0], self._derivatives[0].x[-1]])


def time_curve(curve: PPoly, limits: JointLimits) -> Trajectory:
    """Fastest motion along a curve from rest to rest; see :func:`time_curve_at`."""
    return time_curve_at(curve, limits, np.zeros(0))[0]


def time_curve_at(
    curve: PPoly,
    limits: JointLimits,
    marks: Vector,
    *,
    max_speed: tuple[PPoly, float] | None = None,
) -> tuple[Trajectory, Vector]:
    """Fastest motion along a curve from rest to rest, and when it passes the marks [s].

    Args:
        curve: Joints as a twice differentiable function of a path parameter.
        limits: Limits of the joints.
        marks: Path parameters, (M,).
        max_speed: A scalar function of the same parameter (PPoly of one column), and the largest
            rate at which it may change: the tool's distance [m] and speed [m/s], say.

    Raises:
        TimingError: TOPP-RA finds no profile.
    """
    geometry = _Curve(curve)
    velocity, path = limits.velocity, geometry
    if max_speed is not None:
        path = _Curve(_side_by_side(curve, max_speed[0]))
        velocity = np.append(limits.velocity, max_speed[1])
    # The moving average spends this much longer; its window also bounds the jerk.
    window = max(RAMP_TIME, float(np.max(2 * limits.acceleration / limits.shaping_jerk)))
    s, sd = _speed_profile(path, velocity, limits.acceleration)
    times, s_of_t = _smoothed(s, sd, window)
    position, speed, rate = s_of_t
    first, second = geometry(position, 1), geometry(position, 2)
    trajectory = Trajectory(
        limits.joint_names,
        times,
        geometry(position, 0),
        first * speed[:, None],
        second * speed[:, None] ** 2 + first * rate[:, None],
    )
    limited = _within_limits(trajectory, limits)
    passed = np.interp(marks, position, limited.times)
    return limited, passed


def _side_by_side(curve: PPoly, other: PPoly) -> PPoly:
    if len(other.c) < len(curve.c):
        filler = np.zeros((len(curve.c) - len(other.c), *other.c.shape[1:]))
        other = PPoly(np.concatenate([filler, other.c]), other.x)
    return PPoly(np.concatenate([curve.c, other.c], axis=2), curve.x)


class _TOPPRA(toppra.algorithm.TOPPRA):  # type: ignore[misc, unused-ignore]
    """TOPP-RA that can be interrupted between two points of the path."""

    def _one_step(self, *args: Any) -> Any:
        check_interrupted()
        return super()._one_step(*args)

    def _forward_step(self, *args: Any) -> Any:
        check_interrupted()
        return super()._forward_step(*args)


def _speed_profile(path: _Curve, velocity: Vector, acceleration: Vector) -> tuple[Vector, Vector]:
    # The slow column that max_speed may add has a speed limit but no acceleration limit.
    wide = np.full(len(velocity), 1e6)
    wide[: len(acceleration)] = acceleration
    constraints = [
        toppra.constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        toppra.constraint.JointAccelerationConstraint(np.stack([-wide, wide], axis=1)),
    ]
    grid = _grid(path)
    solver = _TOPPRA(
        constraints,
        path,
        gridpoints=grid,
        solver_wrapper="seidel",
        parametrizer="ParametrizeConstAccel",
    )
    _, sd, _ = solver.compute_parameterization(0.0, 0.0)
    if sd is None or not np.all(np.isfinite(sd)):
        raise TimingError("TOPP-RA found no speed profile within the limits")
    return grid, np.maximum(sd, 0.0)


def _grid(path: _Curve) -> Vector:
    breaks = np.unique(path._derivatives[0].x)
    if len(breaks) > 60:
        return breaks
    step = (breaks[-1] - breaks[0]) / 80
    pieces = [
        np.linspace(a, b, max(4, int(np.ceil((b - a) / step))), endpoint=False)
        for a, b in pairwise(breaks)
    ]
    return np.append(np.concatenate(pieces), breaks[-1])


def _smoothed(s: Vector, sd: Vector, window: float) -> tuple[Vector, tuple[Vector, Vector, Vector]]:
    """Knot times; path position, speed and acceleration after a moving average over time.

    Between grid points the acceleration along the path is constant, so the average and its
    derivatives have closed forms: with I the integral of s over time,
    ``(I(t) - I(t - w)) / w``, ``(s(t) - s(t - w)) / w`` and ``(s'(t) - s'(t - w)) / w``.
    """
    mean = 0.5 * (sd[1:] + sd[:-1])
    if np.any(mean <= 0):
        raise TimingError("the speed profile stands still between two points")
    h = np.diff(s) / mean
    t = np.concatenate([[0.0], np.cumsum(h)])
    a = np.diff(sd) / h
    integral = np.concatenate([[0.0], np.cumsum(s[:-1] * h + sd[:-1] * h**2 / 2 + a * h**3 / 6)])

    def at(times: Vector) -> tuple[Vector, Vector, Vector]:
        k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(h) - 1)
        d = np.clip(times - t[k], 0.0, h[k])
        over = np.maximum(times - t[-1], 0.0)
        before = np.minimum(times, 0.0)
        x = s[k] + sd[k] * d + a[k] * d**2 / 2
        summed = integral[k] + s[k] * d + sd[k] * d**2 / 2 + a[k] * d**3 / 6
        moving = (times > 0) & (times < t[-1])
        return summed + s[-1] * over + s[0] * before, x, np.where(moving, sd[k] + a[k] * d, 0.0)

    total = t[-1] + window
    times = _regular(total)
    now, then = at(times), at(times - window)
    position, speed, rate = ((p - q) / window for p, q in zip(now, then, strict=True))
    return times, (np.clip(position, s[0], s[-1]), speed, rate)


def _within_limits(trajectory: Trajectory, limits: JointLimits) -> Trajectory:
    """The trajectory, slowed down by as much as it exceeds a limit between its knots."""
    factor = limits.slowdown(trajectory)
    if not np.isfinite(factor) or factor > 20.0:
        raise TimingError(f"the timing exceeds the limits {factor:.1f} times")
    return trajectory.scaled(factor * (1 + 1e-9)) if factor > 1.0 else trajectory
