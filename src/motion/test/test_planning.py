# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from conftest import CUBE, LEFT, RIGHT, at, down, joints, verify

from behavior_motion import (
    Box,
    Cylinder,
    ErrorCode,
    JointLimits,
    MotionPlanner,
    OrientationConstraint,
    PlanOptions,
    create_planner,
)


def test_it_is_a_motion_planner(planner: MotionPlanner) -> None:
    assert isinstance(planner, MotionPlanner)
    assert isinstance(create_planner(planner.robot), MotionPlanner)
    with pytest.raises(ValueError, match="planner"):
        create_planner(planner.robot, "magic")
    with pytest.raises(RuntimeError, match="moveit"):
        create_planner(planner.robot, "moveit")


def test_straight_where_free(planner: MotionPlanner) -> None:
    home, ready = planner.robot.named["home"], planner.robot.named["ready"]
    plan = planner.plan_to_joints(home, ready)
    verify(planner, plan, home)
    assert len(plan.path) == 2
    np.testing.assert_allclose(plan.trajectory.positions[-1], ready, atol=1e-9)
    limits = JointLimits.of(planner.robot)
    assert plan.trajectory.duration >= np.max(np.abs(ready - home) / limits.velocity)


@pytest.mark.slow
def test_around_a_wall(wall: MotionPlanner) -> None:
    start, goal = joints(wall, LEFT), joints(wall, RIGHT)
    plan = wall.plan_to_joints(start, goal)
    verify(wall, plan, start)
    assert len(plan.path) > 2
    assert plan.planning_time < 2.0
    pose = wall.plan_to_pose(start, RIGHT)
    verify(wall, pose, start)
    np.testing.assert_allclose(
        wall.robot.forward_kinematics(pose.trajectory.positions[-1]), RIGHT, atol=1e-5
    )


@pytest.mark.slow
def test_equal_input_gives_an_equal_plan(wall: MotionPlanner) -> None:
    start = joints(wall, LEFT)
    first = wall.plan_to_pose(start, RIGHT, options=PlanOptions(seed=3))
    wall.plan_to_pose(start, down(0.4, -0.3, 0.3))
    again = wall.plan_to_pose(start, RIGHT, options=PlanOptions(seed=3))
    np.testing.assert_array_equal(first.trajectory.positions, again.trajectory.positions)
    other = wall.plan_to_pose(start, RIGHT, options=PlanOptions(seed=4))
    assert other.ok
    assert other.path.shape != first.path.shape or not np.allclose(other.path, first.path)


def test_any_of_several_poses(wall: MotionPlanner) -> None:
    start = joints(wall, LEFT)
    goals = [at(3, 0, 0), RIGHT, down(0.5, 0.3, 0.25)]
    plan = wall.plan_to_pose(start, goals)
    verify(wall, plan, start)
    assert plan.goal_index == 2  # the near one, on this side of the wall
    assert wall.plan_to_pose(start, np.array(goals)).goal_index == 2


def test_scaling_slows_down(planner: MotionPlanner) -> None:
    home, ready = planner.robot.named["home"], planner.robot.named["ready"]
    fast = planner.plan_to_joints(home, ready, options=PlanOptions(max_velocity_scaling_factor=1.0))
    slow = planner.plan_to_joints(home, ready, options=PlanOptions(max_velocity_scaling_factor=0.1))
    assert slow.trajectory.duration > 2 * fast.trajectory.duration
    assert np.all(np.abs(slow.trajectory.velocities) <= 0.1 * planner.robot.velocity_limits + 1e-9)


def test_nowhere_to_go(planner: MotionPlanner) -> None:
    home = planner.robot.named["home"]
    plan = planner.plan_to_joints(home, home)
    assert plan.ok
    assert plan.trajectory.duration == 0.0
    assert planner.plan_cartesian(home, planner.robot.forward_kinematics(home)).ok


def test_codes(table: MotionPlanner) -> None:
    home = np.array(table.robot.named["home"])
    outside = home.copy()
    outside[0] = 3.2
    assert table.plan_to_joints(outside, home).code is ErrorCode.START_STATE_INVALID
    assert table.plan_to_joints(home, outside).code is ErrorCode.GOAL_STATE_INVALID
    low = home.copy()
    low[1], low[3] = 1.0, -1.6
    plan = table.plan_to_joints(low, home)
    assert plan.code is ErrorCode.START_STATE_IN_COLLISION
    assert "table" in plan.message
    plan = table.plan_to_joints(home, low)
    assert plan.code is ErrorCode.GOAL_IN_COLLISION
    assert "mm" in plan.message
    assert table.plan_to_pose(home, at(2, 0, 0)).code is ErrorCode.NO_IK_SOLUTION
    plan = table.plan_to_pose(home, down(0.5, 0.0, -0.02))
    assert plan.code is ErrorCode.GOAL_IN_COLLISION
    assert not plan.ok
    assert plan.trajectory is None
    with pytest.raises(ValueError, match="start"):
        table.plan_to_joints([np.nan] * 7, home)
    with pytest.raises(ValueError, match=r"goals\[1\]"):
        table.plan_to_pose(home, [LEFT, np.ones((4, 4))])
    with pytest.raises(ValueError, match="max_velocity_scaling_factor"):
        PlanOptions(max_velocity_scaling_factor=-1.0)
    with pytest.raises(KeyError, match="no such name"):
        table.plan_to_pose(home, LEFT, frame="nose")


