# SPDX-License-Identifier: Apache-2.0
"""How far two poses, 4x4 and in one frame, are from one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Pose = NDArray[np.float64]


def distance_between(first: Pose, second: Pose) -> float:
    """Between the origins of two poses [m]."""
    return float(np.linalg.norm(first[:3, 3] - second[:3, 3]))


def angle_between(first: Pose, second: Pose) -> float:
    """Of the turn from one orientation to the other [rad], from 0 to pi."""
    return float(Rotation.from_matrix(first[:3, :3].T @ second[:3, :3]).magnitude())
