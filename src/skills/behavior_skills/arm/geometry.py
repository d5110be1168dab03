# SPDX-License-Identifier: Apache-2.0
"""Small questions of geometry that several skills ask; poses 4x4, lengths in metres."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion import RobotModel
from behavior_motion.object_state import ObjectState
from behavior_skills.interfaces import Array, ObjectView

LEVEL_ANGLE = math.radians(5.0)
"""An axis closer than this to the vertical is taken as vertical: detections are noisy."""
SLACK = 0.008
"""[m] overlap of two objects that noisy detections and light contact explain."""


def translated(pose: Array, offset: Array) -> Array:
    """The pose moved by `offset` in the frame that the pose is given in."""
    moved = pose.copy()
    moved[:3, 3] = moved[:3, 3] + offset
    return moved


def raised(pose: Array, height: float) -> Array:
    """The pose moved up by `height`."""
    return translated(pose, np.array([0.0, 0.0, height]))


def levelled(pose: Array) -> Array:
    """The pose with the axis that is nearly vertical made exactly so; else unchanged."""
    column = int(np.argmax(np.abs(pose[2, :3])))
    axis = pose[:3, column] * np.sign(pose[2, column])
    angle = math.acos(float(np.clip(axis[2], -1.0, 1.0)))
    if not 1e-9 < angle < LEVEL_ANGLE:
        return pose
    turn = np.cross(axis, [0.0, 0.0, 1.0])
    level = pose.copy()
    turning = Rotation.from_rotvec(turn / np.linalg.norm(turn) * angle)
    level[:3, :3] = turning.as_matrix() @ pose[:3, :3]
    return level


def footprint_radius(obj: ObjectView) -> float:
    """Radius of the circle inside the object's footprint [m]."""
    half = obj.half_extents
    up = int(np.argmax(np.abs(obj.base_T_object[2, :3])))
    return float(min(half[i] for i in range(3) if i != up))


def present(objects: Mapping[str, ObjectView], without: Iterable[str] = ()) -> list[ObjectView]:
    """Objects that stand somewhere: neither lost, nor carried, nor named in `without`."""
    skipped = set(without)
    gone = (ObjectState.LOST, ObjectState.ATTACHED)
    return [o for o in objects.values() if o.state not in gone and o.name not in skipped]


def carried(objects: Mapping[str, ObjectView], robot: RobotModel) -> list[ObjectView]:
    """Objects in the robot's hand, not those on another of its links, such as a tray or its other
    hand.

    A link that the robot does not have counts for the hand: somebody's frame at its fingertips.
    """
    gripper = robot.gripper
    moved_by = {name: robot.moved_by(name) for name in robot.frame_names}
    hand = {moved_by.get(link) for link in (robot.tool_frame, gripper.link, *gripper.touch_links)}
    return [
        obj
        for obj in objects.values()
        if obj.state is ObjectState.ATTACHED
        and (obj.attached_link not in moved_by or moved_by[obj.attached_link] in hand)
    ]


def support_height(
    at: Array, radius: float, others: Iterable[ObjectView], ground: float
) -> tuple[float, str]:
    """Top of what is highest under a footprint [m] and its name ("" for the ground).

    Args:
        at: 4x4 pose where the object is to stand; only things whose centre is below it count.
        radius: of the footprint [m].
        others: objects that might be below.
        ground: height of the ground [m].
    """
    top, name = ground, ""
    for other in others:
        apart = float(np.linalg.norm(other.base_T_object[:2, 3] - at[:2, 3]))
        height = other.base_T_object[2, 3] + other.half_height
        below = other.base_T_object[2, 3] < at[2, 3] - other.half_height
        if below and apart < radius + footprint_radius(other) - SLACK and height > top:
            top, name = float(height), other.name
    return top, name


def occupant(
    at: Array, half_height: float, radius: float, others: Iterable[ObjectView]
) -> str | None:
    """Name of an object that stands where another one is to be put, or None.

    Two objects are in each other's way when their footprints and their heights overlap by more
    than what noisy detections and light contact explain.
    """
    for other in others:
        apart = float(np.linalg.norm(other.base_T_object[:2, 3] - at[:2, 3]))
        rise = abs(float(other.base_T_object[2, 3] - at[2, 3]))
        close = apart < radius + footprint_radius(other) - SLACK
        if close and rise < half_height + other.half_height - SLACK:
            return other.name
    return None
