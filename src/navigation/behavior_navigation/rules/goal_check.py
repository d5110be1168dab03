# SPDX-License-Identifier: Apache-2.0
"""Whether the goal is reached."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from behavior_motion.planar_pose import Pose2D

ROUTE_END = 0.05
"""[m] more than the distance to the goal that may be left of a route: its end may be bent."""


@dataclass(frozen=True, slots=True)
class GoalRule:
    """What counts as reached."""

    translation: float = 0.25
    """[m] from the goal at most (``goal_translation_threshold``)."""
    rotation: float = math.inf
    """[rad] between the headings at most."""
    ticks: int = 2
    """In a row for which all of it must hold."""
    speed: float = 0.1
    """[m/s] of the robot at most."""
    require_final_maneuver: bool = True
    """Only once a maneuver told the planner the goal itself."""

    def __post_init__(self) -> None:
        """Check.

        Raises:
            ValueError: a threshold that nothing can meet.
        """
        if min(self.translation, self.rotation, self.speed) < 0.0 or self.ticks < 1:
            raise ValueError(f"a goal that nothing reaches: {self}")


class GoalCheck:
    """Counts the ticks at the goal."""

    def __init__(self, rule: GoalRule) -> None:
        """Start away from it."""
        self.rule = rule
        self._ticks = 0

    def update(
        self,
        robot: Pose2D,
        goal: Pose2D,
        speed: float,
        final_published: bool,
        *,
        remaining: float = 0.0,
    ) -> bool:
        """Whether the goal counts as reached at this tick.

        Args:
            robot: and
            goal: in one frame.
            speed: of the robot [m/s].
            final_published: the newest maneuver was final.
            remaining: of a route that has to be driven to its end [m].
        """
        rule = self.rule
        here = (
            robot.distance(goal) <= rule.translation
            and robot.turn(goal) <= rule.rotation
            and remaining <= rule.translation + ROUTE_END
            and speed <= rule.speed
            and (final_published or not rule.require_final_maneuver)
        )
        self._ticks = self._ticks + 1 if here else 0
        return self._ticks >= rule.ticks

    def reset(self) -> None:
        """Another goal, or the robot was moved."""
        self._ticks = 0


class SpeedEstimate:
    """Speed from positions over a short time, so that their noise counts little."""

    def __init__(self, window: float = 0.4) -> None:
        """Start without positions; ``window`` [s] is the time that the speed is taken over."""
        self._window = window
        self._samples: deque[tuple[float, float, float]] = deque()

    def update(self, now: float, pose: Pose2D) -> float:
        """Take in a position; returns the speed [m/s], infinite before the window is full.

        Two looks at one measurement would find any robot standing.
        """
        samples = self._samples
        if samples and now < samples[-1][0]:
            samples.clear()  # the clock was set back
        if not samples or now > samples[-1][0]:
            samples.append((now, pose.x, pose.y))
        while len(samples) > 2 and now - samples[1][0] >= self._window:
            samples.popleft()
        t, x, y = samples[0]
        passed = now - t
        return math.hypot(pose.x - x, pose.y - y) / passed if passed >= self._window else math.inf

    def reset(self) -> None:
        """Forget all positions, as after a jump of the localization."""
        self._samples.clear()
