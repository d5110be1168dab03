# SPDX-License-Identifier: Apache-2.0
"""Reactive Cartesian control."""

from __future__ import annotations

import time

import numpy as np
import pytest
from conftest import ROBOT_FILE, at, down
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import (
    ApproachParams,
    Box,
    EmbeddedPlanner,
    ErrorCode,
    IkOptions,
    JointLimits,
    MotionCommand,
    MotionError,
    Servo,
    ServoOptions,
    ServoStatus,
    ServoStep,
    TargetSmoother,
    load_robot,
    stop_trajectory,
)


@pytest.fixture(params=["panda", "ur10"])
def arm(request: pytest.FixtureRequest) -> EmbeddedPlanner:
    """An arm over a table."""
    robot = load_robot(ROBOT_FILE.parent / f"{request.param}.yaml")
    planner = EmbeddedPlanner(robot)
    planner.scene.add_object("table", Box((1.2, 1.6, 0.05)), at(0.6, 0.0, -0.025))
    return planner


def start_of(planner: EmbeddedPlanner, pose: np.ndarray) -> np.ndarray:
    found = planner.inverse_kinematics(pose, seed=planner.robot.named["home"])
    assert found.q is not None, found.message
    return found.q


def run(servo: Servo, command: MotionCommand, seconds: float) -> list[ServoStep]:
    steps = []
    for _ in range(round(seconds / servo.options.period)):
        steps.append(servo.step(command))
        if steps[-1].arrived:
            break
    return steps


def verify(
    planner: EmbeddedPlanner, servo: Servo, start: np.ndarray, steps: list[ServoStep]
) -> float:
    """Limits of speed, acceleration and position at every step; returns the smallest distance."""
    robot, options = planner.robot, servo.options
    q = np.vstack([start, *(s.q for s in steps)])
    qd = np.vstack([np.zeros_like(start), *(s.qd for s in steps)])
    speed = robot.velocity_limits * options.max_velocity_scaling_factor
    rate = robot.acceleration_limits * options.max_acceleration_scaling_factor
    change = robot.jerk_limits * options.max_acceleration_scaling_factor
    assert np.all(np.abs(qd) <= speed * (1 + 1e-6))
    qdd = np.diff(np.vstack([np.zeros_like(start), qd]), axis=0) / options.period
    assert np.all(np.abs(qdd) <= rate * (1 + 1e-6))
    assert np.all(np.abs(np.diff(qdd, axis=0)) / options.period <= change * (1 + 1e-6))
    assert np.all((q >= robot.lower) & (q <= robot.upper))
    # Positions are the velocities, integrated.
    np.testing.assert_allclose(
        np.diff(q, axis=0), 0.5 * options.period * (qd[1:] + qd[:-1]), atol=1e-9
    )
    return min(planner.distance(row).distance for row in q)


@pytest.mark.parametrize(("std_dev", "stand_off"), [(0.02, 0.3), (0.005, 0.35)])
@pytest.mark.slow
def test_a_folding_arm_comes_to_rest_in_a_funnel(std_dev: float, stand_off: float) -> None:
    """From far out to close by: folded, its joints turn far for the last bit of the way."""
    planner = EmbeddedPlanner(load_robot(ROBOT_FILE.parent / "ur10.yaml"))
    start = np.array([-3.541, -2.678, -0.775, -1.240, 1.572, -1.971])
    target = down(0.0, 0.44, -0.37, yaw=0.83)
    options = ServoOptions(max_velocity_scaling_factor=0.8, max_linear_speed=0.6)
    servo = Servo(planner.robot, planner.scene, start, options)
    way_in = ApproachParams(np.array([0.0, 0.0, -stand_off]), std_dev)
    steps = run(servo, MotionCommand(target, approach=way_in), 8.0)
    assert steps[-1].arrived
    heights = [planner.robot.forward_kinematics(step.q)[2, 3] for step in steps]
    lowest = next(k for k, height in enumerate(heights) if height < target[2, 3] + 0.05)
    assert max(heights[lowest:]) < target[2, 3] + 0.06, "it goes down once"


