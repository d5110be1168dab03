# SPDX-License-Identifier: Apache-2.0
"""Plans whose scene changes under way."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LEFT, RIGHT, at, down, joints

from behavior_motion import (
    Box,
    ErrorCode,
    JointLimits,
    MotionError,
    MotionPlanner,
    OrientationConstraint,
    Plan,
    PlanOptions,
)

SLOW = PlanOptions(max_velocity_scaling_factor=0.5, allowed_planning_time=5.0)
UNDER_WAY = 0.3
"""[s]."""


def crossing(planner: MotionPlanner) -> tuple[np.ndarray, Plan]:
    start = joints(planner, LEFT)
    plan = planner.plan_to_joints(start, joints(planner, RIGHT), options=SLOW)
    assert plan.ok
    return start, plan


def verify_continuation(planner: MotionPlanner, old: Plan, time: float, new: Plan) -> None:
    """Begins in the old motion's state, is free, and keeps the robot's limits."""
    assert new.ok, new.message
    for before, after in zip(old.trajectory.sample(time), new.trajectory.sample(0.0), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-6)
    assert planner.is_plan_valid(new)
    limits = JointLimits.of(planner.robot, 1.0, 1.0)
    assert limits.slowdown(new.trajectory) <= 1 + 1e-5
    np.testing.assert_allclose(new.trajectory.velocities[-1], 0, atol=1e-6)


def test_a_free_rest_is_kept(planner: MotionPlanner) -> None:
    _, plan = crossing(planner)
    rest = planner.replan(plan, UNDER_WAY)
    verify_continuation(planner, plan, UNDER_WAY, rest)
    assert rest.trajectory.duration == pytest.approx(plan.trajectory.duration - UNDER_WAY)
    planner.scene.add_object("behind", Box((0.1, 0.1, 0.1)), at(-0.6, 0.0, 0.2))
    assert planner.replan(plan, UNDER_WAY).trajectory.duration == pytest.approx(
        rest.trajectory.duration
    )


def test_another_way_from_the_moving_state(planner: MotionPlanner) -> None:
    _, plan = crossing(planner)
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    hit = planner.first_invalid_time(plan)
    assert hit is not None
    assert hit > UNDER_WAY
    assert not planner.is_plan_valid(plan)
    new = planner.replan(plan, UNDER_WAY)
    verify_continuation(planner, plan, UNDER_WAY, new)
    np.testing.assert_allclose(
        new.trajectory.positions[-1], plan.trajectory.positions[-1], atol=1e-6
    )
    # And once more, from the plan that came of it.
    planner.scene.move_object("wall", at(0.6, -0.1, 0.25))
    again = planner.replan(new, 0.1)
    verify_continuation(planner, new, 0.1, again)


def test_too_near_to_stop(planner: MotionPlanner) -> None:
    _, plan = crossing(planner)
    middle = 0.5 * plan.trajectory.duration
    ahead = planner.robot.forward_kinematics(plan.trajectory.sample(middle + 0.08)[0])
    planner.scene.add_object("late", Box((0.05, 0.01, 0.3)), at(*ahead[:3, 3] - [0, 0.06, 0]))
    assert planner.is_plan_valid(plan, plan.trajectory.duration)
    hit = planner.first_invalid_time(plan, middle)
    assert hit is not None
    new = planner.replan(plan, max(hit - 0.02, 0.0))
    assert new.code is ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'late'" in new.message
    assert "stop_trajectory" in new.message


def test_other_goals_of_the_set_are_taken(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    goals = [down(0.5, -0.1, 0.2), down(0.5, -0.4, 0.3)]
    plan = planner.plan_to_pose(start, goals, options=SLOW)
    assert plan.goal_index == 0
    planner.scene.add_object("taken", Box((0.1, 0.1, 0.22)), at(0.5, -0.1, 0.11))
    new = planner.replan(plan, 0.05)
    verify_continuation(planner, plan, 0.05, new)
    assert new.goal_index == 1


def test_waypoints_behind_are_not_visited_again(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    waypoints = [down(0.5, 0.25, 0.35), RIGHT]
    plan = planner.plan_waypoints(start, waypoints, options=SLOW)
    time = plan.waypoint_times[0] + 0.05
    planner.scene.add_object("wall", Box((0.3, 0.04, 0.5)), at(0.6, -0.15, 0.25))
    new = planner.replan(plan, time)
    verify_continuation(planner, plan, time, new)
    assert len(new.waypoint_times) == 1
    assert len(new.request.targets) == 1


@pytest.mark.parametrize("later", [0.0, 0.5])
def test_a_motion_that_is_over_has_no_other_way(planner: MotionPlanner, later: float) -> None:
    plan = planner.plan_waypoints(joints(planner, LEFT), [down(0.5, 0.25, 0.35), RIGHT])
    tool = planner.robot.forward_kinematics(plan.trajectory.positions[-1])
    # Light contact, that a start may have, at the end of the fingers.
    planner.scene.add_object("thing", Box((0.2, 0.2, 0.1)), at(*tool[:3, 3] - [0, 0, 0.0585]))
    depth = planner.check_state(plan.trajectory.positions[-1]).pairs[0][2]
    assert 0.0 < depth < 0.002
    new = planner.replan(plan, plan.trajectory.duration + later)
    assert new.code is ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'thing'" in new.message


def test_a_blocked_line_says_so(planner: MotionPlanner) -> None:
    start = joints(planner, down(0.5, 0.0, 0.5))
    slow = PlanOptions(max_cartesian_speed=0.1)
    plan = planner.plan_cartesian(start, down(0.5, 0.0, 0.2), options=slow)
    planner.scene.add_object("thing", Box((0.2, 0.2, 0.2)), at(0.5, 0.0, 0.15))
    new = planner.replan(plan, 0.5)
    assert new.code is ErrorCode.CARTESIAN_PATH_BLOCKED
    planner.scene.remove_object("thing")
    verify_continuation(planner, plan, 0.5, planner.replan(plan, 0.5))


@pytest.mark.slow
def test_the_constraint_stays_that_of_the_first_start(planner: MotionPlanner) -> None:
    start = joints(planner, LEFT)
    options = PlanOptions(path_constraints=OrientationConstraint(0.2), allowed_planning_time=5.0)
    plan = planner.plan_to_pose(start, RIGHT, options=options)
    planner.scene.add_object("post", Box((0.3, 0.05, 0.35)), at(0.6, 0.0, 0.17))
    new = planner.replan(plan, 0.1)
    verify_continuation(planner, plan, 0.1, new)
    for q in new.trajectory.positions:
        assert -planner.robot.forward_kinematics(q)[2, 2] >= np.cos(0.202)


def test_what_cannot_be_replanned(planner: MotionPlanner) -> None:
    failed = planner.plan_to_pose(planner.robot.named["home"], at(3, 0, 0))
    with pytest.raises(MotionError, match="NO_IK_SOLUTION"):
        planner.replan(failed, 0.0)
    _, plan = crossing(planner)
    with pytest.raises(MotionError, match="from_time"):
        planner.replan(plan, -1.0)
