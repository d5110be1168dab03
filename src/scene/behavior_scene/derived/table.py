# SPDX-License-Identifier: Apache-2.0
"""The edge of a table before the robot, found in points."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from behavior_scene.derived.base import (
    Derived,
    DerivedObject,
    NotDerivableError,
    View,
    horizontal_direction,
    upright,
)
from behavior_scene.derived.capsule import first_hit
from behavior_scene.detections import Array
from behavior_scene.yaml_models import Count, Length, Number

MOST_STEPS = 10_000
"""Of the search."""


class ApproachTable(DerivedObject):
    """Middle of a table's edge, looking at the table.

    Two upright capsules, left and right of `frame` (between the feet, x forward), go forward one
    independently of the other until each holds `min_capsule_points`; the edge is the line between
    them. Position: its middle, at the height of `frame`; yaw: its normal away from the robot. A
    capsule that meets nothing up to `search_end` is a miss, and so is the whole.
    """

    kind: Literal["approach_table"] = "approach_table"
    uses_points: ClassVar[bool] = True
    frame: str
    min_capsule_points: Count = 300
    search_start: Number = 0.05
    """[m]"""
    search_end: Length = 3.0
    step: Length = 0.01
    half_width: Length = 0.3
    """Of the way between the capsules [m]."""
    radius: Length = 0.05
    bottom: Number = 0.5
    """Ends of the capsules' axes above `frame` [m]."""
    top: Number = 1.1

    @model_validator(mode="after")
    def _possible(self) -> Self:
        way = self.search_end - self.search_start
        if not 0.0 < way <= MOST_STEPS * self.step:
            raise ValueError(
                f"from search_start {self.search_start:g} to search_end {self.search_end:g} there "
                f"must be some way, of at most {MOST_STEPS} steps of {self.step:g} m"
            )
        return self

    def sources(self) -> tuple[str, ...]:
        """The robot's frame."""
        return (self.frame,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        start = view.pose(self.frame)
        world_T_stance = upright(start[:3, 3], math.atan2(start[1, 0], start[0, 0]))
        rotation = world_T_stance[:3, :3]
        points = (view.points() - world_T_stance[:3, 3]) @ rotation
        left = self._edge(points, self.half_width, "left")
        right = self._edge(points, -self.half_width, "right")
        along = np.array([left - right, 2.0 * self.half_width, 0.0])
        normal = horizontal_direction(np.array([along[1], -along[0], 0.0]), "both ends of the edge")
        middle = np.array([(left + right) / 2.0, 0.0, 0.0])
        yaw = math.atan2(normal[1], normal[0])
        return Derived(world_T_stance @ upright(middle, yaw))

    def _edge(self, points: Array, y: float, side: str) -> float:
        found = first_hit(
            points,
            y=y,
            start=self.search_start,
            end=self.search_end,
            step=self.step,
            radius=self.radius,
            bottom=self.bottom,
            top=self.top,
            count=self.min_capsule_points,
        )
        if found is None:
            raise NotDerivableError(
                f"no table on the {side} up to {self.search_end:g} m before '{self.frame}': "
                f"nowhere {self.min_capsule_points} points"
            )
        return found
