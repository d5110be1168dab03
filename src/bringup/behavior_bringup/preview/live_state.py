# SPDX-License-Identifier: Apache-2.0
"""What a stack believes at one moment: its joints, and the objects of its scene. No ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_bringup.preview.base_state import BelievedBase

Pose = NDArray[np.float64]
Sight = Literal["tracked", "stale", "frozen", "held", "lost"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BelievedObject:
    """One object of the scene."""

    name: str
    class_id: str
    pose: Pose
    """Of its centre in the scene's frame, (4, 4) [m]."""
    sight: Sight = "tracked"
    link: str = ""
    """Of the robot that it moves with, if it is held."""
    derived: bool = False
    """Computed from others, not seen."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LiveState:
    """A robot and what it believes is around it."""

    joints: Mapping[str, float]
    """Positions [rad or m] by name."""
    objects: Mapping[str, BelievedObject] = field(default_factory=dict)
    """By name."""
    frame: str = "world"
    """Of the objects' poses."""
    speed: float = 0.0
    """Of the fastest joint [rad/s or m/s]."""
    base: BelievedBase | None = None
    """Of a robot that drives by a map."""

    def row(self) -> dict[str, Any]:
        """The state for a file of JSON: lengths in metres, angles in radians."""
        return {
            "joints": dict(self.joints),
            "objects": {
                name: {
                    "class": item.class_id,
                    "sight": item.sight,
                    "derived": item.derived,
                    "position": [round(float(value), 5) for value in item.pose[:3, 3]],
                    "orientation_xyzw": [
                        round(float(value), 5)
                        for value in Rotation.from_matrix(item.pose[:3, :3]).as_quat()
                    ],
                }
                for name, item in self.objects.items()
            },
            **({"base": self.base.row()} if self.base else {}),
        }
