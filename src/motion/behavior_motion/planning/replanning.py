# SPDX-License-Identifier: Apache-2.0
"""Braking along the path of a motion under way, so that another can follow."""

from __future__ import annotations

import numpy as np

from behavior_motion.errors import ErrorCode
from behavior_motion.planning.planner import Plan
from behavior_motion.trajectories.timing import KNOT_PERIOD, JointLimits
from behavior_motion.trajectories.trajectory import Trajectory

SHORTEST_BRAKING = 0.05
"""Shortest time in which a motion is brought to rest [s]."""


def braked(
    trajectory: Trajectory, from_time: float, limits: JointLimits
) -> tuple[Trajectory, float]:
    """The motion from ``from_time`` on, slowed to rest on its own path, and where it rests.

    The second value is the time of ``trajectory`` whose position it ends at [s]. The pace falls
    from 1 to 0 as a smooth step; the shortest braking that keeps the limits is taken. Where the
    motion ends before it could be braked, its rest is returned as it is.
    """
    left = trajectory.duration - from_time
    period = SHORTEST_BRAKING
    while 0.5 * period < left:
        slowed = _slowed(trajectory, from_time, period)
        if limits.slowdown(slowed) <= 1.0 + 1e-6:
            return slowed, from_time + 0.5 * period
        period *= 1.2
    return trajectory.from_time(from_time), trajectory.duration


def _slowed(trajectory: Trajectory, from_time: float, period: float) -> Trajectory:
    times = np.linspace(0.0, period, max(3, int(np.ceil(period / KNOT_PERIOD)) + 1))
    x = times / period
    pace = (1 - x * x * (3 - 2 * x))[:, None]
    slowing = (-6 * x * (1 - x) / period)[:, None]
    # The pace, integrated.
    place = from_time + period * (x - x**3 + 0.5 * x**4)
    q, qd, qdd = trajectory.sample_many(np.minimum(place, trajectory.duration))
    return Trajectory(trajectory.joint_names, times, q, qd * pace, qdd * pace**2 + qd * slowing)


def rest_of(plan: Plan, from_time: float) -> Plan:
    """A plan from ``from_time`` on, as a plan of its own."""
    assert plan.trajectory is not None
    assert plan.request is not None
    ahead = [i for i, t in enumerate(plan.waypoint_times) if t > from_time]
    targets = plan.request.targets
    if plan.waypoint_times:
        targets = tuple(targets[i] for i in ahead) + targets[len(plan.waypoint_times) :]
    return Plan(
        ErrorCode.SUCCESS,
        "the rest of the plan is free in the scene as it is now",
        plan.path,
        plan.trajectory.from_time(from_time),
        plan.fraction,
        plan.goal_index,
        0.0,
        plan.gripper_width,
        plan.tolerated,
        tuple(plan.waypoint_times[i] - from_time for i in ahead),
        plan.request.aimed_at(targets),
    )


def joined(brake: Trajectory, plan: Plan) -> Plan:
    """A plan that is preceded by a braking."""
    assert plan.trajectory is not None
    return Plan(
        plan.code,
        plan.message,
        plan.path,
        brake.concatenate(plan.trajectory),
        plan.fraction,
        plan.goal_index,
        plan.planning_time,
        plan.gripper_width,
        plan.tolerated,
        tuple(t + brake.duration for t in plan.waypoint_times),
        plan.request,
    )
