# SPDX-License-Identifier: Apache-2.0
"""From what a stack believes to a state that a simulated world is put into. No ROS."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from behavior_bringup.preview.live_state import BelievedObject, LiveState
from behavior_sim.navigation.state import NavigationState
from behavior_sim.worlds.config import DoorConfig, WorldConfig
from behavior_sim.worlds.door import (
    BOLT_TRAVEL,
    bars,
    bolt_name,
    drawn_by,
    lever_name,
    panel_centre,
    panel_name,
)
from behavior_sim.worlds.visible_objects import visible_objects
from behavior_sim.worlds.world_state import WorldState

_PRESSED = 0.1
"""[rad] A lever that is seen less far down is at rest: detectors see it some millimetres off."""


@dataclass(frozen=True, kw_only=True)
class CopiedWorld:
    """How a world is set, and what could not be taken over."""

    state: WorldState | NavigationState
    names: dict[str, str] = field(default_factory=dict)
    """Name of the world's object by the name that the scene has for it."""
    notes: list[str] = field(default_factory=list)
    """What differs from what the scene believes, a sentence each."""


def copied_world(live: LiveState, config: WorldConfig) -> CopiedWorld:
    """The state of a world in which everything is where a stack believes it to be.

    Objects of one class are alike: any of the world's stands for any of the scene's, those of the
    same name first.
    """
    things = visible_objects(config)
    by_class: dict[str, list[str]] = {}
    for name in config.objects:
        by_class.setdefault(things[name].class_id, []).append(name)
    known = {thing.class_id for thing in things.values()}
    names: dict[str, str] = {}
    notes: list[str] = []
    if config.spawner is not None:
        notes.append(
            f"where and how more of {config.spawner.objects} come is not known: the copy draws it"
        )
    for item in sorted(live.objects.values(), key=lambda each: each.name not in config.objects):
        if item.derived or (item.class_id in known and item.class_id not in by_class):
            continue  # follows others, or belongs to what stands still or hangs on hinges
        if (trouble := _left_out(item, by_class)) is not None:
            notes.append(trouble)
            continue
        alike = by_class[item.class_id]
        names[item.name] = item.name if item.name in alike else alike[0]
        alike.remove(names[item.name])
    held = [name for name in names if live.objects[name].sight == "held"]
    robot = config.robot
    joints = {name: live.joints[name] for name in robot.joints if name in live.joints}
    return CopiedWorld(
        state=WorldState(
            joints={**joints, **_hinges(live, config), **_levers(live, config)},
            objects={names[name]: live.objects[name].pose for name in names},
            held=names[held[0]] if held else "",
        ),
        names=names,
        notes=notes,
    )


def _left_out(item: BelievedObject, by_class: dict[str, list[str]]) -> str | None:
    """Why an object is not in the copy; None: it is."""
    if item.class_id not in by_class:
        return f"{item.name} is not in the copy: its world has nothing of class {item.class_id}"
    if item.sight == "lost":
        return f"{item.name} is lost: the copy is without it"
    if not by_class[item.class_id]:
        return f"{item.name} is not in the copy: its world has no more of class {item.class_id}"
    return None


def _hinges(live: LiveState, config: WorldConfig) -> dict[str, float]:
    """Angles of the doors whose leaves the scene sees [rad]."""
    return {
        panel_name(name): _angle(door, leaf)
        for name, door in config.doors.items()
        if (leaf := _seen(live, panel_name(name))) is not None
    }


def _levers(live: LiveState, config: WorldConfig) -> dict[str, float]:
    """Angles of the levers that the scene sees pressed, and how far they have drawn their bolts."""
    places = {}
    for name, door in config.doors.items():
        for bar, (reach, _, _) in bars(name, door).items():
            if (lever := _seen(live, bar)) is None:
                continue
            below = door.position[2] + door.lever_height - lever.pose[2, 3]
            angle = float(np.arcsin(np.clip(below / abs(reach), 0.0, 1.0)))
            if angle > _PRESSED:
                angle = min(angle, door.lever_range)
                places[lever_name(name)] = angle
                places[bolt_name(name)] = -min(drawn_by(door) * angle, BOLT_TRAVEL)
    return places


def _seen(live: LiveState, name: str) -> BelievedObject | None:
    """An object that the scene has not lost."""
    item = live.objects.get(name)
    return None if item is None or item.sight == "lost" else item


def _angle(door: DoorConfig, leaf: BelievedObject) -> float:
    """Of a door whose leaf's middle is where it is seen [rad]; 0: shut."""
    from_hinge = leaf.pose[:2, 3] - np.array(door.position)[:2]
    shut = np.array(panel_centre(door))[:2]
    angle = np.arctan2(from_hinge[1], from_hinge[0]) - np.arctan2(shut[1], shut[0]) - door.yaw
    turned = door.opens * float((angle + np.pi) % (2.0 * np.pi) - np.pi)
    return min(max(turned, 0.0), door.largest_angle)
