# SPDX-License-Identifier: Apache-2.0
"""What can be seen of a world: objects, fixtures, doors, each a shape with a name and a class.

The detector reports these, and so does the truth on /simulation/objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from behavior_sim.worlds.config import DoorConfig, FixtureConfig, WorldConfig
from behavior_sim.worlds.door import (
    bars,
    knuckle,
    knuckle_name,
    lever_name,
    panel_centre,
    panel_name,
    posts,
)
from behavior_sim.worlds.layouts import Pose, pose_of
from behavior_sim.worlds.reading import Vector


@dataclass(frozen=True, kw_only=True)
class VisibleObject:
    """Something that can be seen."""

    name: str
    class_id: str
    """What the detector calls it."""
    shape: str
    size: Vector
    """[m] lengths of the shape, see `SHAPE_SIZES`."""
    color: Vector
    body: str
    """Body that it moves with; empty: the world."""
    body_T_centre: Pose
    """Where the middle of its shape is in that body, 4x4 [m]."""


def visible_objects(config: WorldConfig) -> dict[str, VisibleObject]:
    """All of a world by name; the objects first, in the file's order."""
    found = [
        VisibleObject(
            name=name,
            class_id=item.class_id or name,
            shape=item.shape,
            size=item.size,
            color=item.color,
            body=name,
            body_T_centre=np.eye(4),
        )
        for name, item in config.objects.items()
    ]
    for name, fixture in config.fixtures.items():
        found += _seen_of_fixture(name, fixture)
    for name, door in config.doors.items():
        found += _seen_of_door(name, door)
    return {obj.name: obj for obj in found}


def _box(name: str, size: Vector, color: Vector, body: str, pose: Pose) -> VisibleObject:
    return VisibleObject(
        name=name,
        class_id=name,
        shape="box",
        size=size,
        color=color,
        body=body,
        body_T_centre=pose,
    )


def _seen_of_fixture(name: str, fixture: FixtureConfig) -> Iterator[VisibleObject]:
    frame = pose_of(fixture.position, fixture.yaw)
    if fixture.seen == "parts":
        for part, box in fixture.boxes.items():
            pose = frame @ pose_of(box.position)
            yield _box(f"{name}_{part}", box.size, fixture.color, "", pose)
    elif fixture.seen == "whole":
        centres = np.array([box.position for box in fixture.boxes.values()])
        halves = np.array([box.size for box in fixture.boxes.values()]) / 2
        low, high = (centres - halves).min(axis=0), (centres + halves).max(axis=0)
        size = tuple((high - low).tolist())
        yield _box(name, size, fixture.color, "", frame @ pose_of((low + high) / 2))


def _seen_of_door(name: str, door: DoorConfig) -> Iterator[VisibleObject]:
    leaf = (door.width, door.thickness, door.height)
    yield _box(panel_name(name), leaf, door.color, panel_name(name), pose_of(panel_centre(door)))
    for bar, middle in bars(name, door).items():
        yield _box(bar, door.lever_size, door.lever_color, lever_name(name), pose_of(middle))
    knuckle_size, at = knuckle(door)
    yield _box(knuckle_name(name), knuckle_size, door.lever_color, name, pose_of(at))
    for part, (size, centre) in posts(door).items():
        yield _box(f"{name}_{part}", size, door.frame_color, name, pose_of(centre))
