# SPDX-License-Identifier: Apache-2.0
"""Straight lines of the tool: followed in joint space, checked, timed."""

from __future__ import annotations

import numpy as np

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.planner import Plan
from behavior_motion.planning.query import CHECK_STEP, PlanningFailed, Query
from behavior_motion.trajectories import paths
from behavior_motion.trajectories.cartesian import ToolPath
from behavior_motion.trajectories.timing import TimingError, resting, time_curve_at
from behavior_motion.trajectories.trajectory import Trajectory

JUMP = 0.35
"""Largest motion of a joint from one point of the line to the next [rad]."""
FEWEST_POINTS = 3
"""A part of a line with fewer points is no motion worth making."""


def follow_lines(query: Query, ik: InverseKinematics, tool: ToolPath, min_fraction: float) -> Plan:
    """The motion along ``tool``'s path, or along its feasible part if that is enough.

    No padding: such moves go close to things.

    Raises:
        PlanningFailed: CARTESIAN_PATH_UNREACHABLE, CARTESIAN_PATH_BLOCKED or
            TIME_PARAMETERIZATION_FAILED, with the fraction that is feasible.
    """
    marks, targets, distance = tool.samples()
    if len(marks) == 1:
        rest = resting(query.limits.joint_names, query.start)
        return query.answer(query.start[None], rest, waypoint_times=(0.0,) * len(tool.corner_marks))
    joints, reached = ik.follow(targets[1:], query.start, JUMP)
    joints = np.vstack([query.start, joints[:reached]])
    obstacle: tuple[ErrorCode, str] | None = None
    if len(joints) < len(marks):
        obstacle = (
            ErrorCode.CARTESIAN_PATH_UNREACHABLE,
            _why_no_further(query, joints[-1], targets[len(joints)]),
        )
    blocked = _first_blocked(query, joints)
    if blocked is not None:
        joints, hit = joints[: blocked[0]], blocked[1]
        obstacle = ErrorCode.CARTESIAN_PATH_BLOCKED, f"the line is blocked: {hit}"
    count = len(joints)
    fraction = float(marks[count - 1] / marks[-1])
    if obstacle and (fraction < min_fraction or count < FEWEST_POINTS):
        code, cause = obstacle
        message = (
            f"{cause}; {fraction:.0%} of the way is feasible, {min_fraction:.0%} wanted: move what "
            "is in the way, or start from another posture"
        )
        raise PlanningFailed(code, message, fraction)
    corners = tool.corner_marks[tool.corner_marks <= marks[count - 1] + 1e-9]
    trajectory, passed = _timed(
        query,
        joints,
        marks[:count],
        distance=distance[:count],
        corners=corners,
        fraction=fraction,
    )
    times = tuple(float(t) for t in passed)
    return query.answer(joints, trajectory, fraction=fraction, waypoint_times=times)


def _first_blocked(query: Query, joints: Matrix) -> tuple[int, str] | None:
    """Index of the first point not reached freely from the one before, and what is hit."""
    for i in range(1, len(joints)):
        for q in paths.densify(joints[i - 1 : i + 1], CHECK_STEP)[1:]:
            if query.world.collides(q):
                return i, query.world.report(q).text
            if not query.keeps_axis(q):
                return i, "the path constraint"
    return None


def _why_no_further(query: Query, q: Vector, target: Matrix) -> str:
    robot, (x, y, z) = query.robot, target[:3, 3]
    margin = np.minimum(q - robot.lower, robot.upper - q)
    i = int(np.argmin(margin))
    if margin[i] < 0.05:
        cause = f"{robot.joint_names[i]} is at its limit ({q[i]:.3f})"
    else:
        cause = "it is stretched out or would have to jump to another posture"
    return f"the arm cannot follow the line near ({x:.3f}, {y:.3f}, {z:.3f}): {cause}"


def _timed(
    query: Query,
    joints: Matrix,
    marks: Vector,
    *,
    distance: Vector,
    corners: Vector,
    fraction: float,
) -> tuple[Trajectory, Vector]:
    speed = query.options.max_cartesian_speed
    slow = None if speed is None else (paths.spline(marks, distance[:, None]), speed)
    try:
        curve = paths.spline(marks, joints)
        trajectory, passed = time_curve_at(curve, query.limits, corners, max_speed=slow)
    except TimingError as error:
        message = f"the line cannot be timed: {error}; try another posture or a shorter line"
        raise PlanningFailed(ErrorCode.TIME_PARAMETERIZATION_FAILED, message, fraction) from error
    if not query.is_free(trajectory):
        raise PlanningFailed(
            ErrorCode.CARTESIAN_PATH_BLOCKED,
            "the timed motion leaves the checked line; give more room or another posture",
            fraction,
        )
    return trajectory, passed
