# SPDX-License-Identifier: Apache-2.0
"""Opens and closes the gripper, and tells a grasp from an empty hand.

The setpoint of the gap runs to the goal at the gripper's speed; the drive's force is bounded. The
goal ends when the gap is reached, or when the fingers stand still on the way: then they have hold
of something and keep squeezing it.
"""

import math
from collections.abc import Callable

from behavior_sim.goals import Ending, Goal, InvalidGoal, Outcome, elapsed
from behavior_sim.worlds.robot import SimulatedGripper

REACHED = 0.001
"""[m] nearer than this to the goal, the gap is reached."""
_STILL = 0.002
"""[m/s] slower than this, the fingers stand still."""
_STILL_TIME = 0.1
"""[s] standing still for this long is a stall."""
_PATIENCE = 3.0
"""[s] allowed beyond the time that the way takes."""


class GripperController:
    """Setpoint and force of the gripper's drive over time.

    Args:
        config: the gripper.
    """

    def __init__(self, config: SimulatedGripper) -> None:
        self._config = config
        self._goal: Goal | None = None
        self._target = config.open
        self._setpoint = config.open
        self._force = config.force
        self._time = 0.0
        self._deadline = math.inf
        self._still_since: float | None = None

    @property
    def setpoint(self) -> tuple[float, float]:
        """Gap [m] and greatest force [N] commanded last."""
        return self._setpoint, self._force

    @property
    def moving(self) -> bool:
        """Whether a goal is being worked on."""
        return self._goal is not None

    @property
    def goal(self) -> Goal | None:
        """The goal being worked on."""
        return self._goal

    def remaining(self, t: float) -> float:
        """Time before which the goal does not end [s]; 0: it may at once, or there is none.

        Fingers that stand on their way hold something, and whoever closes them looks for that;
        those that come open let go of what they hold on their way.
        """
        opening = self._target > self._setpoint
        if self._goal is None or self._still_since is not None or opening:
            return 0.0
        way = abs(self._target - self._setpoint) / self._config.speed
        reached = way - max(0.0, elapsed(t, self._time))
        return max(0.0, min(reached, _STILL_TIME))

    def start(
        self,
        t: float,
        gap: float,
        force: float = 0.0,
        *,
        on_done: Callable[[Outcome], None] | None = None,
    ) -> Goal:
        """Move to `gap` [m] with at most `force` [N] (0: the default) from `t` [s] on.

        Raises:
            InvalidGoal: gap or force outside the gripper's range; nothing is changed.
        """
        config = self._config
        if not -REACHED <= gap <= config.open + REACHED:
            raise InvalidGoal(f"a gap of {gap} m is outside 0 to {config.open}")
        if not 0.0 <= force < math.inf:
            raise InvalidGoal(f"a force of {force} N is none; give 0 for the default")
        self._end(Ending.REPLACED)
        self._target = min(max(gap, 0.0), config.open)
        self._force = min(force or config.force, config.max_force)
        self._time, self._still_since = t, None
        way = abs(self._target - self._setpoint)
        self._deadline = t + way / config.speed + _PATIENCE
        self._goal = Goal(on_done)
        return self._goal

    def cancel(self, goal: Goal | None = None) -> None:
        """Stay where the setpoint is; does nothing if `goal` is not the running one."""
        if self._goal is not None and (goal is None or goal is self._goal):
            self._target = self._setpoint
            self._end(Ending.CANCELLED)

    def reset(self, gap: float) -> None:
        """Stand at `gap` [m] at once; the world was reset."""
        self._end(Ending.RESET)
        self._target = self._setpoint = gap
        self._force = self._config.force

    def step(self, t: float, gap: float, velocity: float) -> tuple[float, float]:
        """Setpoint [m] and force [N] at `t` [s], given the gap [m] and its velocity [m/s]."""
        if self._goal is None:
            return self.setpoint
        reach = self._config.speed * max(0.0, elapsed(t, self._time))
        self._time = t
        self._setpoint += min(max(self._target - self._setpoint, -reach), reach)
        if abs(velocity) > _STILL:
            self._still_since = None
        elif self._still_since is None:
            self._still_since = t
        if self._setpoint == self._target and abs(gap - self._target) <= REACHED:
            if abs(velocity) <= 10 * _STILL:
                self._end(Ending.SUCCEEDED)
        elif self._stalled(t, gap):
            self._setpoint = self._target
            self._end(Ending.SUCCEEDED, "stalled", stalled=True)
        elif t >= self._deadline:
            self._setpoint = self._target
            self._end(Ending.TIMEOUT, f"the gap is {gap:.4f} m and not {self._target:.4f} m")
        return self.setpoint

    def _stalled(self, t: float, gap: float) -> bool:
        return (
            self._still_since is not None
            and elapsed(t, self._still_since) >= _STILL_TIME
            and abs(gap - self._setpoint) > REACHED
        )

    def _end(self, ending: Ending, message: str = "", *, stalled: bool = False) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.finish(ending, message, stalled=stalled)