@pytest.mark.slow
def test_what_cannot_be_ends_in_time(planner: MotionPlanner) -> None:
    """The hand holds a square ring about a long post: no path takes the ring off it."""
    scene = planner.scene
    scene.add_object("post", Cylinder(0.02, 6.0), at(0.6, 0.0, 0.0))
    for i, (x, y) in enumerate([(0.05, 0.0), (0.25, 0.0), (0.15, 0.1), (0.15, -0.1)]):
        side = (0.02, 0.22, 0.02) if y == 0 else (0.22, 0.02, 0.02)
        scene.add_object(f"side_{i}", Box(side), at(2.0, i, 0.0))
        scene.attach_object(f"side_{i}", "tool", link_T_object=at(x, y, 0.0))
    start = joints(planner, down(0.45, 0.0, 0.4))
    free = joints(planner, down(0.45, 0.4, 0.4))
    plan = planner.plan_to_joints(start, free, options=PlanOptions(allowed_planning_time=0.3))
    assert plan.code is ErrorCode.TIMED_OUT
    assert "0.3 s" in plan.message
    assert plan.planning_time < 1.0


def test_a_light_contact_at_the_start_is_let_go(table: MotionPlanner) -> None:
    """A held cube that sits half a millimetre deep in the table can be lifted, not pushed in."""
    scene = table.scene
    q = joints(table, down(0.45, -0.05, 0.03))
    scene.attach_object("cube_0", "tool", link_T_object=down(0, 0, 0.03 - CUBE / 2 + 5e-4))
    plan = table.plan_to_pose(q, down(0.45, -0.05, 0.25))
    verify(table, plan, q)
    assert plan.tolerated[("cube_0", "table")] == pytest.approx(6e-4, abs=5e-5)
    lift = table.plan_cartesian(q, down(0.45, -0.05, 0.25))
    verify(table, lift, q)
    push = table.plan_cartesian(q, down(0.45, -0.05, 0.028))
    assert push.code is ErrorCode.CARTESIAN_PATH_BLOCKED
    scene.attach_object("cube_0", "tool", link_T_object=down(0, 0, 0.03 - CUBE / 2 + 4e-3))
    assert table.plan_to_pose(q, down(0.45, 0.1, 0.25)).code is ErrorCode.START_STATE_IN_COLLISION


def test_carrying_around(wall: MotionPlanner) -> None:
    """The held rod is longer than the hand: the plan must lift it over the wall."""
    wall.scene.add_object("rod", Box((0.03, 0.03, 0.3)), at(2, 2, 0))
    wall.scene.attach_object("rod", "tool", link_T_object=at(0, 0, 0.1))
    left, right = down(0.5, 0.35, 0.35), down(0.5, -0.35, 0.35)
    start = joints(wall, left)
    plan = wall.plan_to_pose(start, right, options=PlanOptions(allowed_planning_time=5.0))
    verify(wall, plan, start)


def test_allowed_pairs_open_the_way(table: MotionPlanner) -> None:
    start = joints(table, down(0.45, 0.2, 0.15))
    grasp = down(0.45, 0.2, 0.045)
    closed = PlanOptions(gripper_width=0.04)
    blocked = table.plan_cartesian(start, grasp, options=closed)
    assert blocked.code is ErrorCode.CARTESIAN_PATH_BLOCKED
    assert "cube_0" in blocked.message
    assert 0.3 < blocked.fraction < 1.0
    with table.scene.allowing([("cube_0", "panda_*finger")]):
        assert table.plan_cartesian(start, grasp, options=closed).ok


def test_a_plan_is_checked_against_the_scene_as_it_is_now(planner: MotionPlanner) -> None:
    start, goal = joints(planner, LEFT), joints(planner, RIGHT)
    plan = planner.plan_to_joints(start, goal)
    assert planner.is_plan_valid(plan)
    planner.scene.add_object("late", Box((0.1, 0.1, 0.1)), at(0.6, 0.0, 0.2))
    assert not planner.is_plan_valid(plan)
    assert planner.is_plan_valid(plan, from_time=plan.trajectory.duration * 0.95)
    planner.scene.remove_object("late")
    assert planner.is_plan_valid(plan)


@pytest.mark.slow
def test_the_tool_stays_upright(planner: MotionPlanner) -> None:
    start, goal = joints(planner, LEFT), joints(planner, RIGHT)
    planner.scene.add_object("post", Box((0.3, 0.05, 0.35)), at(0.6, 0.0, 0.17))
    limit = 0.4
    options = PlanOptions(path_constraints=OrientationConstraint(limit), allowed_planning_time=5.0)
    plan = planner.plan_to_joints(start, goal, options=options)
    verify(planner, plan, start)
    for q in plan.trajectory.positions:
        down_axis = planner.robot.forward_kinematics(q)[:3, 2]
        assert np.arccos(np.clip(-down_axis[2], -1, 1)) <= limit + 0.01


