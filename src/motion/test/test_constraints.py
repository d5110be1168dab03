# SPDX-License-Identifier: Apache-2.0
"""Path constraints on orientation."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LEFT, RIGHT, at, down, joints, verify

from behavior_motion import (
    Box,
    ErrorCode,
    MotionError,
    MotionPlanner,
    OrientationConstraint,
    Plan,
    PlanOptions,
)

UP = np.array([0.0, 0.0, 1.0])


def tilts(planner: MotionPlanner, plan: Plan, axis: np.ndarray) -> np.ndarray:
    """Angle of the tool's axis to straight down along the motion, densely [rad]."""
    assert plan.trajectory is not None
    q, _, _ = plan.trajectory.sample_many(plan.trajectory.dense_times(0.01))
    turned = np.array([planner.robot.forward_kinematics(row)[:3, :3] @ axis for row in q])
    return np.arccos(np.clip(-turned @ UP, -1.0, 1.0))


def level(tolerance: float, **fields: object) -> PlanOptions:
    return PlanOptions(
        path_constraints=OrientationConstraint(tolerance, **fields), allowed_planning_time=5.0
    )


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.4, 0.1, 0.02])
def test_a_full_glass_goes_about_a_post(planner: MotionPlanner, tolerance: float) -> None:
    start, goal = joints(planner, LEFT), joints(planner, RIGHT)
    planner.scene.add_object("post", Box((0.3, 0.05, 0.35)), at(0.6, 0.0, 0.17))
    free = planner.plan_to_joints(start, goal, options=PlanOptions(allowed_planning_time=5.0))
    assert tilts(planner, free, UP).max() > 0.1  # without the constraint it does tilt
    plan = planner.plan_to_joints(start, goal, options=level(tolerance))
    verify(planner, plan, start)
    assert tilts(planner, plan, UP).max() <= tolerance + 2e-3
    plan = planner.plan_to_pose(start, [RIGHT, down(0.45, -0.4, 0.25)], options=level(tolerance))
    verify(planner, plan, start)
    assert tilts(planner, plan, UP).max() <= tolerance + 2e-3


@pytest.mark.slow
def test_goals_at_the_edge_of_the_cone_are_reached(planner: MotionPlanner) -> None:
    """The search keeps well inside the tolerance, except where start and goal do not."""
    planner.scene.add_object("post", Box((0.3, 0.05, 0.35)), at(0.6, 0.0, 0.17))
    tilted = RIGHT @ rotated(0.19)
    start = joints(planner, LEFT)
    plan = planner.plan_to_pose(start, tilted, options=level(0.2))
    verify(planner, plan, start)
    assert tilts(planner, plan, UP).max() <= 0.2 + 2e-3
    np.testing.assert_allclose(
        planner.robot.forward_kinematics(plan.trajectory.positions[-1]), tilted, atol=1e-5
    )


def rotated(angle: float) -> np.ndarray:
    pose = at(0, 0, 0)
    c, s = np.cos(angle), np.sin(angle)
    pose[1:3, 1:3] = [[c, -s], [s, c]]
    return pose


@pytest.mark.slow
def test_direction_frame_and_axis_may_be_named(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    options = level(0.3, direction=(0.0, 0.0, -2.0), link_name="panda_hand")
    plan = planner.plan_to_pose(start, RIGHT, options=options)
    verify(planner, plan, start)
    assert tilts(planner, plan, UP).max() <= 0.3 + 2e-3
    sideways = planner.robot.forward_kinematics(start)[:3, 0]
    options = level(0.2, axis=(1.0, 0.0, 0.0), direction=tuple(sideways))
    plan = planner.plan_to_pose(start, down(0.5, -0.1, 0.4), options=options)
    verify(planner, plan, start)
    for q in plan.trajectory.positions:
        axis = planner.robot.forward_kinematics(q)[:3, 0]
        assert np.arccos(np.clip(axis @ sideways, -1, 1)) <= 0.2 + 2e-3


def test_start_and_goal_must_keep_it(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    goal = planner.robot.forward_kinematics(start) @ rotated(0.5)
    plan = planner.plan_to_pose(start, goal, options=level(0.2))
    assert plan.code is ErrorCode.GOAL_VIOLATES_PATH_CONSTRAINTS
    plan = planner.plan_to_joints(start, joints(planner, goal), options=level(0.2))
    assert plan.code is ErrorCode.GOAL_VIOLATES_PATH_CONSTRAINTS
    plan = planner.plan_to_pose(start, RIGHT, options=level(0.2, direction=(0, 1, 0)))
    assert plan.code is ErrorCode.START_STATE_VIOLATES_PATH_CONSTRAINTS
    assert "1.571 rad off" in plan.message
    lines = planner.plan_cartesian(start, goal, options=level(0.2))
    assert lines.code is ErrorCode.CARTESIAN_PATH_BLOCKED
    assert 0.2 < lines.fraction < 0.6


def test_nonsense_is_refused() -> None:
    with pytest.raises(MotionError, match="tolerance"):
        OrientationConstraint(-0.1)
    with pytest.raises(MotionError, match="direction"):
        OrientationConstraint(0.1, axis=(0.0, 0.0, 0.0))
