# SPDX-License-Identifier: Apache-2.0
"""A start state of a world: joints, objects, what is held.

A file of it::

    {"joints": {"panda_joint1": 0.0, ...},
     "objects": {"red_block": [x, y, z, qx, qy, qz, qw], ...},
     "held": "red_block"}

Lengths in metres, angles in radians, poses in the frame `world`. Joints that are not named stand as
in any start state; objects that are not named are put outside.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import FiniteFloat, PlainSerializer, PlainValidator, model_validator
from scipy.spatial.transform import Rotation

from behavior_sim.worlds.layouts import Pose, pose_of
from behavior_sim.worlds.state_file import StateFile


def _pose(value: Any) -> Pose:
    if isinstance(value, np.ndarray):
        return value
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    good = numbers.shape == (7,) and np.isfinite(numbers).all()
    if not good or not 0.9 < np.linalg.norm(numbers[3:]) < 1.1:
        raise ValueError("x y z and a quaternion x y z w of length 1 are wanted")
    pose = pose_of(numbers[:3])
    pose[:3, :3] = Rotation.from_quat(numbers[3:]).as_matrix()
    return pose


def _seven(pose: Pose) -> list[float]:
    turn = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return [float(value) for value in (*pose[:3, 3], *turn)]


class WorldState(StateFile):
    """Where everything is, at rest."""

    joints: dict[str, FiniteFloat] = {}
    """Positions by joint, of arm, fingers and doors [rad or m]."""
    objects: dict[str, Annotated[Pose, PlainValidator(_pose), PlainSerializer(_seven)]] = {}
    """world_T_object (4, 4) by name; in a file x y z and a quaternion x y z w."""
    held: str = ""
    """Object in the gripper, one of `objects`; empty: none."""

    @model_validator(mode="after")
    def _held_is_there(self) -> Self:
        if self.held and self.held not in self.objects:
            raise ValueError(f"held {self.held!r:.50} is none of its objects")
        return self