def test_cartesian_lines_are_straight(planner: MotionPlanner) -> None:
    start = joints(planner, down(0.45, 0.2, 0.15))
    goal = down(0.5, -0.2, 0.3, yaw=0.7)
    plan = planner.plan_cartesian(start, goal)
    verify(planner, plan, start)
    assert plan.fraction == 1.0
    a, b = np.array([0.45, 0.2, 0.15]), goal[:3, 3]
    along = (b - a) / np.linalg.norm(b - a)
    q, _, _ = plan.trajectory.sample_many(np.linspace(0, plan.trajectory.duration, 300))
    for point in (planner.robot.forward_kinematics(x)[:3, 3] for x in q):
        off = (point - a) - along * ((point - a) @ along)
        assert np.linalg.norm(off) < 2e-4
    np.testing.assert_allclose(planner.robot.forward_kinematics(q[-1]), goal, atol=1e-5)


def test_cartesian_corners_are_rounded_without_a_stop(planner: MotionPlanner) -> None:
    start = joints(planner, down(0.45, 0.2, 0.2))
    corners = [down(0.45, 0.2, 0.4), down(0.45, -0.2, 0.4), down(0.45, -0.2, 0.2)]
    plan = planner.plan_cartesian(start, corners)
    verify(planner, plan, start)
    inner = np.linspace(0.1, plan.trajectory.duration - 0.1, 200)
    q, qd, _ = plan.trajectory.sample_many(inner)
    assert np.abs(qd).max(axis=1).min() > 0.02
    points = np.array([planner.robot.forward_kinematics(x)[:3, 3] for x in q])
    for corner in corners[:2]:
        assert 1e-4 < np.linalg.norm(points - corner[:3, 3], axis=1).min() < 0.01


@pytest.mark.slow
def test_cartesian_speed_and_fraction(planner: MotionPlanner) -> None:
    start = joints(planner, down(0.5, 0.0, 0.4))
    plan = planner.plan_cartesian(
        start, down(0.5, 0.0, 0.2), options=PlanOptions(max_cartesian_speed=0.1)
    )
    verify(planner, plan, start)
    assert plan.trajectory.duration == pytest.approx(2.0, rel=0.15)
    q, qd, _ = plan.trajectory.sample_many(np.linspace(0, plan.trajectory.duration, 200))
    speeds = [
        np.linalg.norm((planner.robot.jacobian(a) @ b)[:3]) for a, b in zip(q, qd, strict=True)
    ]
    assert max(speeds) < 0.102
    far = down(1.2, 0.0, 0.4)
    cut = planner.plan_cartesian(start, far)
    assert cut.code is ErrorCode.CARTESIAN_PATH_UNREACHABLE
    assert 0.2 < cut.fraction < 0.9
    part = planner.plan_cartesian(start, far, min_fraction=0.2)
    verify(planner, part, start)
    assert part.fraction == pytest.approx(cut.fraction)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_clutter(planner: MotionPlanner, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = planner.scene
    scene.add_object("table", Box((1.2, 1.6, 0.05)), at(0.6, 0.0, -0.025))
    for i in range(8):
        x, y = rng.uniform([0.35, -0.5], [0.75, 0.5])
        scene.add_object(f"box_{i}", Box((0.08, 0.08, 0.35)), at(x, y, 0.175))
    ends = []
    while len(ends) < 6:
        pose = down(*rng.uniform([0.35, -0.45, 0.1], [0.65, 0.45, 0.3]), rng.uniform(-3, 3))
        result = planner.inverse_kinematics(pose)
        if result.q is not None:
            ends.append(result.q)
    for start, goal in pairwise(ends):
        verify(planner, planner.plan_to_joints(start, goal), start)


@pytest.mark.slow
def test_threads_may_share_a_planner(wall: MotionPlanner) -> None:
    """Plans stay right while another thread moves things about and a third asks questions."""
    wall.scene.add_object("far", Box((0.1, 0.1, 0.1)), at(-0.8, 0.0, 0.1))
    start, goal = joints(wall, LEFT), joints(wall, RIGHT)
    expected = wall.plan_to_joints(start, goal).trajectory.positions
    done = threading.Event()

    def disturb() -> None:
        k = 0
        while not done.is_set():
            k += 1
            wall.scene.move_object("far", at(-0.8, 0.001 * (k % 100), 0.1))
            with wall.scene.allowing([("far", "panda_*")]):
                wall.check_state(start)

    with ThreadPoolExecutor() as pool:
        noise = pool.submit(disturb)
        plans = [pool.submit(wall.plan_to_joints, start, goal) for _ in range(6)]
        results = [plan.result(timeout=240) for plan in plans]
        done.set()
        noise.result(timeout=240)
    for plan in results:
        np.testing.assert_array_equal(plan.trajectory.positions, expected)