@pytest.mark.slow
def test_it_arrives_and_keeps_its_limits(arm: EmbeddedPlanner) -> None:
    start = start_of(arm, down(0.5, 0.3, 0.3))
    servo = Servo(arm.robot, arm.scene, start)
    goal = down(0.5, -0.3, 0.2, yaw=0.5)
    steps = run(servo, MotionCommand(goal), 5.0)
    assert steps[-1].arrived
    assert steps[-1].status is ServoStatus.NO_WARNING
    assert verify(arm, servo, start, steps) > 0.0
    np.testing.assert_allclose(servo.tool_pose()[:3, 3], goal[:3, 3], atol=1.5e-3)
    # The tool goes straight: what is off the line is what the limits of single joints cost.
    points = np.array([arm.robot.forward_kinematics(s.q)[:3, 3] for s in steps])
    a, b = np.array([0.5, 0.3, 0.3]), goal[:3, 3]
    along = (b - a) / np.linalg.norm(b - a)
    off = (points - a) - np.outer((points - a) @ along, along)
    assert np.linalg.norm(off, axis=1).max() < 0.04
    tool_speed = np.linalg.norm(np.diff(points, axis=0), axis=1) / servo.options.period
    assert tool_speed.max() < servo.options.max_linear_speed * 1.05


@pytest.mark.slow
def test_what_is_in_the_way_stops_it(table: EmbeddedPlanner) -> None:
    start = start_of(table, down(0.5, 0.3, 0.3))
    table.scene.add_object("wall", Box((0.1, 0.1, 0.5)), at(0.5, 0.0, 0.25))
    for goal in (down(0.5, -0.3, 0.2), down(0.5, 0.2, -0.2)):
        servo = Servo(table.robot, table.scene, start)
        steps = run(servo, MotionCommand(goal), 4.0)
        assert not steps[-1].arrived
        assert steps[-1].status in {
            ServoStatus.HALT_FOR_COLLISION,
            ServoStatus.DECELERATE_FOR_COLLISION,
        }
        assert "mm from" in steps[-1].message
        assert verify(table, servo, start, steps) > servo.options.stop_distance - 1e-3


@pytest.mark.slow
def test_links_that_swing_past_an_edge_keep_off(arm: EmbeddedPlanner) -> None:
    # What dampers alone do not keep off, braking does: there were penetrations of 35 mm.
    start = start_of(arm, down(0.5, 0.3, 0.3))
    arm.scene.add_object("wall", Box((0.8, 0.1, 0.9)), at(0.7, 0.0, 0.45))
    servo = Servo(arm.robot, arm.scene, start, ServoOptions(least_distance=0.004))
    steps = run(servo, MotionCommand(down(0.5, 0.2, -0.2)), 6.0)
    assert verify(arm, servo, start, steps) > servo.options.least_distance - 2e-4


@pytest.mark.slow
def test_what_appears_on_the_way_stops_it(arm: EmbeddedPlanner) -> None:
    start = start_of(arm, down(0.5, 0.3, 0.3))
    servo = Servo(arm.robot, arm.scene, start)
    command = MotionCommand(down(0.5, -0.3, 0.3))
    steps = run(servo, command, 0.5)
    arm.scene.add_object("wall", Box((0.3, 0.04, 0.6)), at(0.5, -0.2, 0.3))
    later = [servo.step(command) for _ in range(300)]
    assert not later[-1].arrived
    assert verify(arm, servo, start, steps + later) > servo.options.stop_distance - 1e-3
    arm.scene.remove_object("wall")
    assert run(servo, command, 4.0)[-1].arrived


@pytest.mark.slow
def test_a_pair_that_may_touch_is_not_kept_apart(table: EmbeddedPlanner) -> None:
    start = start_of(table, down(0.45, 0.2, 0.2))
    goal = MotionCommand(down(0.45, 0.2, 0.03))
    options = ServoOptions(gripper_width=0.0)
    assert not run(Servo(table.robot, table.scene, start, options=options), goal, 4.0)[-1].arrived
    with table.scene.allowing([("cube_0", "panda_*")]):
        assert run(Servo(table.robot, table.scene, start, options=options), goal, 4.0)[-1].arrived


@pytest.mark.slow
def test_contact_at_the_start_is_left_alone(table: EmbeddedPlanner) -> None:
    """A held cube that stands on the table must not make the arm withdraw."""
    q = start_of(table, down(0.45, -0.05, 0.05))
    table.scene.attach_object("cube_0", "tool", link_T_object=down(0, 0, 0.05 - 0.0259))
    servo = Servo(table.robot, table.scene, q)
    pose = servo.tool_pose()
    for _ in range(100):
        servo.step(MotionCommand(pose))
    np.testing.assert_allclose(servo.tool_pose(), pose, atol=1e-5)
    assert run(servo, MotionCommand(down(0.45, -0.05, 0.2)), 3.0)[-1].arrived


