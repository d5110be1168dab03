# SPDX-License-Identifier: Apache-2.0
"""Which of several tool poses joints reach, by inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from behavior_motion import IkOptions, check_interrupted
from behavior_motion.pose_difference import angle_between, distance_between
from behavior_skills.arm.planning import PlanningWorld
from behavior_skills.interfaces import Array
from behavior_skills.placement.selection import Reach

ATTEMPTS = 8
"""Start vectors for each pose."""


def reach_of(
    world: PlanningWorld, poses: Sequence[Array], seeds: Sequence[Array], width: float
) -> tuple[Reach, list[Array | None], str]:
    """Inverse kinematics of all poses, each from its own seed.

    Args:
        world: with the scene as it is.
        poses: base_T_tool, 4x4.
        seeds: joint vectors, one for each pose [rad].
        width: gap between the fingers [m].

    Returns:
        How each pose is reached, its joints or None, and why one of them is not reached.
    """
    planner, found, why = world.planner, [], ""
    options = IkOptions(gripper_width=width, attempts=ATTEMPTS)
    errors = np.zeros((3, len(poses)))
    for i, (pose, seed) in enumerate(zip(poses, seeds, strict=True)):
        check_interrupted()
        answer = planner.inverse_kinematics(pose, seed=seed, options=options)
        found.append(answer.q)
        if answer.q is None:
            why = answer.message
            continue
        tool = planner.robot.forward_kinematics(answer.q)
        travel = float(np.abs(answer.q - seed).sum())
        errors[:, i] = distance_between(tool, pose), angle_between(tool, pose), travel
    ok = np.array([q is not None for q in found], dtype=bool)
    return Reach(ok, *errors), found, why
