# SPDX-License-Identifier: Apache-2.0
"""Places in and on things: the interior of a container, a slot of a stack."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from behavior_scene.derived.base import (
    Derived,
    DerivedObject,
    NotDerivableError,
    View,
    tilt,
    upright,
)
from behavior_scene.detections import Array
from behavior_scene.library import Shape
from behavior_scene.yaml_models import Count, Length, NotNegative


class ContainerInterior(DerivedObject):
    """The room in a box-like container: a box between its walls, from the floor to the rim.

    The frame is in the middle of that room, turned like the container, whose z must point up.
    """

    kind: Literal["interior"] = "interior"
    container: str
    wall: NotNegative = 0.005
    floor: NotNegative = 0.005
    maximum_tilt: Length = 0.35
    """[rad] A container that is tipped further holds nothing."""

    def sources(self) -> tuple[str, ...]:
        """The container."""
        return (self.container,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        pose, shape = view.pose(self.container), view.shape(self.container)
        size = 2.0 * np.array(shape.half_extents) - [2 * self.wall, 2 * self.wall, self.floor]
        if not np.all(size > 0.0):
            raise NotDerivableError(
                f"'{self.container}' has no interior: its extents are "
                f"{' x '.join(f'{2 * half:g}' for half in shape.half_extents)} m"
            )
        angle = math.acos(float(np.clip(pose[2, 2], -1.0, 1.0)))
        if angle > self.maximum_tilt:
            raise NotDerivableError(
                f"'{self.container}' is tipped by {math.degrees(angle):.0f}°, more than "
                f"{math.degrees(self.maximum_tilt):.0f}°"
            )
        middle = np.eye(4)
        middle[2, 3] = self.floor / 2.0
        return Derived(pose @ middle, Shape("box", tuple(float(edge) for edge in size)))


class StackSlot(DerivedObject):
    """Where the centre of the k-th thing on top of `base` belongs; upright, turned like the base.

    Slot 1 lies on the base, and things are `height` high.
    """

    kind: Literal["stack_slot"] = "stack_slot"
    base: str
    slot: Count = 1
    height: Length
    maximum_tilt: Length = 0.15
    """[rad] Nothing can be stacked on a base whose faces lean further."""

    def sources(self) -> tuple[str, ...]:
        """The base."""
        return (self.base,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        pose, shape = view.pose(self.base), view.shape(self.base)
        lean = tilt(pose)
        if lean > self.maximum_tilt:
            raise NotDerivableError(
                f"'{self.base}' leans by {math.degrees(lean):.0f}°, more than "
                f"{math.degrees(self.maximum_tilt):.0f}°"
            )
        half_height = float(np.abs(pose[2, :3]) @ np.array(shape.half_extents))
        at = pose[:3, 3] + [0.0, 0.0, half_height + (self.slot - 0.5) * self.height]
        return Derived(upright(at, _yaw(pose)))


def _yaw(pose: Array) -> float:
    """Direction of the first axis that lies flat [rad]."""
    flat = int(np.argmin(np.abs(pose[2, :2])))
    yaw = math.atan2(pose[1, flat], pose[0, flat])
    return yaw if flat == 0 else yaw - math.pi / 2.0
