# SPDX-License-Identifier: Apache-2.0
"""The mission `insert_shelf`: a box goes from the ground into the compartment of a shelf."""

from __future__ import annotations

from behavior_jobs.judges.fetching import FetchDisturbances, Fetched
from behavior_sim.judging import Mission, Objects, Verdict

BOX, SHELF = "box", "shelf_base"
LEAST_DEPTH = 0.11
"""[m] of the box, 0.13 m long, that must be in the compartment."""
ASIDE, HEIGHT_TOLERANCE, AT_REST = 0.035, 0.012, 0.01
"""[m], [m], [m/s]"""


def depth(objects: Objects) -> float:
    """How much of the box is beyond the front of the shelf [m], if it lies along x."""
    box, shelf = objects[BOX], objects[SHELF]
    front = shelf.position[0] - 0.5 * shelf.size[0]
    return float(box.position[0] + 0.5 * max(box.size) - front)


def summary(objects: Objects) -> str:
    """The box in one line."""
    if BOX not in objects or SHELF not in objects:
        return "no box"
    if objects[BOX].held:
        return "box in the gripper"
    if judge(objects).success:
        return f"box in the shelf, {100 * depth(objects):.0f} cm deep"
    return "box on the ground" if objects[BOX].position[2] < 0.1 else "box on its way"


def judge(objects: Objects) -> Verdict:
    """Whether the box rests in the compartment, deep enough, and the gripper is empty."""
    missing = [name for name in (BOX, SHELF) if name not in objects]
    if missing:
        return Verdict(False, f"{missing[0]} is not in the world")
    box, shelf = objects[BOX], objects[SHELF]
    if box.held:
        return Verdict(False, "the box is still in the gripper")
    top = shelf.position[2] + 0.5 * shelf.size[2]
    above = float(box.position[2] - 0.5 * min(box.size) - top)
    aside = abs(float(box.position[1] - shelf.position[1]))
    if abs(above) > HEIGHT_TOLERANCE or aside > ASIDE:
        x, y, z = box.position
        return Verdict(False, f"the box is at {x:.2f} {y:.2f} {z:.2f} m, not in the compartment")
    if box.speed > AT_REST:
        return Verdict(False, "the box still moves")
    deep = depth(objects)
    if deep < LEAST_DEPTH:
        return Verdict(False, f"only {100 * deep:.1f} cm of the box are in the shelf")
    return Verdict(True, f"the box is {100 * deep:.1f} cm in the shelf")


FETCHED = Fetched(name=BOX, x=(0.36, 0.55), y=(-0.38, -0.12), z=0.066, carried_above=0.12)
"""A disturbed box is put where it could have started."""

MISSION = Mission(
    name="insert_shelf",
    world="shelf",
    layout="default",
    time_limit=180.0,
    judge=judge,
    summary=summary,
    disturbances=lambda seed: FetchDisturbances(seed, FETCHED),
)
