# SPDX-License-Identifier: Apache-2.0
"""Follows joint trajectories the way ros2_control's joint trajectory controller does.

A trajectory starts from the setpoint of the moment (position and velocity), so that a goal that
replaces a running one makes no jump. A cancelled goal brakes each joint evenly to rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from behavior_sim.control.splines import JointSpline, Setpoints
from behavior_sim.goals import Ending, Goal, InvalidGoal, InvalidJoints, Outcome, elapsed
from behavior_sim.worlds.robot import SimulatedArm

Array = NDArray[np.float64]

VELOCITY_MARGIN = 1.1
"""Trajectories may exceed a joint's velocity limit by this factor: splines overshoot a little."""
POSITION_MARGIN = 1e-3
"""... and its range by this [rad]."""
_SETTLED_SPEED = 0.05
"""[rad/s] slower than this counts as standing at the goal."""


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Allowed distances between setpoint and joint [rad], by joint; infinite means none."""

    path: Mapping[str, float] = field(default_factory=dict)
    goal: Mapping[str, float] = field(default_factory=dict)
    goal_time: float | None = None
    """[s] allowed after the last point to reach the goal tolerance."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryPoints:
    """The points of a trajectory, joints in the order of `joints`."""

    joints: Sequence[str]
    times: Array
    """(k,) [s] since the start."""
    positions: Array
    """(k, n) [rad]"""
    velocities: Array | None = None
    """(k, n) [rad/s]"""
    accelerations: Array | None = None
    """(k, n) [rad/s^2]"""


