# SPDX-License-Identifier: Apache-2.0
"""Targets that jump, made smooth: an exponential average, slow far away, quick near the target."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from behavior_motion.checks import Matrix, as_pose, positive

FAR, NEAR = 0.95, 0.5
"""What is kept of the smoothed target at each sixtieth of a second, far from and at the target."""
WIDTH = 0.05
"""Distance at which it is neither, see `TargetSmoother` [m]."""
RATE = 60.0
"""[Hz] that the shares are for."""


class TargetSmoother:
    """Smooths a target from step to step.

    With the distance ``d`` of the tool from the target, the larger of that in space and the
    Frobenius norm of the difference of the rotations, and ``w = 1 - exp(-d^2 / (2 WIDTH^2))``, the
    share ``FAR w + NEAR (1 - w)`` of what was smoothed so far is kept.

    Source: the command smoothing of NVIDIA Isaac Cortex's motion commander; there positions and
    entries of rotation matrices are averaged at a fixed rate, here rotations along their geodesic,
    at any rate.
    """

    def __init__(self, tool: Matrix, period: float) -> None:
        """Start at the tool's pose, (4, 4); ``period`` between steps in [s]."""
        self._pose = np.array(tool)
        self._exponent = RATE * positive("period", period)

    def step(self, tool: Matrix, target: Matrix) -> Matrix:
        """The smoothed target (4, 4), all poses in one frame.

        Raises:
            MotionError: the target is no pose; what was smoothed so far stays.
        """
        target = as_pose("target", target)
        distance = max(
            float(np.linalg.norm(tool[:3, 3] - target[:3, 3])),
            float(np.linalg.norm(tool[:3, :3] - self._pose[:3, :3])),
        )
        far = 1.0 - np.exp(-0.5 * (distance / WIDTH) ** 2)
        moved = 1.0 - (FAR * far + NEAR * (1.0 - far)) ** self._exponent
        pose = self._pose
        pose[:3, 3] += moved * (target[:3, 3] - pose[:3, 3])
        turn = pin.log3(target[:3, :3] @ pose[:3, :3].T)
        pose[:3, :3] = np.array(pin.exp3(moved * turn)) @ pose[:3, :3]
        return np.array(pose)
