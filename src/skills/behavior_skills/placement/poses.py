# SPDX-License-Identifier: Apache-2.0
"""Poses over, in and beside a container from ratios of its extent.

The ratios count along the container's own axes, not along those of the box around it: where the
container is turned by 45 degrees, half of that box lies beside it.

Frames: W world, B arm base, E tool, O held object, C container. `W_T_B` maps coordinates in B to
coordinates in W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_skills.interfaces import Array
from behavior_skills.placement.boxes import OrientedBox
from behavior_skills.placement.specification import PlaceSpecification


@dataclass(frozen=True, slots=True)
class PlaceScene:
    """What the sampling needs to know of the world; all poses 4x4 [m]."""

    W_T_B: Array
    W_R_C: Array
    """Orientation of the container (of the whole, even if a part of it is the target), 3x3."""
    container: OrientedBox
    """The container, or the part of it that counts, in the world frame."""
    E_T_O: Array
    """Where the held object sits in the hand."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One way to place; tool poses in the base frame, 4x4 [m]."""

    pre: Array
    place: Array

    @property
    def single(self) -> bool:
        """Both poses are the same."""
        return bool(np.array_equal(self.pre, self.place))


def sample_placements(
    specification: PlaceSpecification,
    scene: PlaceScene,
    rotations: Array,
    rng: np.random.Generator,
) -> list[Placement]:
    """One placement for each orientation of the tool in the base frame (n, 3, 3)."""
    ranges = np.array(
        [specification.x_ratio_range, specification.y_ratio_range, specification.z_ratio_range]
    )
    ratios = rng.uniform(ranges[:, 0], ranges[:, 1], (len(rotations), 3))
    if specification.place_direction == "vertical":
        pre, place = _vertical(specification, scene.container, ratios)
    else:
        pre, place = _horizontal(specification, scene, _points(scene.container, ratios))
    B_T_W: Array = np.linalg.inv(scene.W_T_B).astype(np.float64)
    O_offset = scene.E_T_O[:3, 3] if specification.position_constraint == "object" else np.zeros(3)
    return [
        Placement(
            _tool_pose(rotation, B_T_W, before, O_offset), _tool_pose(rotation, B_T_W, at, O_offset)
        )
        for rotation, before, at in zip(rotations, pre, place, strict=True)
    ]


def post_place_pose(place: Array, vector: Array) -> Array:
    """The place pose moved by a vector in the tool frame [m], orientation kept."""
    pose = place.copy()
    pose[:3, 3] = place[:3, 3] + place[:3, :3] @ vector
    return pose


def _points(box: OrientedBox, ratios: Array) -> Array:
    """Points of a box, 0 to 1 along each of its axes."""
    points: Array = (2.0 * ratios - 1.0) * box.half_extents @ box.pose[:3, :3].T + box.pose[:3, 3]
    return points


def _vertical(
    specification: PlaceSpecification, box: OrientedBox, ratios: Array
) -> tuple[Array, Array]:
    """Points over the container's upper face."""
    up = box.upright_axis
    on_top = ratios.copy()
    on_top[:, up] = 1.0 if box.pose[2, up] > 0.0 else 0.0
    pre = _points(box, on_top)
    place = pre.copy()
    top = box.bounds()[1][2]
    pre[:, 2] = top + specification.pre_place_z_offset
    place[:, 2] = top + specification.place_z_offset
    return pre, place


def _horizontal(
    specification: PlaceSpecification, scene: PlaceScene, points: Array
) -> tuple[Array, Array]:
    """Points along the insertion direction.

    In the specification's own convention (`legacy`) the alignment axis points out of the slot for
    the position constraint `object`, and into it for `gripper`; `insertion` is into it for both.
    """
    align = _world_axis(scene, specification.align_place_obj_axis)
    if specification.position_constraint == "object":
        sign = 1.0 if specification.align_convention == "legacy" else -1.0
        offset = _world_axis(scene, specification.offset_place_obj_axis)
        return (
            points
            + sign * specification.pre_place_align * align
            + specification.pre_place_offset * offset,
            points + sign * specification.place_align * align + specification.place_offset * offset,
        )
    depth = float(np.linalg.norm(scene.E_T_O[:3, 3]))
    return (
        points - (specification.pre_place_z_offset + depth) * align,
        points - (specification.place_z_offset + depth) * align,
    )


def _world_axis(scene: PlaceScene, axis: tuple[float, float, float] | None) -> Array:
    assert axis is not None, "the specification checks it"
    direction: Array = scene.W_R_C @ np.asarray(axis)
    return direction / np.linalg.norm(direction)


def _tool_pose(rotation: Array, B_T_W: Array, point: Array, O_offset: Array) -> Array:
    """The tool pose with an orientation whose point `O_offset` (in the tool) is at `point`."""
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = B_T_W[:3, :3] @ point + B_T_W[:3, 3] - rotation @ O_offset
    return pose