@pytest.mark.slow
def test_the_posture_moves_the_elbow_and_not_the_tool(planner: EmbeddedPlanner) -> None:
    robot = planner.robot
    pose = down(0.5, 0.0, 0.4)
    start = start_of(planner, pose)
    posture = start.copy()
    posture[0] += 0.8
    bent = planner.inverse_kinematics(pose, seed=start, options=IkOptions(posture=posture)).q
    servo = Servo(robot, planner.scene, start)
    for _ in range(600):
        servo.step(MotionCommand(pose, posture=posture))
    np.testing.assert_allclose(servo.tool_pose(), pose, atol=1e-3)
    assert np.linalg.norm(servo.q - bent) < 0.1 * np.linalg.norm(start - bent)


@pytest.mark.slow
def test_position_alone_keeps_the_orientation(planner: EmbeddedPlanner) -> None:
    start = start_of(planner, down(0.5, 0.2, 0.4, yaw=0.4))
    servo = Servo(planner.robot, planner.scene, start)
    steps = run(servo, MotionCommand(position=np.array([0.45, -0.1, 0.3])), 4.0)
    assert steps[-1].arrived
    np.testing.assert_allclose(servo.tool_pose(), down(0.45, -0.1, 0.3, yaw=0.4), atol=0.02)


@pytest.mark.slow
def test_joint_limits_are_named(planner: EmbeddedPlanner) -> None:
    start = start_of(planner, down(0.5, 0.0, 0.4))
    servo = Servo(planner.robot, planner.scene, start)
    turned = down(0.5, 0.0, 0.4)
    statuses = set()
    for k in range(600):
        target = turned @ down(0, 0, 0) @ down(0, 0, 0, yaw=0.015 * min(k, 380))
        step = servo.step(MotionCommand(target))
        statuses.add((step.status, step.message))
    assert np.all((servo.q >= planner.robot.lower) & (servo.q <= planner.robot.upper))
    assert any(s is ServoStatus.JOINT_BOUND and "panda_joint7" in m for s, m in statuses)


@pytest.mark.slow
def test_whatever_it_does_it_can_brake_within_the_joints_ranges() -> None:
    """A controller refuses a motion that leaves them, and then the arm stands."""
    robot = load_robot(ROBOT_FILE.parent / "panda.yaml")
    planner, limits = EmbeddedPlanner(robot), JointLimits.of(robot, 1.0, 1.0)
    home, random = robot.named["home"], np.random.default_rng(5)
    start = np.array([*home[:6], random.choice([2.0, -2.0])])
    options = ServoOptions(max_velocity_scaling_factor=1.0)
    servo, before = Servo(robot, planner.scene, start, options), np.zeros(7)
    nearest = np.inf
    for k in range(200):
        if k % 60 == 0:
            target = servo.tool_pose() @ down(0, 0, 0) @ down(0, 0, 0, random.uniform(-3, 3))
            target[:3, 3] += random.uniform(-0.3, 0.3, 3)
        step = servo.step(MotionCommand(target, posture=home))
        qdd, before = (step.qd - before) / servo.options.period, step.qd
        brake = stop_trajectory(step.q, step.qd, limits, qdd=qdd, together=False)
        joints = brake.sample_many(np.linspace(0.0, brake.duration, 20))[0]
        assert np.all((joints >= robot.lower - 1e-6) & (joints <= robot.upper + 1e-6)), k
        nearest = min(nearest, (joints - robot.lower).min(), (robot.upper - joints).min())
    assert nearest < 0.011  # it has been at an end


@pytest.mark.slow
def test_stop_brings_it_to_rest(planner: EmbeddedPlanner) -> None:
    start = start_of(planner, down(0.5, 0.3, 0.4))
    servo = Servo(planner.robot, planner.scene, start)
    command = MotionCommand(down(0.5, -0.3, 0.4))
    steps = [servo.step(command) for _ in range(60)]
    assert np.abs(steps[-1].qd).max() > 0.1
    steps += [servo.stop() for _ in range(40)]
    assert np.abs(steps[-1].qd).max() < 1e-12
    verify(planner, servo, start, steps)


