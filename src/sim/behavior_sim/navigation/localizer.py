# SPDX-License-Identifier: Apache-2.0
"""The localizer: matches what the scanner sees with the map, with noise, loss and resets.

While it tracks, its estimate is the true pose with a slowly wandering error. While it has lost the
robot, the last correction of the odometry stands, so that the estimate drifts with the wheels'
slip. A reset searches the whole map, which takes time, and fails where the map does not show the
place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import Box

_WANDER = 5.0
"""[s] over which the tracking error changes."""
_SEARCH = 1.5
"""[s] that a search of the whole map takes."""
_LOST_SCORE, _TRACKING_SCORE = 0.15, 0.93


class LocalizationStatus(IntEnum):
    """The localizer's own verdict (`LocalizationResult`)."""

    UNKNOWN = 0
    GOOD = 1
    BAD = 2


@dataclass(frozen=True, slots=True)
class Localization:
    """One result."""

    pose: Pose2D
    """Of the robot in the map, as estimated."""
    correction: Pose2D
    """Of the frame `odom` in the map."""
    deviation: tuple[float, float]
    """Standard deviation [m, rad]."""
    score: float
    """0..1"""
    status: LocalizationStatus
    tile: str
    """Map that the estimate refers to."""


class Localizer:
    """Estimates where the robot is.

    Args:
        seed: of the noise.
        noise: standard deviation of the tracking error [m].
    """

    def __init__(self, seed: int = 0, *, noise: float = 0.015) -> None:
        self._random = np.random.default_rng([seed, 2])
        self._noise = np.array([noise, noise, 0.5 * noise])
        self._error = np.zeros(3)
        self._correction = Pose2D()
        self._tile, self._box = "", (0.0, 0.0, 0.0, 0.0)
        self._status = LocalizationStatus.UNKNOWN
        self._last = -math.inf
        self._searching_until = -math.inf
        self._lost_until = -math.inf
        self._drifted = 0.0
        self._before: Pose2D | None = None

    @property
    def status(self) -> LocalizationStatus:
        """Whether the robot is located."""
        return self._status

    def start(self, truth: Pose2D, odometry: Pose2D, tile: str, box: Box) -> None:
        """Begin at a known pose, as after docking at the charger."""
        self._correction = truth @ odometry.inverse()
        self._tile, self._box = tile, box
        self._status = LocalizationStatus.GOOD

    def use_map(self, tile: str, box: Box) -> None:
        """Take another map; the robot is to be found in it by a reset."""
        if tile != self._tile:
            self._tile, self._box = tile, box
            self._status = LocalizationStatus.UNKNOWN

    def lose(self, now: float, duration: float) -> None:
        """Lose the robot: for `duration` [s] no reset finds it; 0: the next one does."""
        self._status = LocalizationStatus.BAD
        self._lost_until = now + duration
        self._searching_until = -math.inf

    def reset(self, now: float) -> None:
        """Search the whole map for the robot."""
        self._status = LocalizationStatus.UNKNOWN
        self._searching_until = now + _SEARCH

    def step(self, now: float, truth: Pose2D, odometry: Pose2D) -> Localization:
        """Match the newest scan."""
        shown = self._shows(truth)
        if self._status is LocalizationStatus.GOOD and not shown:
            self.lose(now, 0.0)
        if math.isfinite(self._searching_until) and now >= self._searching_until:
            self._searching_until = -math.inf
            found = shown and now >= self._lost_until
            self._status = LocalizationStatus.GOOD if found else LocalizationStatus.BAD
        if self._status is LocalizationStatus.GOOD:
            self._drifted = 0.0
            self._correction = (truth @ self._wander(now)) @ odometry.inverse()
        elif self._before is not None:
            self._drifted += odometry.distance_to(self._before.x, self._before.y)
        self._before = odometry
        return self._result(odometry)

    def _shows(self, truth: Pose2D) -> bool:
        left, low, right, high = self._box
        return left <= truth.x <= right and low <= truth.y <= high

    def _wander(self, now: float) -> Pose2D:
        """The tracking error, an Ornstein-Uhlenbeck process."""
        elapsed = min(now - self._last, _WANDER) if math.isfinite(self._last) else _WANDER
        self._last = now
        keep = math.exp(-elapsed / _WANDER)
        kick = self._noise * math.sqrt(1.0 - keep**2)
        self._error = keep * self._error + kick * self._random.standard_normal(3)
        return Pose2D(*map(float, self._error))

    def _result(self, odometry: Pose2D) -> Localization:
        good = self._status is LocalizationStatus.GOOD
        spread = self._noise[0] + 0.1 * self._drifted + (0.0 if good else 0.5)
        mean = _TRACKING_SCORE if good else _LOST_SCORE
        score = float(np.clip(mean + 0.02 * self._random.standard_normal(), 0.0, 1.0))
        return Localization(
            pose=self._correction @ odometry,
            correction=self._correction,
            deviation=(float(spread), float(0.5 * spread)),
            score=score,
            status=self._status,
            tile=self._tile,
        )
