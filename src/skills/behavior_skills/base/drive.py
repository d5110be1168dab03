# SPDX-License-Identifier: Apache-2.0
"""Drive the base to a pose, along a path, straight on, or turn it on the spot.

Without a planner around obstacles: that is Nav2's work, see `base_node`. Whoever ends the skill
early, the base is told to stand.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from behavior_motion.planar_pose import wrapped
from behavior_ros.node.elapsed import Elapsed
from behavior_skills.base.motion import BaseGoal, BaseLimits, BaseMotion
from behavior_skills.base.omnidirectional_motion import OmnidirectionalMotion
from behavior_skills.goal_checks import check_not_negative, invalid
from behavior_skills.interfaces import Array, FailureCode, GoalContext, SkillFailure

STUCK_TIME = 4.0
"""[s] without getting nearer, or turning, after which the base counts as blocked."""
STUCK_PROGRESS = 0.02
"""[m or rad]"""
REST_TIME = 0.1
"""[s] that a base which has arrived must not have moved to be at rest."""
REST_WAY = 2e-3
"""[m or rad] less than this is no motion."""
REST_TIMEOUT = 1.0
"""[s] that it is given to come to rest."""
POSITION_TOLERANCE = 0.03
"""[m]"""
YAW_TOLERANCE = 0.05
"""[rad]"""
ALLOWANCE = 10.0
"""[s] beyond three times the nominal duration, where no timeout is given."""


LEAST_SPEED = 1e-3
"""[m/s] or [rad/s] that may be asked for."""
FARTHEST = 10_000.0
"""[m] that one drive may go."""


class BaseMode(enum.IntEnum):
    """Values as in behavior_msgs/MoveBase."""

    POSE = 0
    PATH = 1
    STRAIGHT = 2
    TURN = 3


class Base(Protocol):
    """A base that takes velocities."""

    def pose(self) -> Array:
        """Newest (x, y, yaw) [m, rad]; raises `SkillFailure` SERVER_LOST when there is none, and
        EXECUTION_FAILED where the base is stopped by others.
        """

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        """Drive with a speed along x [m/s], about z [rad/s] and, where it can, along y [m/s]."""


@dataclass(frozen=True, slots=True)
class DriveRequest:
    """Where to; poses (x, y, yaw) in the frame of `Base.pose`."""

    mode: int
    target: Array | None = None
    path: Array | None = None
    """(N, 3)"""
    distance: float = 0.0
    angle: float = 0.0
    max_linear_velocity: float = 0.0
    max_angular_velocity: float = 0.0
    position_tolerance: float = 0.0
    yaw_tolerance: float = 0.0
    any_yaw: bool = False
    timeout: float = 0.0

    def check(self) -> None:
        """Check that this can be driven; raises `SkillFailure` INVALID_REQUEST."""
        if self.mode not in list(BaseMode):
            raise invalid(
                f"mode {self.mode} is unknown; choose from "
                f"{', '.join(f'{mode.name}={mode.value}' for mode in BaseMode)}"
            )
        speeds = ("max_linear_velocity", "max_angular_velocity")
        check_not_negative(self, *speeds, "position_tolerance", "yaw_tolerance", "timeout")
        for name in speeds:
            if 0.0 < getattr(self, name) < LEAST_SPEED:
                raise invalid(f"{name} is {getattr(self, name)}, give at least {LEAST_SPEED:g}")
        if self.mode == BaseMode.PATH and (self.path is None or len(self.path) == 0):
            raise invalid("path is empty, give at least one pose")
        if self.mode == BaseMode.TURN and abs(self.angle) > math.pi + 1e-3:
            raise invalid(
                f"angle is {self.angle:.4g} rad, give at most half a turn, 3.1416: the base turns "
                "the shorter way; degrees?"
            )
        if self.mode == BaseMode.STRAIGHT and abs(self.distance) > FARTHEST:
            raise invalid(f"distance is {self.distance:g} m, give at most {FARTHEST:g}")


@dataclass(slots=True)
class DriveSkill:
    """One drive; call :meth:`run`."""

    goal_context: GoalContext
    base: Base
    limits: BaseLimits
    request: DriveRequest
    omnidirectional: bool = False
    """The base drives sideways too."""
    remaining: float = field(default=0.0, init=False)
    """[m]"""

    def run(self) -> Array:
        """Drive.

        Returns:
            Where the base stands: (x, y, yaw).

        Raises:
            SkillFailure: with one of MoveBase's result codes; the base stands.
            Cancelled: the client cancelled; the base stands.
        """
        self.request.check()
        start = self.base.pose()
        follower = OmnidirectionalMotion if self.omnidirectional else BaseMotion
        motion = follower(self._goal(start), self._limits())
        self.remaining = motion.remaining(start)
        self.goal_context.feedback("plan", 0.0, distance_remaining=self.remaining)
        try:
            self._follow(motion, start)
            self._rest()
        finally:
            self.base.command(0.0, 0.0)
        return self.base.pose()

    # ------------------------------------------------------------------ request

    def _limits(self) -> BaseLimits:
        limits, request = self.limits, self.request
        return BaseLimits(
            linear=min(limits.linear, request.max_linear_velocity or limits.linear),
            angular=min(limits.angular, request.max_angular_velocity or limits.angular),
            linear_acceleration=limits.linear_acceleration,
            angular_acceleration=limits.angular_acceleration,
            lookahead=limits.lookahead,
        )

    def _goal(self, start: Array) -> BaseGoal:
        request = self.request
        if request.mode == BaseMode.TURN:
            return self._goal_of(start[None, :2], wrapped(start[2] + request.angle))
        if request.mode == BaseMode.STRAIGHT:
            ahead = request.distance * np.array([math.cos(start[2]), math.sin(start[2])])
            end = (start[:2] + ahead)[None]
            return self._goal_of(end, float(start[2]), backwards=request.distance < 0.0)
        poses = request.path if request.mode == BaseMode.PATH else request.target
        assert poses is not None
        poses = np.atleast_2d(poses)
        if request.any_yaw:
            return self._goal_of(poses[:, :2], None)
        return self._goal_of(poses[:, :2], float(poses[-1, 2]), yaws=poses[:, 2])

    def _goal_of(
        self,
        points: Array,
        yaw: float | None,
        *,
        yaws: Array | None = None,
        backwards: bool = False,
    ) -> BaseGoal:
        request = self.request
        return BaseGoal(
            points,
            yaw,
            yaws=yaws,
            position_tolerance=request.position_tolerance or POSITION_TOLERANCE,
            yaw_tolerance=request.yaw_tolerance or YAW_TOLERANCE,
            backwards=backwards,
        )

    # ------------------------------------------------------------------ motion

    def _follow(self, motion: BaseMotion | OmnidirectionalMotion, start: Array) -> None:
        passed, last, moved_at = Elapsed(self.goal_context.now), 0.0, 0.0
        whole = max(motion.remaining(start), 1e-3)
        timeout = self.request.timeout or 3.0 * self._nominal(whole) + ALLOWANCE
        before = start
        while not motion.done(pose := self.base.pose()):
            self.remaining = motion.remaining(pose)
            progress = min(max(1.0 - self.remaining / whole, 0.0), 1.0)
            self.goal_context.feedback("move", progress, distance_remaining=self.remaining)
            now = passed()
            if np.hypot(*(pose[:2] - before[:2])) + abs(wrapped(pose[2] - before[2])) > (
                STUCK_PROGRESS
            ):
                before, moved_at = pose, now
            if now - moved_at > STUCK_TIME:
                raise SkillFailure(
                    FailureCode.BLOCKED,
                    f"The base has not moved for {STUCK_TIME:.0f} s, {self.remaining:.2f} m before "
                    "its goal. Clear its way, or see whether its driver takes commands.",
                )
            if now > timeout:
                raise SkillFailure(
                    FailureCode.TIMED_OUT,
                    f"The base is {self.remaining:.2f} m from its goal after {timeout:.1f} s. Give "
                    "it more time, or see what holds it up.",
                )
            self.base.command(*motion.twist(pose, now - last))
            last = now
            self.goal_context.tick()
        self.remaining = 0.0

    def _rest(self) -> None:
        """Stand, and wait until the base does: what is planned next is planned from its pose."""
        passed, since = Elapsed(self.goal_context.now), 0.0
        resting = self.base.pose()
        while (now := passed()) - since < REST_TIME and now < REST_TIMEOUT:
            self.base.command(0.0, 0.0)
            self.goal_context.tick()
            pose = self.base.pose()
            if np.hypot(*(pose[:2] - resting[:2])) + abs(wrapped(pose[2] - resting[2])) > REST_WAY:
                resting, since = pose, passed()

    def _nominal(self, way: float) -> float:
        limits = self._limits()
        return way / limits.linear + 2 * math.pi / limits.angular
