# SPDX-License-Identifier: Apache-2.0
"""Frames composed of two others; they may be layered."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from behavior_scene.derived.base import (
    Derived,
    DerivedObject,
    View,
    horizontal_direction,
    upright,
)
from behavior_scene.yaml_models import FixedPose, Length


class CompositeApproach(DerivedObject):
    """Stands `distance` before B on the way from A, and looks at B.

    u = (p_B - p_A without its z), normalised; p = p_B - distance u; yaw = atan2(u_y, u_x), z up.
    A is the robot's side, B the thing.
    """

    kind: Literal["approach"] = "approach"
    frame_a: str
    frame_b: str
    distance: Length

    def sources(self) -> tuple[str, ...]:
        """A and B."""
        return (self.frame_a, self.frame_b)

    def compute(self, view: View) -> Derived:
        """See the class."""
        a, b = view.pose(self.frame_a)[:3, 3], view.pose(self.frame_b)[:3, 3]
        u = horizontal_direction(b - a, f"'{self.frame_a}' and '{self.frame_b}'")
        return Derived(upright(b - self.distance * u, math.atan2(u[1], u[0])))


class CompositeHybrid(DerivedObject):
    """Position of A, orientation of B: a handle's place with the orientation of its frame."""

    kind: Literal["hybrid"] = "hybrid"
    frame_a: str
    frame_b: str

    def sources(self) -> tuple[str, ...]:
        """A and B."""
        return (self.frame_a, self.frame_b)

    def compute(self, view: View) -> Derived:
        """See the class."""
        pose = np.array(view.pose(self.frame_b))
        pose[:3, 3] = view.pose(self.frame_a)[:3, 3]
        return Derived(pose)


class CustomFrame(DerivedObject):
    """A fixed pose in a parent frame."""

    kind: Literal["custom"] = "custom"
    parent: str
    pose: FixedPose = FixedPose()

    def sources(self) -> tuple[str, ...]:
        """The parent."""
        return (self.parent,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        return Derived(view.pose(self.parent) @ self.pose.matrix())


class GraspFrame(DerivedObject):
    """Where a tool takes an object, by an annotation of its class in the object library."""

    kind: Literal["grasp"] = "grasp"
    object: str
    grasp: str
    """Name of the annotation."""

    def sources(self) -> tuple[str, ...]:
        """The object."""
        return (self.object,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        annotation = view.grasp(self.object, self.grasp)
        return Derived(view.pose(self.object) @ annotation.pose.matrix())
