# SPDX-License-Identifier: Apache-2.0
"""The scene as tree nodes see it: one snapshot of objects with poses and sizes. No ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from behavior_motion.collision.convex import ConvexShape

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SeenObject:
    """One object of the scene. Lengths in metres, angles in radians, frame of the snapshot."""

    name: str
    x: float
    y: float
    z: float
    """Of the object's centre."""
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Edge lengths of its bounding box; 0: not known."""
    tilt: float = 0.0
    """Angle between the vertical and the nearest axis of the object, 0..0.96."""
    held: bool = False
    """Whether it moves with a link of the robot."""
    class_id: str = ""
    """What the detector calls it."""
    yaw: float = 0.0
    """Angle from the frame's x axis to the object's, about the vertical."""
    stale: bool = False
    """Not seen of late: it may have left this place."""
    derived: bool = False
    """A frame or place that is computed from others: nothing that stands in the way."""

    def distance_xy(self, x: float, y: float) -> float:
        """Horizontal distance of its centre from a point."""
        return math.hypot(self.x - x, self.y - y)

    def seen_from(self, other: SeenObject) -> tuple[float, float, float]:
        """Its centre in the frame of another object that stands upright [m]."""
        x, y = self.x - other.x, self.y - other.y
        c, s = math.cos(other.yaw), math.sin(other.yaw)
        return c * x + s * y, c * y - s * x, self.z - other.z

    @property
    def top(self) -> float:
        """Height of its highest point, tilt included."""
        width = max(self.size[0], self.size[1])
        return self.z + 0.5 * (self.size[2] * math.cos(self.tilt) + width * math.sin(self.tilt))


@dataclass(frozen=True, eq=False)
class SceneBody:
    """One object of the scene as a body in space, be it lost or not."""

    name: str
    pose: Matrix
    """Of its centre, 4x4 in the frame of the snapshot [m]."""
    shape: ConvexShape | None
    """None: not known."""
    last_seen: float
    """Node time [s]."""
    attached_link: str = ""
    """Link that it moves with; empty: none."""
    lost: bool = False
    """Not seen for so long that it must be expected elsewhere."""


@dataclass(frozen=True)
class SceneSnapshot:
    """All objects at one moment; among `objects` there are no lost ones."""

    stamp: float = -math.inf
    """Node time [s]."""
    frame: str = "world"
    objects: Mapping[str, SeenObject] = field(default_factory=dict)
    bodies: Mapping[str, SceneBody] = field(default_factory=dict)
    revision: int = 0
    """Grows with every change of the scene."""

    @property
    def held(self) -> SeenObject | None:
        """The object in the gripper, or None."""
        return next((seen for seen in self.objects.values() if seen.held), None)


def tilt_of(x: float, y: float, z: float, w: float) -> float:
    """Angle [rad] between the vertical and the nearest axis of a rotated box.

    Args:
        x: first component of the quaternion of the box, whose length must not be 0.
        y: second component.
        z: third component.
        w: real component.

    Returns:
        0 when a face lies flat, whichever one; at most acos(1/sqrt(3)) = 0.955.
    """
    norm = x * x + y * y + z * z + w * w
    if norm == 0.0:
        return 0.0
    scale = 2.0 / norm
    # The vertical seen in the box: last row of the rotation matrix.
    up = (scale * (x * z - w * y), scale * (y * z + w * x), 1.0 - scale * (x * x + y * y))
    return math.acos(min(1.0, max(abs(component) for component in up)))
