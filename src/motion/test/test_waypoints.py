# SPDX-License-Identifier: Apache-2.0
"""Motion through waypoints without a stop."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LEFT, RIGHT, at, down, joints, verify

from behavior_motion import (
    Box,
    ErrorCode,
    JointLimits,
    MotionError,
    MotionPlanner,
    OrientationConstraint,
    PlanOptions,
)

PATIENT = PlanOptions(allowed_planning_time=5.0)


def speed_at(plan, time: float) -> float:
    return float(np.linalg.norm(plan.trajectory.sample(time)[1]))


@pytest.mark.slow
def test_joints_and_poses_are_passed_exactly_and_without_a_stop(wall: MotionPlanner) -> None:
    robot = wall.robot
    start = robot.named["home"]
    home = robot.named["home"]
    waypoints = [LEFT, down(0.45, 0.2, 0.4), RIGHT, home, down(0.5, 0.3, 0.3)]
    plan = wall.plan_waypoints(start, waypoints, options=PATIENT)
    verify(wall, plan, start)
    assert len(plan.waypoint_times) == len(waypoints)
    assert np.all(np.diff(plan.waypoint_times) > 0)
    for waypoint, time in zip(waypoints, plan.waypoint_times, strict=True):
        q = plan.trajectory.sample(time)[0]
        reached = q if np.ndim(waypoint) == 1 else robot.forward_kinematics(q)
        np.testing.assert_allclose(reached, waypoint, atol=2e-4)
    for time in plan.waypoint_times[:-1]:
        assert speed_at(plan, time) > 0.05
    assert plan.waypoint_times[-1] == pytest.approx(plan.trajectory.duration)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 10, 30])
def test_any_number_of_waypoints(planner: MotionPlanner, count: int) -> None:
    rng = np.random.default_rng(count)
    robot = planner.robot
    start = robot.named["home"]
    waypoints = start + np.cumsum(rng.uniform(-0.1, 0.1, (count, robot.dof)), axis=0)
    plan = planner.plan_waypoints(start, list(waypoints), options=PATIENT)
    verify(planner, plan, start)
    for waypoint, time in zip(waypoints, plan.waypoint_times, strict=True):
        np.testing.assert_allclose(plan.trajectory.sample(time)[0], waypoint, atol=2e-4)


def test_near_waypoints_are_passed_exactly_under_a_path_constraint(planner: MotionPlanner) -> None:
    start = planner.robot.named["home"]
    first = np.array(start) + 0.1 * np.eye(planner.robot.dof)[0]
    second = first + 0.1 * np.eye(planner.robot.dof)[4]
    options = PlanOptions(path_constraints=OrientationConstraint(tolerance=2.0))
    plan = planner.plan_waypoints(start, [first, second], options=options)
    verify(planner, plan, start)
    np.testing.assert_allclose(plan.trajectory.sample(plan.waypoint_times[0])[0], first, atol=2e-4)


def test_not_stopping_is_faster_than_stopping(planner: MotionPlanner) -> None:
    arc = np.linspace(0.8, -0.8, 9)
    poses = [down(0.5 * np.cos(a), 0.5 * np.sin(a), 0.3 + 0.05 * np.cos(4 * a)) for a in arc]
    start = joints(planner, poses[0])
    waypoints = [joints(planner, pose) for pose in poses[1:]]
    through = planner.plan_waypoints(start, waypoints, options=PATIENT)
    here, stopping = start, 0.0
    for waypoint in waypoints:
        stopping += planner.plan_to_joints(here, waypoint).trajectory.duration
        here = waypoint
    assert through.trajectory.duration < 0.6 * stopping


def test_repeated_and_returning_waypoints(planner: MotionPlanner) -> None:
    home, ready = planner.robot.named["home"], planner.robot.named["ready"]
    plan = planner.plan_waypoints(home, [home, ready, ready, home, ready])
    verify(planner, plan, home)
    for waypoint, time in zip([home, ready, ready, home, ready], plan.waypoint_times, strict=True):
        np.testing.assert_allclose(plan.trajectory.sample(time)[0], waypoint, atol=2e-4)
    assert planner.plan_waypoints(home, [home, home]).trajectory.duration == 0.0


def test_the_waypoint_at_fault_is_named(wall: MotionPlanner) -> None:
    start = joints(wall, LEFT)
    plan = wall.plan_waypoints(start, [RIGHT, at(3, 0, 0), LEFT])
    assert plan.code is ErrorCode.NO_IK_SOLUTION
    assert plan.message.startswith("waypoint 1:")
    plan = wall.plan_waypoints(start, [RIGHT, down(0.6, 0.0, 0.2)])
    assert plan.code is ErrorCode.GOAL_IN_COLLISION
    assert "waypoint 1" in plan.message
    assert "wall" in plan.message
    with pytest.raises(MotionError, match=r"waypoints\[1\]") as caught:
        wall.plan_waypoints(start, [RIGHT, [0.0] * 6])
    assert caught.value.code is ErrorCode.INVALID_JOINT_COUNT
    with pytest.raises(MotionError, match="at least one"):
        wall.plan_waypoints(start, [])


@pytest.mark.slow
def test_waypoints_under_a_constraint(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    planner.scene.add_object("post", Box((0.3, 0.05, 0.35)), at(0.6, 0.0, 0.17))
    options = PlanOptions(path_constraints=OrientationConstraint(0.15), allowed_planning_time=5.0)
    waypoints = [down(0.5, 0.2, 0.45), down(0.5, -0.2, 0.45), RIGHT]
    plan = planner.plan_waypoints(start, waypoints, options=options)
    verify(planner, plan, start)
    for waypoint, time in zip(waypoints, plan.waypoint_times, strict=True):
        reached = planner.robot.forward_kinematics(plan.trajectory.sample(time)[0])
        np.testing.assert_allclose(reached, waypoint, atol=2e-4)
    for q in plan.trajectory.positions:
        assert -planner.robot.forward_kinematics(q)[2, 2] > np.cos(0.16)


def test_cartesian_corners_come_with_their_times(planner: MotionPlanner) -> None:
    start = joints(planner, down(0.45, 0.2, 0.2))
    corners = [down(0.45, 0.2, 0.4), down(0.45, 0.2, 0.4), down(0.45, -0.2, 0.4)]
    plan = planner.plan_cartesian(start, corners)
    assert len(plan.waypoint_times) == 3
    for corner, time in zip(corners, plan.waypoint_times, strict=True):
        q = plan.trajectory.sample(time)[0]
        off = planner.robot.forward_kinematics(q)[:3, 3] - corner[:3, 3]
        assert np.linalg.norm(off) < 0.01


def test_limits_are_those_of_the_scaling(planner: MotionPlanner) -> None:
    home = planner.robot.named["home"]
    waypoints = [joints(planner, LEFT), joints(planner, RIGHT)]
    options = PlanOptions(max_velocity_scaling_factor=0.3, max_acceleration_scaling_factor=0.2)
    plan = planner.plan_waypoints(home, waypoints, options=options)
    limits = JointLimits.of(planner.robot, 0.3, 0.2)
    speed, acceleration, jerk = plan.trajectory.peaks()
    assert np.all(speed <= limits.velocity * (1 + 1e-6))
    assert np.all(acceleration <= limits.acceleration * (1 + 1e-6))
    assert np.all(jerk <= limits.jerk * (1 + 1e-6))
