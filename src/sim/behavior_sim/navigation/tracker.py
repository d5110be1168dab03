# SPDX-License-Identifier: Apache-2.0
"""The trajectory planner (tp): follows a path by pure pursuit, and looks ahead before it moves.

The wanted speed is bounded by speed limit, curvature, distance to the end and mode. A line search
over ever lower speeds takes the first whose predicted motion stays free; the outcome of every
cycle is a solver status. Pure pursuit: Coulter, Implementation of the Pure Pursuit Path Tracking
Algorithm, CMU-RI-TR-92-01; the speed rule follows the regulated variant of Macenski et al. (2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from behavior_motion.planar_pose import Pose2D, wrapped
from behavior_sim.navigation.grid import Grid, nearest_on
from behavior_sim.navigation.path_planner import SPACING, Mode, Plan

_FALLBACK_SPEED = 0.3
"""[m/s]"""
_BLIND_SPEED = 0.2
"""[m/s] without a word of the speed decision maker."""
_AT_GOAL = 0.06
"""[m]"""
_AT_HEADING = 0.04
"""[rad]"""
_TURN_FIRST = 0.9
"""[rad] to the path beyond which the robot turns on the spot."""
_PREDICTION = 1.2
"""[s]"""
_STALE = 2.0
"""[s] after which a plan counts no more."""
_OFF_PATH = 0.7
"""[m]"""
_SLACK = 0.3
"""[m] along a plan that the robot may be farther than it can have driven."""
_LOOSE = 0.35
"""[m] from the path beyond which its constraint counts as unsatisfied."""
_MOST_POINTS = 1000
"""Points of a path that there is memory for."""
_NO_PROGRESS = 4.0
"""[s] of commanded motion without any, after which the cost counts as stuck."""


class TrajectoryCode(IntEnum):
    """Solver status (`TrajectoryStatus`)."""

    OK = 0
    CONSTRAINT_FAILED = 1
    INVALID_TRAJECTORY = 2
    LINE_SEARCH_FAILED = 3
    UNSATISFIED_CONSTRAINTS = 4
    COST_FAILED = 5
    OUT_OF_MEMORY = 6


@dataclass(frozen=True, slots=True)
class Tracking:
    """One cycle's outcome: the command, and how it came about."""

    linear: float = 0.0
    """[m/s]"""
    angular: float = 0.0
    """[rad/s]"""
    status: TrajectoryCode = TrajectoryCode.OK