# Deviation in units of std_dev against the share of the stand-off that is kept: the closed form.
FUNNEL = [(0.0, 0.0), (1.0, 0.3935), (2.0, 0.8647), (3.0, 0.9889)]


@pytest.mark.parametrize(("ratio", "share"), FUNNEL)
def test_the_funnel_has_its_closed_form(ratio: float, share: float) -> None:
    approach = ApproachParams(np.array([0.0, 0.0, -0.2]), 0.05)
    target = down(0.5, 0.0, 0.1)
    tool = down(0.5, ratio * 0.05, 0.4)
    shifted = approach.shifted(tool, target)
    np.testing.assert_allclose(shifted[:3, 3], [0.5, 0.0, 0.1 + 0.2 * share], atol=1e-4)
    np.testing.assert_allclose(shifted[:3, :3], target[:3, :3])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_funnel_does_not_see_the_way_along_its_axis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=3)
    approach = ApproachParams(direction, 0.05)
    target = down(*rng.uniform(-0.5, 0.5, 3))
    tool = down(*rng.uniform(-0.5, 0.5, 3), yaw=rng.uniform(-1, 1))
    along = tool.copy()
    along[:3, 3] += rng.normal() * direction
    assert approach.deviation(along, target) == pytest.approx(approach.deviation(tool, target))
    share = (target - approach.shifted(tool, target))[:3, 3] / direction
    assert np.ptp(share) < 1e-9
    assert 0 <= share[0] <= 1 + 1e-9


@pytest.mark.slow
def test_an_approach_comes_in_along_its_direction(planner: EmbeddedPlanner) -> None:
    start = start_of(planner, down(0.5, 0.3, 0.3))
    servo = Servo(planner.robot, planner.scene, start)
    target = down(0.5, -0.2, 0.2)
    approach = ApproachParams(np.array([0.0, 0.0, -0.1]), 0.02)
    steps = run(servo, MotionCommand(target, approach=approach), 6.0)
    assert steps[-1].arrived
    points = np.array([planner.robot.forward_kinematics(s.q)[:3, 3] for s in steps])
    beside = np.linalg.norm((points - target[:3, 3])[:, :2], axis=1)
    low = points[:, 2] < 0.2 + 0.05
    assert low.any()
    assert beside[low].max() < 0.03
    assert beside[0] > 0.4


def test_impossible_commands_are_refused(planner: EmbeddedPlanner) -> None:
    pose = down(0.5, 0, 0.4)
    for make, code in (
        (lambda: MotionCommand(), ErrorCode.INVALID_OPTION),
        (lambda: MotionCommand(pose, position=np.zeros(3)), ErrorCode.INVALID_OPTION),
        (lambda: MotionCommand(np.ones((4, 4))), ErrorCode.INVALID_POSE),
        (lambda: MotionCommand(position=np.array([np.nan, 0, 0])), ErrorCode.NOT_FINITE),
        (lambda: ApproachParams(np.zeros(3), 0.1), ErrorCode.INVALID_OPTION),
        (lambda: ApproachParams(np.ones(3), -0.1), ErrorCode.INVALID_OPTION),
        (lambda: ServoOptions(max_linear_speed=-1.0), ErrorCode.INVALID_SPEED),
        (lambda: ServoOptions(max_velocity_scaling_factor=2.0), ErrorCode.INVALID_SPEED),
        (lambda: MotionCommand(position=[1e300, 0, 0]), ErrorCode.INVALID_POSE),
        (lambda: ApproachParams([0, 0, 1e300], 0.1), ErrorCode.INVALID_POSE),
        (lambda: ServoOptions(period=0.0), ErrorCode.INVALID_OPTION),
        (lambda: ServoOptions(period=0.5), ErrorCode.INVALID_OPTION),
        (lambda: ServoOptions(least_distance=0.1), ErrorCode.INVALID_OPTION),
        (lambda: ServoOptions(gripper_width=np.nan), ErrorCode.NOT_FINITE),
        (lambda: TargetSmoother(pose, -0.01), ErrorCode.INVALID_OPTION),
        (lambda: TargetSmoother(pose, 0.01).step(pose, pose * np.nan), ErrorCode.NOT_FINITE),
        (lambda: Servo(planner.robot, planner.scene, [0.0] * 6), ErrorCode.INVALID_JOINT_COUNT),
    ):
        with pytest.raises(MotionError) as caught:
            make()
        assert caught.value.code is code


