# SPDX-License-Identifier: Apache-2.0
"""A room that the robot is to keep out of, though nothing stands there."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from behavior_scene.derived.base import Derived, DerivedObject, View
from behavior_scene.library import SHAPE_SIZES, Shape
from behavior_scene.yaml_models import FixedPose, Length


class Zone(DerivedObject):
    """A shape at a fixed pose in a parent frame; skills take it for an obstacle."""

    kind: Literal["zone"] = "zone"
    parent: str
    pose: FixedPose = FixedPose()
    """Of the shape's centre."""
    shape: Literal["box", "sphere", "cylinder"]
    size: tuple[Length, ...]
    """[m] box: x y z; sphere: radius; cylinder (along z): height radius."""

    @model_validator(mode="after")
    def _size_of_the_shape(self) -> Self:
        wanted = SHAPE_SIZES[self.shape]
        if len(self.size) != wanted:
            raise ValueError(f"a {self.shape} takes {wanted} lengths, not {len(self.size)}")
        return self

    def sources(self) -> tuple[str, ...]:
        """The parent."""
        return (self.parent,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        pose = view.pose(self.parent) @ self.pose.matrix()
        return Derived(pose, Shape(self.shape, self.size))