class Tracker:
    """Turns plans into velocity commands.

    Args:
        radius: of the robot [m].
        max_linear: [m/s]
        max_angular: [rad/s]
        deceleration: [m/s^2] that is planned with.
    """

    def __init__(
        self, radius: float, max_linear: float, max_angular: float, deceleration: float
    ) -> None:
        self._radius = radius
        self._max_linear = max_linear
        self._max_angular = max_angular
        self._deceleration = 0.6 * deceleration
        self._moved_at = -math.inf
        self._stood = Pose2D()

    def track(
        self,
        now: float,
        robot: Pose2D,
        speed: float,
        plan: Plan | None,
        planned_at: float,
        *,
        mode: Mode,
        limit: float | None,
        grid: Grid | None,
    ) -> Tracking:
        """One cycle.

        Args:
            now: [s]
            robot: pose in the map.
            speed: measured [m/s].
            plan: the newest one.
            planned_at: when it was made [s].
            mode: of operation.
            limit: what the speed decision maker allows [m/s]; None: nothing new from it.
            grid: the map with the obstacles seen.
        """
        if mode is Mode.IDLE or plan is None or plan.mode is Mode.IDLE:
            self._moved_at = now
            return Tracking()
        fault = self._fault(now, robot, plan, planned_at, grid)
        if fault is not None:
            self._moved_at = now
            return Tracking(status=fault)
        if mode is Mode.FALLBACK:
            limit = min(_FALLBACK_SPEED, limit if limit is not None else _BLIND_SPEED)
        limit = limit if limit is not None else _BLIND_SPEED
        at = self._nearest(now, robot, plan, planned_at)
        return self._follow(now, robot, speed, plan=plan, at=at, limit=limit, grid=grid)

    def _nearest(
        self, now: float, robot: Pose2D, plan: Plan, planned_at: float
    ) -> tuple[int, float]:
        """Where the robot is on a plan that began at it, and how far aside [m].

        It cannot be farther along than it has driven since, though the plan may come by it again.
        """
        driven = self._max_linear * max(0.0, now - planned_at) + _SLACK
        return nearest_on(plan.points[: math.ceil(driven / SPACING) + 1], robot.x, robot.y)

    def _fault(
        self, now: float, robot: Pose2D, plan: Plan, planned_at: float, grid: Grid | None
    ) -> TrajectoryCode | None:
        """Why the plan cannot be followed at all."""
        if len(plan.points) > _MOST_POINTS:
            return TrajectoryCode.OUT_OF_MEMORY
        if not len(plan.points) or now - planned_at > _STALE or not np.isfinite(plan.points).all():
            return TrajectoryCode.INVALID_TRAJECTORY
        if self._nearest(now, robot, plan, planned_at)[1] > _OFF_PATH:
            return TrajectoryCode.INVALID_TRAJECTORY
        if (
            grid is None
            or grid.clearance_at(robot.position) <= self._radius - 0.5 * grid.resolution
        ):
            return TrajectoryCode.CONSTRAINT_FAILED
        return None

    def _follow(
        self,
        now: float,
        robot: Pose2D,
        speed: float,
        *,
        plan: Plan,
        at: tuple[int, float],
        limit: float,
        grid: Grid | None,
    ) -> Tracking:
        points = plan.points
        index, aside = at
        left = (len(points) - 1 - index) * SPACING + aside
        end = points[-1]
        if left < 0.3 and robot.distance_to(*end) < _AT_GOAL:
            return self._turn_at_goal(now, robot, plan)
        ahead = min(max(0.35, 0.8 * abs(speed)), 1.0)
        target = points[min(index + max(1, round(ahead / SPACING)), len(points) - 1)]
        bearing = wrapped(math.atan2(target[1] - robot.y, target[0] - robot.x) - robot.yaw)
        if abs(bearing) > _TURN_FIRST:
            turn = math.copysign(min(self._max_angular, 2.0 * abs(bearing)), bearing)
            return self._progressed(now, robot, Tracking(0.0, turn))
        distance = max(robot.distance_to(*target), 0.1)
        curvature = 2.0 * math.sin(bearing) / distance
        wanted = min(
            limit,
            self._max_linear,
            math.sqrt(2.0 * self._deceleration * max(left - 0.03, 0.0)) + 0.02,
            0.8 * self._max_angular / max(abs(curvature), 1e-3),
            0.5 / max(abs(curvature), 1e-3) ** 0.7,
        )
        found = self._line_search(robot, wanted, curvature, grid)
        if found is None:
            self._moved_at = now
            return Tracking(status=TrajectoryCode.LINE_SEARCH_FAILED)
        loose = aside > _LOOSE
        status = TrajectoryCode.UNSATISFIED_CONSTRAINTS if loose else TrajectoryCode.OK
        return self._progressed(now, robot, Tracking(found, found * curvature, status))

    def _turn_at_goal(self, now: float, robot: Pose2D, plan: Plan) -> Tracking:
        self._moved_at = now
        off = wrapped(plan.goal.yaw - robot.yaw)
        if not plan.final or abs(off) < _AT_HEADING:
            return Tracking()
        return Tracking(0.0, math.copysign(min(self._max_angular, 1.5 * abs(off)), off))

    def _line_search(
        self, robot: Pose2D, wanted: float, curvature: float, grid: Grid | None
    ) -> float | None:
        """The highest of ever lower speeds at which the way ahead is free; None: none is."""
        if grid is None:
            return None
        here = float(grid.clearance_at(robot.position))
        # Cells are counted by their centres, and the robot may leave a narrow place.
        needed = min(self._radius - 0.5 * grid.resolution + 0.03, here)
        for share in (1.0, 0.7, 0.45, 0.25, 0.12):
            speed = share * wanted
            way = speed * _PREDICTION + speed**2 / (2.0 * self._deceleration)
            along = np.linspace(0.0, max(way, 0.15), 16)[1:]
            turn = along * curvature
            local = np.stack(
                [
                    along * np.sinc(turn / math.pi),
                    along * np.sin(turn / 2) * np.sinc(turn / 2 / math.pi),
                ],
                axis=-1,
            )
            if (grid.clearance_at(robot.points(local)) >= needed).all():
                return speed
        return None

    def _progressed(self, now: float, robot: Pose2D, command: Tracking) -> Tracking:
        """The command, or the status for one that moves nothing."""
        turned = abs(wrapped(robot.yaw - self._stood.yaw)) > 0.1
        if robot.distance_to(self._stood.x, self._stood.y) > 0.05 or turned:
            self._stood, self._moved_at = robot, now
        if now - self._moved_at > _NO_PROGRESS:
            return Tracking(command.linear, command.angular, TrajectoryCode.COST_FAILED)
        return command
