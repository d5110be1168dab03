# SPDX-License-Identifier: Apache-2.0
"""The pick skill's specification as YAML, checked as a whole."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, FiniteFloat, model_validator
from scipy.spatial.transform import Rotation

from behavior_skills.interfaces import Array
from behavior_skills.sentences import joined
from behavior_skills.specification import (
    MOST_NAMES,
    Distance,
    Length,
    Name,
    NamePart,
    Seed,
    SkillSpecification,
    Weights,
)


class PickSpecification(SkillSpecification):
    """Wishes for one pick beyond the goal's own fields. Lengths [m], angles [deg]."""

    skill = "pick"

    objects: Annotated[list[Name], Field(max_length=MOST_NAMES)] = []
    """The first one is picked; empty: the goal's object."""
    npy_name: Name | None = None
    """File with annotated grasps in the server's grasp_directory; None: from the shape."""
    grasp_scale: Annotated[FiniteFloat, Field(gt=0.0, le=1000.0)] = 1.0
    tcp_offset: Length = 0.0
    constraints: tuple[Literal["x", "y", "z"], FiniteFloat, FiniteFloat] | None = None
    """Axis of the object, and which share of the grasps' spread along it is kept, 0..1."""

    direction_to_obj: Literal["left", "right"] | None = None
    """Side of the object in the base frame that the tool is on: right is towards -y."""
    fixed_orientation: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    """Quaternion w x y z of the tool in the base frame, instead of the grasp's own."""

    pre_grasp_hold_vec_weight: Weights | None = None
    """What is kept on the way to the pre-grasp pose."""
    pre_grasp_offset: Distance = 0.1
    post_grasp_offset_min: Distance = 0.05
    post_grasp_offset_max: Distance = 0.05
    """The object is lifted by a random height between the two."""
    return_to_pregrasp: bool = False
    """Go back to the pre-grasp pose instead of lifting."""
    gripper_change_steps: Annotated[int, Field(ge=1, le=600)] = 40
    """Time for the fingers to close, in steps of 0.1 s."""
    final_gripper_state: Literal[-1, 1] = -1
    """-1: closed; 1: open, the object is approached only and not taken."""
    ignore_substring: Annotated[list[NamePart], Field(max_length=MOST_NAMES)] = []
    test_mode: Literal["forward", "ik"] = "forward"
    """Test candidates by whole plans; with ik the best that has joints must have a plan."""
    process_valid: bool = True
    """The grasp counts only if arm and object were never faster than 5 rad/s and 5 m/s."""
    lift_th: Distance = 0.0
    """The object must be seen to rise by more than this."""
    seed: Seed | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = self.filter_problems()
        if self.post_grasp_offset_min > self.post_grasp_offset_max:
            problems.append("post_grasp_offset_min is above post_grasp_offset_max")
        if self.constraints is not None and not self.constraints[1] <= self.constraints[2]:
            problems.append("constraints must be [axis, lower share, higher share]")
        if self.fixed_orientation is not None:
            norm = math.hypot(*self.fixed_orientation)
            if abs(norm - 1.0) > 0.01:
                problems.append(f"fixed_orientation is a quaternion of norm {norm:.3g}, not 1")
        if problems:
            raise ValueError(joined(problems))
        return self

    def says_from_where(self) -> bool:
        """Whether it names the side that the tool is to come from."""
        return bool(self.filters()) or self.fixed_orientation is not None

    def fixed_rotation(self) -> Array | None:
        """`fixed_orientation` as a matrix, 3x3."""
        if self.fixed_orientation is None:
            return None
        w, x, y, z = self.fixed_orientation
        rotation: Array = Rotation.from_quat([x, y, z, w]).as_matrix()
        return rotation

    def lift_height(self) -> float:
        """How far to lift this time [m]."""
        low, high = self.post_grasp_offset_min, self.post_grasp_offset_max
        return float(np.random.default_rng(self.seed).uniform(low, high))
