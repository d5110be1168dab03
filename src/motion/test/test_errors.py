# SPDX-License-Identifier: Apache-2.0
"""Every wrong input ends in a code of its own and a sentence with a remedy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import LEFT, at, down, joints

from behavior_motion import (
    Box,
    ErrorCode,
    IkOptions,
    JointLimits,
    MotionError,
    MotionPlanner,
    PlanOptions,
    UnknownNameError,
    pose_matrix,
)

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
SKEWED = np.diag([2.0, 1.0, 1.0, 1.0])

REFUSED: list[tuple[str, Callable[[MotionPlanner], object], ErrorCode, str]] = [
    (
        "too few joints",
        lambda p: p.plan_to_joints(HOME[:6], HOME),
        ErrorCode.INVALID_JOINT_COUNT,
        "panda_joint1",
    ),
    (
        "too many goal joints",
        lambda p: p.plan_to_joints(HOME, [0.0] * 8),
        ErrorCode.INVALID_JOINT_COUNT,
        "in the order",
    ),
    (
        "no numbers",
        lambda p: p.plan_to_joints("home", HOME),
        ErrorCode.INVALID_JOINT_COUNT,
        "7 numbers wanted",
    ),
    (
        "NaN in the start",
        lambda p: p.plan_to_joints([np.nan] * 7, HOME),
        ErrorCode.NOT_FINITE,
        "give finite",
    ),
    (
        "NaN in a pose",
        lambda p: p.plan_to_pose(HOME, np.full((4, 4), np.nan)),
        ErrorCode.NOT_FINITE,
        "give finite",
    ),
    (
        "infinite time",
        lambda p: PlanOptions(allowed_planning_time=np.inf),
        ErrorCode.NOT_FINITE,
        "finite",
    ),
    (
        "no time",
        lambda p: PlanOptions(allowed_planning_time=0.0),
        ErrorCode.INVALID_OPTION,
        "above zero",
    ),
    (
        "skewed pose",
        lambda p: p.plan_to_pose(HOME, SKEWED),
        ErrorCode.INVALID_POSE,
        "pose_matrix",
    ),
    (
        "3x3 pose",
        lambda p: p.inverse_kinematics(np.eye(3)),
        ErrorCode.INVALID_POSE,
        "pose_matrix",
    ),
    (
        "no pose",
        lambda p: p.plan_to_pose(HOME, []),
        ErrorCode.INVALID_POSE,
        "at least one",
    ),
    (
        "long quaternion",
        lambda p: pose_matrix([0, 0, 0], [0, 0, 0, 1.1]),
        ErrorCode.NON_UNIT_QUATERNION,
        "divide it",
    ),
    (
        "zero quaternion",
        lambda p: pose_matrix([0, 0, 0], [0, 0, 0, 0]),
        ErrorCode.NON_UNIT_QUATERNION,
        "no rotation",
    ),
    (
        "NaN quaternion",
        lambda p: pose_matrix([0, 0, 0], [0, 0, np.nan, 1]),
        ErrorCode.NOT_FINITE,
        "give finite",
    ),
    (
        "negative speed",
        lambda p: PlanOptions(max_velocity_scaling_factor=-0.5),
        ErrorCode.INVALID_SPEED,
        "above zero",
    ),
    (
        "negative acceleration",
        lambda p: PlanOptions(max_acceleration_scaling_factor=-1),
        ErrorCode.INVALID_SPEED,
        "above zero",
    ),
    (
        "too fast",
        lambda p: PlanOptions(max_velocity_scaling_factor=1.5),
        ErrorCode.INVALID_SPEED,
        "give 1",
    ),
    (
        "negative tool speed",
        lambda p: PlanOptions(max_cartesian_speed=-0.1),
        ErrorCode.INVALID_SPEED,
        "above zero",
    ),
    (
        "negative limits",
        lambda p: JointLimits.of(p.robot, -1.0),
        ErrorCode.INVALID_SPEED,
        "above zero",
    ),
    (
        "unknown frame",
        lambda p: p.plan_to_pose(HOME, LEFT, frame="panda_hnd"),
        ErrorCode.INVALID_LINK_NAME,
        "did you mean 'panda_hand'",
    ),
    (
        "fixed frame",
        lambda p: p.plan_to_pose(HOME, LEFT, frame="panda_link0"),
        ErrorCode.INVALID_LINK_NAME,
        "choose a link",
    ),
    (
        "unknown object",
        lambda p: p.scene.remove_object("cub"),
        ErrorCode.INVALID_OBJECT_NAME,
        "Known: cube",
    ),
    (
        "impossible shape",
        lambda p: Box((0.1, -0.1, 0.1)),
        ErrorCode.INVALID_GEOMETRY,
        "above zero",
    ),
    (
        "no attempts",
        lambda p: IkOptions(attempts=0),
        ErrorCode.INVALID_OPTION,
        "at least 1",
    ),
    (
        "seeds that do not match",
        lambda p: p.inverse_kinematics_batch([LEFT] * 3, seed=[HOME] * 2),
        ErrorCode.INVALID_OPTION,
        "each of 3",
    ),
    (
        "fraction above 1",
        lambda p: p.plan_cartesian(HOME, LEFT, min_fraction=2.0),
        ErrorCode.INVALID_OPTION,
        "in [0, 1]",
    ),
]


@pytest.mark.parametrize(
    ("request_", "code", "text"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_malformed_requests_are_refused(
    planner: MotionPlanner, request_: Callable[[MotionPlanner], object], code: ErrorCode, text: str
) -> None:
    planner.scene.add_object("cube", Box((0.05,) * 3), at(0.5, 0.3, 0.025))
    with pytest.raises(MotionError) as caught:
        request_(planner)
    assert caught.value.code is code
    assert text in str(caught.value)
    assert str(caught.value) == caught.value.message


def test_names_and_values_are_the_usual_exceptions_too(planner: MotionPlanner) -> None:
    with pytest.raises(KeyError):
        planner.inverse_kinematics(LEFT, frame="nose")
    with pytest.raises(ValueError, match="Known"):
        planner.inverse_kinematics(LEFT, frame="nose")
    assert issubclass(UnknownNameError, MotionError)


def test_what_the_world_does_comes_back_as_a_code(table: MotionPlanner) -> None:
    start = joints(table, down(0.45, 0.2, 0.2))
    low = joints_in_the_table(table)
    outside = np.array(HOME)
    outside[0] = 3.2
    answers = {
        ErrorCode.START_STATE_INVALID: table.plan_to_joints(outside, HOME),
        ErrorCode.GOAL_STATE_INVALID: table.plan_to_joints(HOME, outside),
        ErrorCode.START_STATE_IN_COLLISION: table.plan_to_joints(low, HOME),
        ErrorCode.GOAL_IN_COLLISION: table.plan_to_joints(HOME, low),
        ErrorCode.NO_IK_SOLUTION: table.plan_to_pose(HOME, at(2, 0, 0)),
        ErrorCode.CARTESIAN_PATH_BLOCKED: table.plan_cartesian(start, down(0.45, 0.2, -0.1)),
        ErrorCode.CARTESIAN_PATH_UNREACHABLE: table.plan_cartesian(start, down(1.3, 0.2, 0.2)),
    }
    for code, plan in answers.items():
        assert plan.code is code, plan.message
        assert not plan.ok
        assert plan.trajectory is None
        assert len(plan.path) == 0
        # The remedy: an advice after the cause.
        assert ";" in plan.message


def joints_in_the_table(table: MotionPlanner) -> np.ndarray:
    options = IkOptions(avoid_collisions=False)
    found = table.inverse_kinematics(down(0.5, 0.0, -0.01), seed=HOME, options=options)
    assert found.q is not None
    return found.q
