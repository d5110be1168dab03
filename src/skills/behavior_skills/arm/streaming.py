# SPDX-License-Identifier: Apache-2.0
"""The arm's motion as it is decided, a few hundredths of a second ahead of it.

What is sent each time is what has been decided and, from there, a braking to rest. So an arm that
hears nothing any more stops within its limits, and whoever takes over finds the motion, exactly, in
what was sent last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_motion import JointLimits
from behavior_motion.trajectories.timing import stop_trajectory
from behavior_skills.interfaces import Array, StreamedMotion

KEPT = 0.1
"""[s] of what is past that is sent again: messages take a while."""
BRAKE_STEP = 0.01
"""[s] between the points of a braking."""


@dataclass(frozen=True, slots=True)
class Instant:
    """Joints at one time, each (dof,)."""

    q: Array
    """[rad]"""
    qd: Array
    """[rad/s]"""
    qdd: Array
    """[rad/s^2]"""


class Reference:
    """Where the joints are to be over time; grows at its end, which is a decided `Instant`."""

    def __init__(self, limits: JointLimits, now: float, instant: Instant) -> None:
        """Begin at `now` [s] with `instant`; `limits` are those of braking."""
        self._limits = limits
        self._begin(now, instant)

    def _begin(self, time: float, instant: Instant) -> None:
        self.time = time
        """[s] of the end."""
        self.end = instant
        """The joints then."""
        self._times, self._q, self._qd = [time], [instant.q], [instant.qd]
        self._motion: StreamedMotion | None = None

    def extend(self, period: float, instant: Instant) -> None:
        """The joints `period` [s] after the end."""
        self.time += period
        self.end = instant
        self._times.append(self.time)
        self._q.append(instant.q)
        self._qd.append(instant.qd)
        self._motion = None

    def catch_up(self, now: float) -> None:
        """Where nothing was decided in time, go on from the braking that the arm is in."""
        if now > self.time:
            self._begin(now, instant_of(self.motion(), now))

    def at(self, time: float) -> Instant:
        """The joints at a time [s]: as decided, else as braking."""
        return instant_of(self.motion(), time)

    def trim(self, now: float) -> None:
        """Forget what is long past."""
        while len(self._times) > 2 and self._times[1] < now - KEPT:
            for values in (self._times, self._q, self._qd):
                values.pop(0)
            self._motion = None

    def motion(self) -> StreamedMotion:
        """All of it, with the braking at its end."""
        if self._motion is None:
            end = self.end
            brake = stop_trajectory(end.q, end.qd, self._limits, qdd=end.qdd, together=False)
            count = int(np.ceil(brake.duration / BRAKE_STEP))
            after = np.linspace(0.0, brake.duration, count + 1)[1:]
            q, qd, _ = brake.sample_many(after)
            if count:
                qd[-1] = 0.0
            self._motion = StreamedMotion(
                np.concatenate([self._times, self.time + after]),
                np.vstack([*self._q, q]),
                np.vstack([*self._qd, qd]),
            )
        return self._motion


def instant_of(motion: StreamedMotion, time: float) -> Instant:
    """The joints at a time [s]; cubic between the points, at rest after the last."""
    times = motion.times
    if time >= times[-1] or len(times) == 1:
        still = np.zeros(motion.positions.shape[1])
        return Instant(np.array(motion.positions[-1]), still, still)
    k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2))
    h = float(times[k + 1] - times[k])
    s = max(0.0, (time - float(times[k])) / h)
    q0, q1 = motion.positions[k], motion.positions[k + 1]
    v0, v1 = motion.velocities[k], motion.velocities[k + 1]
    # q0 + v0 h s + b s^2 + c s^3
    b = 3 * (q1 - q0) - h * (2 * v0 + v1)
    c = 2 * (q0 - q1) + h * (v0 + v1)
    return Instant(
        q0 + s * (h * v0 + s * (b + s * c)),
        v0 + s * (2 * b + 3 * s * c) / h,
        (2 * b + 6 * s * c) / h**2,
    )
