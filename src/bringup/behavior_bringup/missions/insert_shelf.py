# SPDX-License-Identifier: Apache-2.0
"""The mission `insert_shelf`: a box goes from the ground into the compartment of a shelf."""

from __future__ import annotations

import numpy as np

from behavior_bringup.missions.model import (
    Disturbance,
    Mission,
    Objects,
    Situation,
    Vector,
    Verdict,
)
from behavior_bringup.missions.moments import Moment, free_spot, put

BOX, SHELF = "box", "shelf_base"
LEAST_DEPTH = 0.11
"""[m] of the box, 0.13 m long, that must be in the compartment."""
ASIDE, HEIGHT_TOLERANCE, AT_REST = 0.035, 0.012, 0.01
"""[m], [m], [m/s]"""
_FREE_X, _FREE_Y = (0.36, 0.55), (-0.38, -0.12)
"""[m] where a disturbed box is put: where it could have started."""


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


class InsertShelfDisturbances:
    """Moves the box while the robot reaches for it, or takes it from the gripper on its way.

    Which of both, or both, and when, is drawn from the seed.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        self._random = np.random.default_rng([seed, 1])
        self._move = Moment(nth=1, delay=float(self._random.uniform(0.0, 0.8)))
        self._take = Moment(nth=1, delay=float(self._random.uniform(0.1, 1.2)))
        what = int(self._random.integers(0, 3))
        self._move.done, self._take.done = what == 1, what == 0

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        reaching = situation.skill == "pick" and situation.phase in ("reach", "approach")
        if self._move.reached(reaching, situation.time):
            return self._put("moved the box while the arm reached for it", held=False)
        box = situation.objects.get(BOX)
        carried = box is not None and box.held and bool(box.position[2] > 0.12)
        if self._take.reached(carried, situation.time):
            return self._put("took the box from the gripper", held=True)
        return None

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        moments = {"move while reaching": self._move, "take from the gripper": self._take}
        return [what for what, moment in moments.items() if not moment.done]

    def _put(self, cause: str, *, held: bool) -> Disturbance:
        spot = free_spot(_FREE_X, _FREE_Y, [], self._random, clearance=0.0)
        place: Vector = np.array([spot[0], spot[1], 0.066])
        return put(BOX, place, self._random, cause, held=held)


MISSION = Mission(
    name="insert_shelf",
    world="shelf",
    layout="default",
    time_limit=180.0,
    judge=judge,
    summary=summary,
    disturbances=InsertShelfDisturbances,
)
