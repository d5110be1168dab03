# SPDX-License-Identifier: Apache-2.0
"""How far two poses, 4x4 and in one frame, are from one another."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Pose = NDArray[np.float64]


def distance_between(first: Pose, second: Pose) -> float:
    """Between the origins of two poses [m]."""
    return math.dist(first[:3, 3].tolist(), second[:3, 3].tolist())


def angle_between(first: Pose, second: Pose) -> float:
    """Of the turn from one orientation to the other [rad], from 0 to pi; exact near both."""
    turn = first[:3, :3].T @ second[:3, :3]
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = turn.tolist()
    return math.atan2(math.hypot(zy - yz, xz - zx, yx - xy), xx + yy + zz - 1.0)
