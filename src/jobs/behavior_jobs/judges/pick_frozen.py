# SPDX-License-Identifier: Apache-2.0
"""The mission `pick_frozen`: a block is brought elsewhere by a pose that was frozen beforehand."""

from __future__ import annotations

import numpy as np

from behavior_jobs.judges.fetching import FetchDisturbances, Fetched
from behavior_sim.judging import Mission, Objects, Verdict

BLOCK = "blue_block"
TARGET = np.array([0.45, 0.25])
"""[m] where its middle shall be; the tree's own default."""
EDGE = 0.0515
"""[m] of the block."""
PLACE_TOLERANCE, HEIGHT_TOLERANCE, AT_REST = 0.02, 0.006, 0.01
"""[m], [m], [m/s]"""
FETCHED = Fetched(
    name=BLOCK, x=(0.35, 0.6), y=(-0.2, 0.1), z=EDGE / 2, carried_above=1.5 * EDGE, clearance=0.12
)


def off(objects: Objects) -> float:
    """How far the block is from its place [m]."""
    return float(np.linalg.norm(objects[BLOCK].position[:2] - TARGET))


def summary(objects: Objects) -> str:
    """The block in one line."""
    if BLOCK not in objects:
        return "no block"
    if objects[BLOCK].held:
        return "block in the gripper"
    if judge(objects).success:
        return "block in its place"
    return f"block {100 * off(objects):.0f} cm from its place"


def judge(objects: Objects) -> Verdict:
    """Whether the block rests on the ground in its place, and the gripper is empty."""
    if BLOCK not in objects:
        return Verdict(False, f"{BLOCK} is not in the world")
    block = objects[BLOCK]
    if block.held:
        return Verdict(False, "the block is still in the gripper")
    words = f"the block is {1000 * off(objects):.0f} mm from its place"
    if off(objects) > PLACE_TOLERANCE:
        return Verdict(False, words)
    if abs(float(block.position[2]) - EDGE / 2) > HEIGHT_TOLERANCE:
        return Verdict(False, f"the block is at z = {block.position[2]:.3f} m, not on the ground")
    if block.speed > AT_REST:
        return Verdict(False, "the block still moves")
    return Verdict(True, words)


MISSION = Mission(
    name="pick_frozen",
    world="block_stacking",
    layout="default",
    time_limit=180.0,
    judge=judge,
    summary=summary,
    disturbances=lambda seed: FetchDisturbances(seed, FETCHED),
)
