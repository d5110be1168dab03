# SPDX-License-Identifier: Apache-2.0
"""The mission `stack_blocks`: four cubes become an ordered tower."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from behavior_sim.judging import (
    Disturbance,
    Mission,
    Objects,
    Situation,
    Vector,
    Verdict,
)
from behavior_sim.moments import Moment, free_spot, put

ORDER = ("blue_block", "yellow_block", "green_block", "red_block")
"""From bottom to top."""
EDGE = 0.0515
"""[m] of a cube."""
TOWER = np.array([0.25, 0.30])
"""[m] where the tower is built."""

# A block further from the tower's axis than this does not belong to it [m].
SAME_STACK = EDGE / 2
# What is still a good tower [m, m, m, m/s].
PLACE_TOLERANCE, XY_TOLERANCE, HEIGHT_TOLERANCE, AT_REST = 0.03, 0.02, 0.006, 0.01

# Where disturbed blocks are put [m]: within the arm's reach and clear of everything.
_FREE_X, _FREE_Y = (0.35, 0.62), (-0.5, 0.05)
_CLEARANCE, _TOWER_CLEARANCE, _REACH = 0.12, 0.18, 0.72


def tower(objects: Objects) -> list[str]:
    """Names of the blocks that stand at the tower's place, from bottom to top."""
    there = [
        item
        for item in objects.values()
        if item.name in ORDER
        and not item.held
        and float(np.linalg.norm(item.position[:2] - TOWER)) <= SAME_STACK
    ]
    return [item.name for item in sorted(there, key=lambda item: float(item.position[2]))]


def summary(objects: Objects) -> str:
    """The tower so far, e.g. `tower: blue yellow | green in the gripper`."""
    colours = [colour(name) for name in tower(objects)]
    held = [f"{colour(item.name)} in the gripper" for item in objects.values() if item.held]
    return " | ".join([f"tower: {' '.join(colours) or 'none'}", *held])


def judge(objects: Objects) -> Verdict:
    """Whether all blocks form the ordered tower, at rest, with nothing in the gripper."""
    missing = [name for name in ORDER if name not in objects]
    if missing:
        return Verdict(False, f"{colour(missing[0])} is not in the world")
    for name in ORDER:
        if objects[name].held:
            return Verdict(False, f"{colour(name)} is still in the gripper")
    stacked = tower(objects)
    if stacked != list(ORDER):
        wanted = " ".join(colour(name) for name in ORDER)
        found = " ".join(colour(name) for name in stacked) or "no block"
        return Verdict(False, f"the tower is {found}, not {wanted}")
    return _judge_geometry(objects)


def _judge_geometry(objects: Objects) -> Verdict:
    positions = [objects[name].position for name in ORDER]
    for level, (name, position) in enumerate(zip(ORDER, positions, strict=True)):
        height = (level + 0.5) * EDGE
        if abs(float(position[2]) - height) > HEIGHT_TOLERANCE:
            return Verdict(False, f"{colour(name)} is at z = {position[2]:.4f} m, not {height:.4f}")
        if objects[name].speed > AT_REST:
            return Verdict(False, f"{colour(name)} still moves")
    offsets = [float(np.linalg.norm(upper[:2] - lower[:2])) for lower, upper in pairwise(positions)]
    if max(offsets) > XY_TOLERANCE:
        level = int(np.argmax(offsets)) + 1
        return Verdict(
            False,
            f"{colour(ORDER[level])} is {1000 * offsets[level - 1]:.0f} mm off the block below",
        )
    off_place = float(np.linalg.norm(positions[0][:2] - TOWER))
    if off_place > PLACE_TOLERANCE:
        return Verdict(False, f"the tower stands {1000 * off_place:.0f} mm from its place")
    return Verdict(True, f"tower complete, offsets at most {1000 * max(offsets):.1f} mm")


class StackBlocksDisturbances:
    """Moves a block while the robot reaches for it, and takes one from the gripper or the tower.

    Which pick, which carried block or height of the tower, and how long after it begins, are drawn
    from the seed.
    """

    def __init__(self, seed: int) -> None:
        """Draw the moments."""
        self._random = np.random.default_rng([seed, 1])
        self._move = Moment(
            nth=int(self._random.integers(1, 4)), delay=float(self._random.uniform(0.0, 0.8))
        )
        self._takes_from_gripper = bool(self._random.random() < 0.5)
        self._take = Moment(
            nth=int(self._random.integers(1, 4)), delay=float(self._random.uniform(0.1, 1.0))
        )

    def due(self, situation: Situation) -> Disturbance | None:
        """See `DisturbancePlan`."""
        return self._due_move(situation) or self._due_take(situation)

    def pending(self) -> list[str]:
        """See `DisturbancePlan`."""
        take = "take from the gripper" if self._takes_from_gripper else "take from the tower"
        moments = {"move while reaching": self._move, take: self._take}
        return [what for what, moment in moments.items() if not moment.done]

    def _due_move(self, situation: Situation) -> Disturbance | None:
        reaching = situation.skill == "pick" and situation.phase in ("reach", "approach")
        target = next_block(situation.objects)
        if not self._move.reached(reaching, situation.time) or target is None:
            return None
        cause = f"moved {colour(target)} while the arm reached for it"
        return self._put(target, situation, cause)

    def _due_take(self, situation: Situation) -> Disturbance | None:
        if self._takes_from_gripper:
            carried = next(
                (x for x in situation.objects.values() if x.held and x.position[2] > 1.5 * EDGE),
                None,
            )
            if not self._take.reached(carried is not None, situation.time) or carried is None:
                return None
            cause = f"took {colour(carried.name)} from the gripper"
            return self._put(carried.name, situation, cause, held=True)
        stacked = tower(situation.objects)
        high_enough = len(stacked) >= self._take.nth
        if not self._take.reached(high_enough, situation.time, at_once=True):
            return None
        cause = f"took {colour(stacked[-1])} from the tower"
        return self._put(stacked[-1], situation, cause)

    def _put(
        self, name: str, situation: Situation, cause: str, *, held: bool = False
    ) -> Disturbance:
        place = free_place(situation.objects, self._random)
        return put(name, place, self._random, cause, held=held)


def next_block(objects: Objects) -> str | None:
    """The block that the robot fetches next: top of a wrong tower, else the first one missing."""
    stacked = tower(objects)
    if stacked != list(ORDER[: len(stacked)]):
        return stacked[-1]
    missing = [name for name in ORDER if name in objects and name not in stacked]
    return missing[0] if missing else None


def free_place(objects: Objects, random: np.random.Generator) -> Vector:
    """A place on the table [m], shape (3,), within reach, clear of blocks and of the tower."""

    def allowed(place: Vector) -> bool:
        away = float(np.linalg.norm(place - TOWER)) >= _TOWER_CLEARANCE
        return away and float(np.linalg.norm(place)) <= _REACH

    taken = [item.position[:2] for item in objects.values()]
    place = free_spot(_FREE_X, _FREE_Y, taken, random, clearance=_CLEARANCE, allowed=allowed)
    return np.array([place[0], place[1], EDGE / 2])


def colour(name: str) -> str:
    """Of a block, by its name."""
    return name.removesuffix("_block")


MISSION = Mission(
    name="stack_blocks",
    world="block_stacking",
    layout="default",
    time_limit=300.0,
    judge=judge,
    summary=summary,
    disturbances=StackBlocksDisturbances,
)
