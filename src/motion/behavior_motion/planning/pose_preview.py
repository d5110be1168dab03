# SPDX-License-Identifier: Apache-2.0
"""Whether a pose can be reached, and how long the way takes, fast enough to ask while it is edited.

The planner alone answers: nothing moves, and no copy of the world is needed. Equal input gives an
equal plan, so the duration is that of the motion which the same request makes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, Vector, positive
from behavior_motion.errors import ErrorCode
from behavior_motion.planning.options import PlanOptions
from behavior_motion.planning.planner import MotionPlanner, Plan

WITHIN = 0.1
"""[s] of processor time for an answer."""
_UNDECIDED = (ErrorCode.TIMED_OUT, ErrorCode.PLANNING_FAILED)
"""More time might have found a way."""


@dataclass(frozen=True, eq=False)
class PosePreview:
    """What is known of a motion to a pose."""

    reachable: bool | None
    """None: no way was found in time, which does not mean that there is none."""
    message: str
    """Why not, and what to try; empty where it is reachable."""
    duration: float = 0.0
    """Of the motion [s]; 0 where there is none."""
    joints: Vector | None = None
    """At the end (dof,)."""
    tool: Matrix = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    """Places of the tool on the way in the base frame, (n, 3) [m]; none where there is no way."""
    planning_time: float = 0.0
    """Processor time that it took [s]."""


def preview_pose(
    planner: MotionPlanner,
    start: ArrayLike,
    goals: ArrayLike | Sequence[Matrix],
    *,
    frame: str | None = None,
    options: PlanOptions | None = None,
    within: float = WITHIN,
) -> PosePreview:
    """Whether ``frame`` comes from joints to any one of some poses, and how long it takes.

    Args:
        planner: With the scene as it is; its clock counts.
        start: Joints (dof,) that the motion begins at [rad or m].
        goals: base_T_frame (4, 4), or several.
        frame: Name of the frame; None: the tool.
        options: As for the motion itself; its planning time is that of ``within``.
        within: Most processor time for the answer [s].

    Raises:
        MotionError: As :meth:`MotionPlanner.plan_to_pose` does.
    """
    positive("within", within)
    # A request ends within twice its planning time, but for a step that is not broken off.
    options = replace(options or PlanOptions(), allowed_planning_time=0.45 * within)
    plan = planner.plan_to_pose(start, goals, frame=frame, options=options)
    if plan.trajectory is None:
        return PosePreview(
            reachable=None if plan.code in _UNDECIDED else False,
            message=plan.message,
            planning_time=plan.planning_time,
        )
    return PosePreview(
        reachable=True,
        message="",
        duration=plan.trajectory.duration,
        joints=plan.trajectory.positions[-1],
        tool=_places(planner, plan),
        planning_time=plan.planning_time,
    )


def _places(planner: MotionPlanner, plan: Plan) -> Matrix:
    """Of the tool at the corners of a path (n, 3) [m]."""
    return np.array([planner.robot.forward_kinematics(q)[:3, 3] for q in plan.path])