class JointTrajectoryController:
    """Setpoints of the arm's joints over time.

    Args:
        arm: joints and limits.
        lower: least positions [rad].
        upper: greatest positions [rad].
        period: time between calls of `step` [s].
        path_tolerance: default of all joints [rad].
        goal_tolerance: default of all joints [rad].
        goal_time: default [s].
        where: tells where the joints are [rad]; None: where the setpoint is.
    """

    def __init__(
        self,
        arm: SimulatedArm,
        lower: Array,
        upper: Array,
        *,
        period: float = 0.004,
        path_tolerance: float = 0.1,
        goal_tolerance: float = 0.01,
        goal_time: float = 1.0,
        where: Callable[[], Array] | None = None,
    ) -> None:
        self._joints = arm.joints
        self._lower, self._upper = lower, upper
        self._max_velocity = np.array(arm.velocity)
        self._max_acceleration = np.array(arm.acceleration)
        self._period = period
        self._where = where
        self._default_path = path_tolerance
        self._default_goal = goal_tolerance
        self._default_goal_time = goal_time
        self._goal: Goal | None = None
        self._motion: Setpoints | None = None
        self._start = 0.0
        self._stopping = False
        self._positions = np.array(arm.home, dtype=float)
        self._velocities = np.zeros(len(arm.joints))

    @property
    def setpoint(self) -> tuple[Array, Array]:
        """Positions [rad] and velocities [rad/s] commanded last."""
        return self._positions, self._velocities

    @property
    def moving(self) -> bool:
        """Whether the setpoint changes, or a goal is still being reached."""
        return self._motion is not None

    @property
    def goal(self) -> Goal | None:
        """The goal being worked on."""
        return self._goal

    def elapsed(self, t: float) -> float:
        """Time since the start of the running trajectory [s], negative if that lies ahead."""
        return elapsed(t, self._start)

    def remaining(self, t: float) -> float:
        """Time until the end of the trajectory that a goal follows [s]; 0: none is followed."""
        if self._motion is None or self._goal is None:
            return 0.0
        return max(0.0, self._motion.duration - self.elapsed(t))

    def start(
        self,
        t: float,
        points: TrajectoryPoints,
        tolerances: Tolerances | None = None,
        *,
        on_done: Callable[[Outcome], None] | None = None,
        joined_at: float = 0.0,
    ) -> Goal:
        """Follow `points` from the time `t` [s] on, which may lie ahead; ends the running goal.

        An arm that stands, and is held off its setpoint by what it touches, starts where it is.

        Args:
            t: of the trajectory's beginning.
            points: the trajectory.
            tolerances: None: the defaults.
            on_done: is told the goal's outcome.
            joined_at: [s] since its beginning that the trajectory is under way already; what lies
                before is only of use for its shape.

        Raises:
            InvalidJoints: not exactly this controller's joints.
            InvalidGoal: wrong sizes or times, or limits exceeded; nothing is changed.
        """
        if self._motion is None and self._where is not None:
            self._let_go(self._where())
        spline = self._spline(points, joined_at)
        self._check_limits(spline, spline.sample(joined_at)[0])
        path, goal_tolerance = self._tolerances(tolerances or Tolerances())
        self._end(Ending.REPLACED)
        self._path_tolerance, self._goal_tolerance = path, goal_tolerance
        given = tolerances.goal_time if tolerances is not None else None
        self._goal_time = self._default_goal_time if given is None else given
        self._goal = Goal(on_done)
        self._follow(spline, t, stopping=False)
        return self._goal

    def cancel(self, t: float, goal: Goal | None = None) -> None:
        """Brake to rest from the time `t` [s] on; does nothing if `goal` is not the running one."""
        if self._goal is None or (goal is not None and goal is not self._goal):
            return
        self._brake(t)
        self._end(Ending.CANCELLED)

    def reset(self, positions: Array) -> None:
        """Stand at `positions` [rad] at once; the world was reset."""
        self._end(Ending.RESET)
        self._motion = None
        self._positions, self._velocities = positions.copy(), np.zeros_like(positions)

    def step(self, t: float, positions: Array, velocities: Array) -> tuple[Array, Array]:
        """Setpoint at `t` [s], given where the joints are [rad, rad/s]; watches the tolerances."""
        motion = self._motion
        if motion is None:
            return self.setpoint
        passed = self.elapsed(t)
        if passed >= 0.0:
            self._positions, self._velocities = motion.at(passed)
        if self._stopping:
            if passed >= motion.duration:
                self._motion = None
            return self.setpoint
        error = np.abs(self._positions - positions)
        if passed < motion.duration:
            self._watch_path(t, error, positions)
        else:
            self._watch_goal(passed - motion.duration, error, velocities)
        return self.setpoint

    # -- inner --------------------------------------------------------------------------------

    def _spline(self, points: TrajectoryPoints, joined_at: float) -> JointSpline:
        order = self._order(points)
        times = np.asarray(points.times, dtype=float)
        _check_times(times)
        shape = (len(times), len(self._joints))
        columns = [
            _column(name, values, shape, order)
            for name, values in (
                ("positions", points.positions),
                ("velocities", points.velocities),
                ("accelerations", points.accelerations),
            )
        ]
        positions, velocities, accelerations = columns
        if positions is None:
            raise InvalidGoal("the trajectory's points have no positions")
        if velocities is None:
            accelerations = None
        if joined_at > 0.0 and len(times) > 1:
            spline = JointSpline(times, positions, velocities, accelerations)
            self._check_start(spline.sample(joined_at)[0])
            return spline
        if times[0] > 0.0:
            # Begin where the setpoint is.
            times = np.concatenate([[0.0], times])
            positions = np.vstack([self._positions, positions])
            if velocities is not None:
                velocities = np.vstack([self._velocities, velocities])
            if accelerations is not None:
                accelerations = np.vstack([np.zeros(len(self._joints)), accelerations])
        else:
            self._check_start(positions[0])
            if len(times) == 1:
                times = np.array([0.0, self._period])
                positions = np.vstack([positions, positions])
                velocities = accelerations = None
        return JointSpline(
            times, positions, velocities, accelerations, start_velocity=self._velocities
        )

    def _order(self, points: TrajectoryPoints) -> list[int]:
        if sorted(points.joints) != sorted(self._joints):
            raise InvalidJoints(
                f"the trajectory is for the joints {list(points.joints)}; "
                f"this controller needs exactly {list(self._joints)}"
            )
        return [list(points.joints).index(joint) for joint in self._joints]

    def _let_go(self, positions: Array) -> None:
        if (np.abs(positions - self._positions) > self._default_path).any():
            self._positions = positions.copy()

    def _check_start(self, first: Array) -> None:
        """The setpoint may leap to where the arm is, or was when the trajectory was planned."""
        away = np.abs(first - self._positions)
        if self._motion is None and self._where is not None:
            away = np.minimum(away, np.abs(first - self._where()))
        if (away > self._default_path).any():
            joint = int(away.argmax())
            raise InvalidGoal(
                f"the trajectory starts with {self._joints[joint]} {away[joint]:.3f} rad away "
                "from where it is; plan from the current joint state"
            )

    def _check_limits(self, spline: JointSpline, start: Array) -> None:
        """A joint that was pressed beyond its range may come back from there."""
        low, high, speed = spline.extremes(self._period)
        lower = np.minimum(self._lower, start) - POSITION_MARGIN
        upper = np.maximum(self._upper, start) + POSITION_MARGIN
        for index, joint in enumerate(self._joints):
            if low[index] < lower[index] or high[index] > upper[index]:
                raise InvalidGoal(
                    f"{joint} would go from {low[index]:.3f} to {high[index]:.3f} rad, its range "
                    f"is {self._lower[index]:.3f} to {self._upper[index]:.3f}"
                )
            if speed[index] > self._max_velocity[index] * VELOCITY_MARGIN:
                raise InvalidGoal(
                    f"{joint} would move at {speed[index]:.3f} rad/s, its limit is "
                    f"{self._max_velocity[index]:.3f}; give the trajectory more time"
                )

    def _tolerances(self, tolerances: Tolerances) -> tuple[Array, Array]:
        for name in [*tolerances.path, *tolerances.goal]:
            if name not in self._joints:
                raise InvalidJoints(f"a tolerance is for the unknown joint {name!r}")
        path = [tolerances.path.get(joint, self._default_path) for joint in self._joints]
        goal = [tolerances.goal.get(joint, self._default_goal) for joint in self._joints]
        return np.array(path), np.array(goal)

    def _watch_path(self, t: float, error: Array, positions: Array) -> None:
        if (error > self._path_tolerance).any():
            joint = int((error - self._path_tolerance).argmax())
            message = (
                f"{self._joints[joint]} was {error[joint]:.3f} rad off its path (tolerance "
                f"{self._path_tolerance[joint]:.3f}); something may be in the way"
            )
            # Give way: what is in the way is not to be pushed on.
            self._positions, self._velocities = positions.copy(), np.zeros_like(positions)
            self._motion = None
            self._end(Ending.PATH_TOLERANCE, message)

    def _watch_goal(self, late: float, error: Array, velocities: Array) -> None:
        near = (error <= self._goal_tolerance).all()
        if near and (np.abs(velocities) < _SETTLED_SPEED).all():
            self._motion = None
            self._hold()
            self._end(Ending.SUCCEEDED)
        elif late >= self._goal_time:
            joint = int((error - self._goal_tolerance).argmax())
            self._motion = None
            self._hold()
            self._end(
                Ending.GOAL_TOLERANCE,
                f"{self._joints[joint]} ended {error[joint]:.4f} rad from its goal (tolerance "
                f"{self._goal_tolerance[joint]:.4f}), {late:.2f} s after the trajectory's end",
            )

    def _hold(self) -> None:
        self._velocities = np.zeros_like(self._velocities)

    def _brake(self, t: float) -> None:
        duration = float((np.abs(self._velocities) / self._max_acceleration).max())
        if duration < self._period:
            self._hold()
            self._motion = None
            return
        # A straight ramp of the velocity: the average is half of what it is now.
        stop = self._positions + self._velocities * duration / 2
        stop = np.clip(stop, self._lower, self._upper)
        ramp = JointSpline(
            np.array([0.0, duration]),
            np.vstack([self._positions, stop]),
            np.vstack([self._velocities, np.zeros_like(stop)]),
        )
        self._follow(ramp, t, stopping=True)

    def _follow(self, spline: JointSpline, t: float, *, stopping: bool) -> None:
        self._motion = Setpoints(spline, self._period)
        self._start, self._stopping = t, stopping

    def _end(self, ending: Ending, message: str = "") -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.finish(ending, message)


def _check_times(times: Array) -> None:
    if not len(times):
        raise InvalidGoal("the trajectory has no points")
    if not np.isfinite(times).all() or times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        raise InvalidGoal("the points' times must grow strictly and start at 0 or later")


def _column(
    name: str, values: Array | None, shape: tuple[int, int], order: list[int]
) -> Array | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise InvalidGoal(f"the points' {name} must be {shape[0]} times {shape[1]} numbers")
    if not np.isfinite(array).all():
        raise InvalidGoal(f"the points' {name} are not all finite")
    return array[:, order]
