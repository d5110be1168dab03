# SPDX-License-Identifier: Apache-2.0
"""The place skill's specification as YAML, checked as a whole."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    model_validator,
)

from behavior_skills.interfaces import Array
from behavior_skills.orientations import (
    DirectionConstraint,
    axis_alignment,
    plane_alignment,
)
from behavior_skills.placement.success import MODES
from behavior_skills.sentences import joined
from behavior_skills.specification import (
    MOST_NAMES,
    Length,
    Name,
    NamePart,
    Positive,
    Seed,
    SkillSpecification,
    Weights,
)

MOST_CANDIDATES = 200
"""Placements sampled in one round."""
MOST_STEPS = 6000
"""Waiting steps, a minute."""
Ratio = Annotated[FiniteFloat, Field(ge=-10.0, le=11.0)]
Component = Annotated[FiniteFloat, Field(ge=-1e3, le=1e3)]
Axis = tuple[Component, Component, Component]
LEAST_SINE = 1e-6
"""Of the angle between two directions that span a plane."""


class PlaceSpecification(SkillSpecification):
    """One place. Lengths [m], angles [deg], axes in the frames that their names say."""

    skill = "place"
    without_effect = {
        "place_align_axis": "the reference never read it; use align_place_obj_axis",
        "pick_align_axis": "the reference never read it; use align_pick_obj_axis",
        "constraint_gripper_x": "the reference never read it; use filter_x_dir",
    }

    name: str = "place"
    objects: Annotated[list[Name], Field(min_length=2, max_length=2)]
    """Object to place, and container."""
    place_part_prim_path: str | None = None
    """Name of the part of the container that counts instead of the whole; see `parts`."""
    parts: Annotated[dict[Name, Part], Field(max_length=MOST_NAMES)] = {}
    """Parts of the container by name."""

    place_direction: Literal["vertical", "horizontal"] = "vertical"
    position_constraint: Literal["gripper", "object"] = "gripper"
    """What is put at the sampled point: the tool, or the object's origin."""
    x_ratio_range: tuple[Ratio, Ratio] = (0.4, 0.6)
    y_ratio_range: tuple[Ratio, Ratio] = (0.4, 0.6)
    z_ratio_range: tuple[Ratio, Ratio] = (0.4, 0.6)
    """Along the container's own axes, 0 to 1 from one side to the other. From above (vertical) the
    axis that is nearest to the vertical counts for nothing."""
    pre_place_z_offset: Length = 0.2
    place_z_offset: Length = 0.1

    align_place_obj_axis: Axis | None = None
    """In the container's frame."""
    offset_place_obj_axis: Axis | None = None
    """In the container's frame."""
    align_convention: Literal["legacy", "insertion"] = "legacy"
    """See `behavior_skills.placement.poses`."""
    pre_place_align: Length = 0.2
    pre_place_offset: Length = 0.2
    place_align: Length = 0.1
    place_offset: Length = 0.1

    align_pick_obj_axis: Axis | None = None
    """In the held object's frame; with `align_place_obj_axis` and `align_obj_tol` in force."""
    align_obj_tol: Annotated[FiniteFloat, Field(gt=0.0, le=180.0)] | None = None
    align_plane_x_axis: Axis | None = None
    align_plane_y_axis: Axis | None = None
    """Two directions in the container's frame that span a plane."""
    align_plane_tol: Annotated[FiniteFloat, Field(gt=0.0, le=90.0)] = 10.0
    """Between that plane and the object's alignment axis, or the tool's z where there is none."""

    pre_place_hold_vec_weight: Weights | None = None
    post_place_hold_vec_weight: Weights | None = None
    hesitate_steps: Annotated[int, Field(ge=0, le=MOST_STEPS)] = 0
    gripper_change_steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 10
    post_place_vector: tuple[Length, Length, Length] | None = None
    """In the tool frame."""
    ignore_substring: Annotated[list[NamePart], Field(max_length=MOST_NAMES)] = []

    test_mode: Literal["forward", "ik"] = "forward"
    """Test candidates by whole plans, or by inverse kinematics alone."""
    selection: Literal["dual", "single"] = "dual"
    """Test pre-place and place poses, or place poses alone."""
    candidates: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)] = 20
    """In each round, of at most `MOST_CANDIDATES`."""
    seed: Seed | None = None
    t_eps: Positive = 1e-3
    o_eps: Positive = 5e-3
    """[rad]"""

    success_mode: str = "3diou"
    success_th: FiniteFloat = 0.0
    threshold: Length = 0.03
    bbox: Literal["obb", "aabb"] = "obb"

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems: list[str] = []
        if self.objects[0] == self.objects[1]:
            problems.append("objects names the same thing twice")
        for key in ("x_ratio_range", "y_ratio_range", "z_ratio_range"):
            low, high = getattr(self, key)
            if low > high:
                problems.append(f"{key} is [{low:g}, {high:g}], its first value must be the lower")
        if self.place_direction == "horizontal":
            wanted = ["align_place_obj_axis"]
            if self.position_constraint == "object":
                wanted.append("offset_place_obj_axis")
            problems += [
                f"{key} is needed for place_direction horizontal"
                for key in wanted
                if getattr(self, key) is None
            ]
        for key in self._axes():
            axis = getattr(self, key)
            if axis is not None and math.hypot(*axis) < 1e-9:
                problems.append(f"{key} is {list(axis)}, which has no direction")
        if self.success_mode not in MODES:
            problems.append(f"success_mode '{self.success_mode}' is not of {', '.join(MODES)}")
        if self.place_part_prim_path and self.place_part_prim_path not in self.parts:
            problems.append(
                f"place_part_prim_path '{self.place_part_prim_path}' is not in parts "
                f"({', '.join(self.parts) or 'which is empty'})"
            )
        problems += self.filter_problems()
        plane = (self.align_plane_x_axis, self.align_plane_y_axis)
        if (plane[0] is None) != (plane[1] is None):
            problems.append("align_plane_x_axis and align_plane_y_axis belong together")
        elif plane != (None, None) and self._plane_normal() is None:
            problems.append("align_plane_x_axis and align_plane_y_axis are parallel: no plane")
        if problems:
            raise ValueError(joined(problems))
        return self

    @staticmethod
    def _axes() -> tuple[str, ...]:
        return (
            "align_place_obj_axis",
            "offset_place_obj_axis",
            "align_pick_obj_axis",
            "align_plane_x_axis",
            "align_plane_y_axis",
        )

    def _plane_normal(self) -> Array | None:
        """Of the alignment plane in the container's frame; None: there is none."""
        if self.align_plane_x_axis is None or self.align_plane_y_axis is None:
            return None
        x, y = np.asarray(self.align_plane_x_axis), np.asarray(self.align_plane_y_axis)
        normal: Array = np.cross(x, y)
        flat = LEAST_SINE * float(np.linalg.norm(x) * np.linalg.norm(y))
        return normal if float(np.linalg.norm(normal)) > flat else None

    def constraints(self, B_R_C: Array, E_R_O: Array) -> list[DirectionConstraint]:
        """What orientations of the tool in the base frame have to meet.

        Args:
            B_R_C: orientation of the container in the base frame, 3x3.
            E_R_O: orientation of the held object in the tool frame, 3x3.
        """
        found = self.filter_constraints()
        pick, place, tolerance = (
            self.align_pick_obj_axis,
            self.align_place_obj_axis,
            self.align_obj_tol,
        )
        if pick is not None and place is not None and tolerance is not None:
            name = f"align_obj_tol: {tolerance:g}"
            found.append(axis_alignment(E_R_O @ pick, B_R_C @ place, math.radians(tolerance), name))
        normal = self._plane_normal()
        if normal is not None:
            axis = E_R_O @ pick if pick is not None else np.array([0.0, 0.0, 1.0])
            found.append(
                plane_alignment(
                    axis, B_R_C @ normal, math.radians(self.align_plane_tol), "align_plane_*_axis"
                )
            )
        return found

    def warnings(self) -> list[str]:
        """What is probably not meant: keys without effect and surprising angles."""
        found = super().warnings()
        axes = (self.align_pick_obj_axis, self.align_place_obj_axis)
        if self.align_obj_tol is not None and None in axes:
            found.append(
                "align_obj_tol has no effect without both align_pick_obj_axis and "
                "align_place_obj_axis."
            )
        return found


class Part(BaseModel):
    """A box within the container."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    position: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    """Of its centre in the container's frame [m]; its axes are the container's."""
    size: tuple[
        Positive,
        Positive,
        Positive,
    ]
    """Edge lengths [m]."""


PlaceSpecification.model_rebuild()