def test_what_is_felt_is_a_pose(planner: EmbeddedPlanner) -> None:
    servo = Servo(planner.robot, planner.scene, start_of(planner, down(0.5, 0, 0.4)))
    command = MotionCommand(down(0.5, 0, 0.3), approach=ApproachParams([0, 0, -0.1], 0.02))
    with pytest.raises(MotionError, match="felt: contains NaN"):
        servo.step(command, np.full((4, 4), np.nan))
    assert servo.step(command).position_error > 0.0


def test_a_joint_outside_its_limits_does_not_jump(planner: EmbeddedPlanner) -> None:
    """As when it was pushed there by hand."""
    robot = planner.robot
    start = start_of(planner, down(0.5, 0, 0.4))
    inside = start.copy()
    start[0], inside[0] = robot.upper[0] + 0.2, robot.upper[0] - 0.2
    servo = Servo(robot, planner.scene, start)
    goal = robot.forward_kinematics(inside)
    q = np.vstack([start, *(servo.step(MotionCommand(goal)).q for _ in range(300))])
    fastest = robot.velocity_limits * servo.options.max_velocity_scaling_factor
    assert np.all(np.abs(np.diff(q, axis=0)) <= fastest * servo.options.period * (1 + 1e-6))
    assert np.all(q[:, 0] <= start[0])
    assert q[-1, 0] < start[0] - 0.15


@pytest.mark.slow
def test_it_keeps_up_with_100_hz(table: EmbeddedPlanner) -> None:
    start = start_of(table, down(0.45, 0.2, 0.2))
    servo = Servo(table.robot, table.scene, start)
    taken = []
    for k in range(200):
        command = MotionCommand(down(0.45, 0.2 * np.cos(0.02 * k), 0.2))
        began = time.process_time()
        servo.step(command)
        taken.append(time.process_time() - began)
    assert np.median(taken) < servo.options.period


def test_it_goes_on_from_a_motion(planner: EmbeddedPlanner) -> None:
    start = start_of(planner, down(0.5, 0.2, 0.3))
    goal = MotionCommand(down(0.5, -0.3, 0.3))
    first = Servo(planner.robot, planner.scene, start)
    moving = run(first, goal, 0.5)
    second = Servo(planner.robot, planner.scene, start)
    second.reset(moving[-1].q, moving[-1].qd, (moving[-1].qd - moving[-2].qd) / 0.01)
    # As if nothing had happened.
    np.testing.assert_allclose(second.step(goal).qd, first.step(goal).qd, atol=1e-9)


@pytest.mark.slow
def test_what_contact_pushes_off_the_axis_comes_in_again(planner: EmbeddedPlanner) -> None:
    goal = down(0.5, 0.0, 0.2)
    command = MotionCommand(goal, approach=ApproachParams(np.array([0.0, 0.0, -0.15]), 0.005))
    servo = Servo(planner.robot, planner.scene, start_of(planner, goal))
    pushed = goal.copy()
    pushed[0, 3] += 0.01
    for _ in range(200):
        servo.step(command, felt=pushed)
    # 10 mm off the axis at 5 mm: 1 - exp(-2) of the stand-off.
    assert servo.tool_pose()[2, 3] == pytest.approx(0.2 + 0.15 * (1 - np.exp(-2)), abs=2e-3)


@pytest.mark.parametrize("period", [1 / 60, 1 / 120])
def test_jumps_are_smoothed_at_the_same_pace_at_any_rate(period: float) -> None:
    tool, target = down(0.5, 0.0, 0.3), down(0.5, 0.2, 0.3)
    smoother = TargetSmoother(tool, period)
    for _ in range(round(0.1 / period)):
        smoothed = smoother.step(tool, target)
    # Far away 5 % of the way are left behind at each sixtieth of a second.
    far = 1 - np.exp(-0.5 * (0.2 / 0.05) ** 2)
    kept = 0.95 * far + 0.5 * (1 - far)
    assert smoothed[1, 3] == pytest.approx(0.2 * (1 - kept**6), abs=1e-9)
    np.testing.assert_allclose(smoothed[:3, :3], target[:3, :3], atol=1e-9)
