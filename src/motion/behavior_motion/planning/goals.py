# SPDX-License-Identifier: Apache-2.0
"""Joint goals of a request: given, or by inverse kinematics from poses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.reports import CollisionReport
from behavior_motion.errors import ErrorCode
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.query import JointGoal, PlanningFailed, Query, limit_faults

MOST_GOALS = 8
"""Number of joint goals kept for a pose."""
SAME_SOLUTION = 0.02
"""Joint solutions closer than this count as one [rad]."""


def given_goal(query: Query, q: Vector) -> list[JointGoal]:
    """A joint goal, checked."""
    outside = limit_faults(query.robot, q, 1e-9)
    if outside:
        raise PlanningFailed(
            ErrorCode.GOAL_STATE_INVALID,
            f"the goal is outside the limits: {outside[0]}; choose another",
        )
    touching = query.world.report(q)
    if not touching.ok:
        raise PlanningFailed(
            ErrorCode.GOAL_IN_COLLISION,
            f"the goal joints collide: {touching.text}; choose another goal or let the pair touch",
        )
    if not query.keeps_axis(q):
        raise PlanningFailed(
            ErrorCode.GOAL_VIOLATES_PATH_CONSTRAINTS,
            "the goal breaks the path constraint; turn the goal, or allow more",
        )
    return [JointGoal(q, 0, 0.0)]


def goals_of_poses(
    query: Query, ik: InverseKinematics, poses: Sequence[Matrix], near: Vector
) -> list[JointGoal]:
    """Valid joints that reach any of the poses, nearest to ``near`` first."""
    rng = np.random.default_rng([query.seed, 1])
    report = CollisionReport()
    reached = False
    # A few start vectors nearly always do; many more before giving up.
    for tries in (max(6, 24 // len(poses)), 64):
        goals: list[JointGoal] = []
        for candidate in reaching(ik, poses, near, tries, rng):
            reached = True
            if query.world.collides(candidate.q):
                report = query.world.report(candidate.q) if report.ok else report
            elif query.keeps_axis(candidate.q):
                goals.append(candidate)
                if len(goals) >= MOST_GOALS:
                    break
        if goals:
            return goals
    if not reached:
        raise PlanningFailed(ErrorCode.NO_IK_SOLUTION, out_of_reach(poses, query.robot.base_frame))
    if report.ok:
        raise PlanningFailed(
            ErrorCode.GOAL_VIOLATES_PATH_CONSTRAINTS,
            "every goal breaks the path constraint; turn the goals, or allow more",
        )
    raise PlanningFailed(
        ErrorCode.GOAL_IN_COLLISION,
        f"every way to reach the goal collides, the nearest: {report.text}; choose another pose "
        "or let the pair touch",
    )


def reaching(
    ik: InverseKinematics,
    poses: Sequence[Matrix],
    seed: Vector,
    tries: int,
    rng: np.random.Generator,
) -> list[JointGoal]:
    """Distinct joints that reach any of the poses, nearest to ``seed`` first, unchecked."""
    seeds = np.stack([ik.seeds(seed, tries, rng) for _ in poses])
    joints, done = ik.solve(np.stack(poses), seeds)
    found = [
        JointGoal(joints[i, k], int(i), float(ik.travel(joints[i, k], seed)))
        for i, k in np.argwhere(done)
    ]
    found.sort(key=lambda g: (round(g.travel, 4), g.index))
    distinct: list[JointGoal] = []
    for goal in found:
        # Equal solutions have equal travel, so they lie next to each other.
        if all(np.abs(goal.q - other.q).max() > SAME_SOLUTION for other in distinct[-8:]):
            distinct.append(goal)
    return distinct


def out_of_reach(poses: Sequence[Matrix], base: str) -> str:
    """Why inverse kinematics found nothing."""
    nearest = min(poses, key=lambda p: float(np.linalg.norm(p[:3, 3])))
    x, y, z = nearest[:3, 3]
    which = "the pose" if len(poses) == 1 else f"any of the {len(poses)} poses, the nearest"
    return (
        f"no joints within the limits reach {which} at ({x:.3f}, {y:.3f}, {z:.3f}), "
        f"{np.linalg.norm(nearest[:3, 3]):.2f} m from {base}; bring it closer or turn it"
    )
