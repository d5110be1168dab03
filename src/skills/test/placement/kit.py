# SPDX-License-Identifier: Apache-2.0
"""Poses, boxes and specifications in a few characters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_skills.interfaces import Array
from behavior_skills.placement import OrientedBox, PlaceSpecification


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Array:
    """4x4; yaw in degrees."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("z", yaw, degrees=True).as_matrix()
    matrix[:3, 3] = x, y, z
    return matrix


def random_pose(rng: np.random.Generator) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.random(rng=rng).as_matrix()
    matrix[:3, 3] = rng.uniform(-1, 1, 3)
    return matrix


def box(size: tuple[float, float, float] = (1.0, 1.0, 1.0), **at: float) -> OrientedBox:
    return OrientedBox(pose(**at), np.array(size) / 2)


def spec(**keys: Any) -> PlaceSpecification:
    return PlaceSpecification.model_validate({"objects": ["peg", "bin"], **keys})
