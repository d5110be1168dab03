# SPDX-License-Identifier: Apache-2.0
"""A start state of a world that was observed elsewhere: joints, objects, what is held.

A file of it, JSON, is what `/simulation/reset` takes in place of a layout's name::

    {"joints": {"panda_joint1": 0.0, ...},
     "objects": {"red_block": [x, y, z, qx, qy, qz, qw], ...},
     "held": "red_block"}

Lengths in metres, angles in radians, poses in the frame `world`. Joints that are not named stand as
in any start state; objects that are not named are put outside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_sim.worlds.layouts import Pose, pose_of

SUFFIX = ".json"
"""Of a file that a reset takes for a state, not for a layout's name."""
_KEYS = {"joints", "objects", "held"}


class WorldStateError(ValueError):
    """A state that a world cannot be put into; the message says why."""


@dataclass(frozen=True, kw_only=True)
class WorldState:
    """Where everything is, at rest."""

    joints: Mapping[str, float]
    """Positions by joint, of arm, fingers and doors [rad or m]."""
    objects: Mapping[str, Pose] = field(default_factory=dict)
    """world_T_object (4, 4) by name."""
    held: str = ""
    """Object in the gripper, one of `objects`; empty: none."""

    def save(self, file: str | Path) -> None:
        """Write a file that `load` reads."""
        objects = {name: _seven(pose) for name, pose in self.objects.items()}
        document = {"joints": dict(self.joints), "objects": objects, "held": self.held}
        Path(file).write_text(json.dumps(document), encoding="utf-8")

    @classmethod
    def load(cls, file: str | Path) -> WorldState:
        """Read a file.

        Raises:
            WorldStateError: there is none, or it holds no state; names what is wrong.
        """
        try:
            return cls.parse(json.loads(Path(file).read_text(encoding="utf-8")), str(file))
        except OSError as error:
            raise WorldStateError(f"{file}: cannot be read ({error.strerror})") from error
        except ValueError as error:
            if isinstance(error, WorldStateError):
                raise
            raise WorldStateError(f"{file}: is not JSON: {error}") from error

    @classmethod
    def parse(cls, data: Any, source: str = "state") -> WorldState:
        """The state that a mapping describes.

        Raises:
            WorldStateError: names the key that is unknown or wrong.
        """
        if not isinstance(data, dict) or (unknown := sorted(set(data) - _KEYS)):
            what = ", ".join(unknown) if isinstance(data, dict) else repr(data)[:50]
            raise WorldStateError(
                f"{source}: {what}; a state holds {', '.join(sorted(_KEYS))} and nothing else"
            )
        joints = _mapping(data, "joints", source)
        for name, value in joints.items():
            if not _finite([value], 1):
                raise WorldStateError(f"{source}: joints.{name}: a finite number is wanted")
        objects = {
            name: _pose(value, f"{source}: objects.{name}")
            for name, value in _mapping(data, "objects", source).items()
        }
        held = data.get("held", "")
        if not isinstance(held, str) or (held and held not in objects):
            raise WorldStateError(f"{source}: held: {held!r:.50} is none of its objects")
        return cls(
            joints={name: float(value) for name, value in joints.items()},
            objects=objects,
            held=held,
        )


def _mapping(data: Mapping[str, Any], key: str, source: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise WorldStateError(f"{source}: {key}: expected names with values, got {value!r:.50}")
    return value


def _finite(value: Any, count: int) -> bool:
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return numbers.shape == (count,) and bool(np.isfinite(numbers).all())


def _pose(value: Any, where: str) -> Pose:
    if not _finite(value, 7) or not 0.9 < np.linalg.norm(value[3:]) < 1.1:
        raise WorldStateError(f"{where}: x y z and a quaternion x y z w of length 1 are wanted")
    pose = pose_of(value[:3])
    pose[:3, :3] = Rotation.from_quat(value[3:]).as_matrix()
    return pose


def _seven(pose: Pose) -> list[float]:
    turn = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return [float(value) for value in (*pose[:3, 3], *turn)]
