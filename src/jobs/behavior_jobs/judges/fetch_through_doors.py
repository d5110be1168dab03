# SPDX-License-Identifier: Apache-2.0
"""The mission `fetch_through_doors`: a robot went through two doors and shut them, and between them
carried a can from one table to another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from behavior_jobs.judges import pass_door
from behavior_jobs.judges.door_accidents import ACCIDENT, Door, DoorAccidents, accident_of, angle
from behavior_sim.judging import Mission, Objects, Setting, Verdict

DOORS = (Door("first_door"), Door("second_door"))
CAN, TABLE = "can", "place_table"
PLACE = np.array([-0.05, -0.12])
"""[m] where the can shall stand, in the frame of the table."""
ASIDE = 0.04
"""[m] by which it may stand beside that."""
LOW = 0.01
"""[m] between its foot and the top of the table."""
UPRIGHT = math.radians(5.0)
AT_REST = 0.02
"""[m/s]"""


def judge(objects: Objects) -> Verdict:
    """Whether both doors are shut, the robot beyond them and the can on its place."""
    for door in DOORS:
        verdict = pass_door.judge(objects, door)
        if not verdict.success:
            return Verdict(False, f"{door.name}: {verdict.reason}")
    if missing := [name for name in (CAN, TABLE) if name not in objects]:
        return Verdict(False, f"{missing[0]} is not in the world")
    can, table = objects[CAN], objects[TABLE]
    place = table.rotation.T @ (can.position - table.position)
    beside = float(np.linalg.norm(place[:2] - PLACE))
    if beside > ASIDE:
        return Verdict(False, f"the can is {beside:.2f} m beside its place")
    if can.rotation[2, 2] < math.cos(UPRIGHT):
        return Verdict(False, "the can does not stand")
    above = float(place[2]) - 0.5 * (table.size[2] + can.size[2])
    if abs(above) > LOW:
        return Verdict(False, f"the can is {above:.2f} m above the table")
    if can.speed > AT_REST:
        return Verdict(False, "the can still moves")
    return Verdict(True, f"both doors are shut, the can is {1e3 * beside:.0f} mm from its place")


def summary(objects: Objects) -> str:
    """Doors, robot and can in one line."""
    if not {CAN, TABLE} <= objects.keys():
        return "no can, or no table"
    opened = ", ".join(
        f"{door.name} {math.degrees(angle(objects, door)):.0f} degrees open"
        for door in DOORS
        if {door.panel, door.post} <= objects.keys()
    )
    x, y, z = objects[CAN].position
    return f"{opened}, can at {x:.2f} {y:.2f} {z:.2f}"


def configured(values: Mapping[str, Setting], evaluation: bool) -> Mission:
    """The mission for values of its options."""
    return replace(MISSION, disturbances=_accidents(accident_of(values)))


def _accidents(accident: str) -> partial[DoorAccidents]:
    return partial(DoorAccidents, accident=accident, doors=DOORS)


MISSION = Mission(
    name="fetch_through_doors",
    world="two_doors",
    layout="default",
    time_limit=480.0,
    judge=judge,
    summary=summary,
    disturbances=_accidents(""),
    options=[ACCIDENT],
    configure=configured,
)
