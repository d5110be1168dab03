# SPDX-License-Identifier: Apache-2.0
"""Exponential pose filter that knows the time step.

After a step of duration dt the filtered pose has gone the part ``a = 1 - exp(-dt / tau)`` of the
way to the measured one, along a straight line and the shortest rotation, so that the result does
not depend on the rate of the camera. A jump beyond `snap_distance` (a block that somebody moved)
is taken over at once: filtering it would show the object where it never was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_scene.detections import Array


@dataclass(frozen=True, slots=True)
class PoseFilter:
    """Parameters of the filter; :meth:`step` is a pure function."""

    time_constant: float
    """tau [s]."""
    snap_distance: float
    """[m]."""
    snap_angle: float = 0.3
    """[rad]."""

    def step(self, filtered: Array, measured: Array, dt: float) -> Array:
        """The pose after `dt` seconds with the measurement `measured` (both 4x4)."""
        offset = measured[:3, 3] - filtered[:3, 3]
        turn = Rotation.from_matrix(filtered[:3, :3].T @ measured[:3, :3]).as_rotvec()
        if (
            float(np.linalg.norm(offset)) > self.snap_distance
            or float(np.linalg.norm(turn)) > self.snap_angle
        ):
            return measured.copy()
        part = 1.0 - math.exp(-max(dt, 0.0) / self.time_constant)
        pose = np.eye(4)
        pose[:3, 3] = filtered[:3, 3] + part * offset
        pose[:3, :3] = filtered[:3, :3] @ Rotation.from_rotvec(part * turn).as_matrix()
        return pose
