# SPDX-License-Identifier: Apache-2.0
"""The mission `pass_door`: a robot went through a door with a lever and shut it behind itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from behavior_jobs.judges.door_accidents import (
    ACCIDENT,
    DOOR,
    LEVER,
    PANEL,
    POST,
    Door,
    DoorAccidents,
    accident_of,
    angle,
    aside,
)
from behavior_sim.judging import ROBOT, Mission, Objects, Setting, Verdict

SHUT = 0.03
"""[rad] below which the door counts as shut: its bolt is behind the strike."""
AT_REST = 0.02
"""[m/s] of the panel's middle, and of the robot."""
CLEAR = 0.4
"""[m] of the robot's middle from the door's plane: then nothing of it stands in the doorway."""


def beyond(objects: Objects, door: Door = DOOR) -> float:
    """How far the robot is on the other side than the lever [m]."""
    panel, post = objects[door.panel], objects[door.post]
    shut = panel.rotation @ post.rotation.T  # from the shut leaf to where it is now
    hinge = panel.position - panel.rotation[:, 0] * 0.5 * panel.size[0]
    lever = hinge + shut.T @ (objects[door.lever].position - hinge)
    side = -math.copysign(1.0, aside(objects, lever, door))
    return side * aside(objects, objects[ROBOT].position, door)


def summary(objects: Objects) -> str:
    """The door and the robot in one line."""
    if not {PANEL, LEVER, POST, ROBOT} <= objects.keys():
        return "no door, or no robot that drives"
    side = beyond(objects)
    where = "beyond" if side > 0.0 else "before"
    return f"door {math.degrees(angle(objects)):.0f} degrees open, robot {abs(side):.1f} m {where}"


def judge(objects: Objects, door: Door = DOOR) -> Verdict:
    """Whether the robot is through, and the door shut."""
    missing = [n for n in (door.panel, door.lever, door.post, ROBOT) if n not in objects]
    if missing:
        return Verdict(False, f"{missing[0]} is not in the world")
    side, opened = beyond(objects, door), angle(objects, door)
    if side < CLEAR:
        return Verdict(False, f"the robot is {side:.2f} m beyond the door, not {CLEAR} m")
    if opened > SHUT:
        return Verdict(False, f"the door is {math.degrees(opened):.1f} degrees open")
    if max(objects[door.panel].speed, objects[ROBOT].speed) > AT_REST:
        return Verdict(False, "the door or the robot still moves")
    return Verdict(True, f"the robot is {side:.1f} m beyond the door, which is shut")


def configured(values: Mapping[str, Setting], evaluation: bool) -> Mission:
    """The mission for values of its options."""
    return replace(MISSION, disturbances=partial(DoorAccidents, accident=accident_of(values)))


MISSION = Mission(
    name="pass_door",
    world="mobile_door",
    layout="default",
    time_limit=240.0,
    judge=judge,
    summary=summary,
    disturbances=DoorAccidents,
    options=[ACCIDENT],
    configure=configured,
)
