# SPDX-License-Identifier: Apache-2.0
"""Poses in the plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Positions [m], shape (n, 2)."""


@dataclass(frozen=True, slots=True)
class Pose2D:
    """A pose in the plane; of which frame, its owner says."""

    x: float = 0.0
    """[m]"""
    y: float = 0.0
    """[m]"""
    yaw: float = 0.0
    """[rad] from the frame's x axis, counterclockwise."""

    def __matmul__(self, other: Pose2D) -> Pose2D:
        """`other`, given in the frame of this pose, in the frame that this pose is given in."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2D(
            self.x + c * other.x - s * other.y,
            self.y + s * other.x + c * other.y,
            wrapped(self.yaw + other.yaw),
        )

    def inverse(self) -> Pose2D:
        """The frame that this pose is given in, as seen from this pose."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2D(-c * self.x - s * self.y, s * self.x - c * self.y, wrapped(-self.yaw))

    def distance(self, other: Pose2D) -> float:
        """Distance of the positions [m]."""
        return math.hypot(self.x - other.x, self.y - other.y)

    def distance_to(self, x: float, y: float) -> float:
        """Distance to a point [m]."""
        return math.hypot(self.x - x, self.y - y)

    @property
    def position(self) -> Points:
        """[m], shape (2,)."""
        return np.array([self.x, self.y])

    def points(self, local: Points) -> Points:
        """Points (n, 2) of the frame of this pose in the frame that this pose is given in."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        turned: Points = local @ np.array([[c, s], [-s, c]])
        return turned + self.position

    def turn(self, other: Pose2D) -> float:
        """Smallest angle between the headings [rad], 0..pi."""
        return abs(wrapped(other.yaw - self.yaw))


@dataclass(frozen=True, slots=True)
class FramedPose:
    """A pose with the name of its frame."""

    frame: str
    pose: Pose2D


def wrapped(angle: float) -> float:
    """The same direction in -pi..pi [rad]."""
    return math.remainder(angle, math.tau)


def yaw_of(x: float, y: float, z: float, w: float) -> float:
    """Angle [rad] about the vertical from the frame's x axis to that of a rotated one."""
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
