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
class Pose:
    """Position [m] and heading [rad] in a frame that its owner names."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def __matmul__(self, other: Pose) -> Pose:
        """`other`, given relative to this pose, in this pose's own frame."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose(
            self.x + c * other.x - s * other.y,
            self.y + s * other.x + c * other.y,
            wrapped(self.yaw + other.yaw),
        )

    def inverse(self) -> Pose:
        """The pose of the frame that this pose is given in, relative to this pose."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose(-c * self.x - s * self.y, s * self.x - c * self.y, wrapped(-self.yaw))

    @property
    def position(self) -> Points:
        """[m], shape (2,)."""
        return np.array([self.x, self.y])

    def distance(self, x: float, y: float) -> float:
        """To a point [m]."""
        return math.hypot(self.x - x, self.y - y)

    def points(self, local: Points) -> Points:
        """Points (n, 2) given relative to this pose, in this pose's own frame."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        turned: Points = local @ np.array([[c, s], [-s, c]])
        return turned + self.position


def wrapped(angle: float) -> float:
    """The same direction in -pi..pi [rad]."""
    return math.remainder(angle, math.tau)
