# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from conftest import at, down
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import (
    EmbeddedPlanner,
    ErrorCode,
    IkOptions,
    IkPreference,
    MotionError,
    MotionPlanner,
    RobotModel,
)
from behavior_motion.kinematics.inverse import InverseKinematics


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_round_trip(robot: RobotModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    planner = EmbeddedPlanner(robot)
    target = robot.forward_kinematics(robot.random_configuration(rng))
    result = planner.inverse_kinematics(
        target, options=IkOptions(avoid_collisions=False, attempts=100)
    )
    assert result.q is not None, result.message
    np.testing.assert_allclose(robot.forward_kinematics(result.q), target, atol=5e-6)
    assert np.all(result.q >= robot.lower)
    assert np.all(result.q <= robot.upper)
    assert 0 < result.joint_limit_margin <= 1


def test_a_seed_that_solves_it_is_the_answer(planner: MotionPlanner) -> None:
    home = planner.robot.named["home"]
    result = planner.inverse_kinematics(planner.robot.forward_kinematics(home), seed=home)
    np.testing.assert_allclose(result.q, home, atol=1e-9)


def test_other_frames(planner: MotionPlanner) -> None:
    target = down(0.5, 0.1, 0.4)
    result = planner.inverse_kinematics(target, frame="panda_hand")
    assert result.q is not None
    np.testing.assert_allclose(
        planner.robot.forward_kinematics(result.q, "panda_hand"), target, atol=5e-6
    )
    with pytest.raises(KeyError, match="panda_hand"):
        planner.inverse_kinematics(target, frame="hand")


def test_frames_of_fingers_are_those_of_the_open_gripper(planner: MotionPlanner) -> None:
    robot, frame = planner.robot, "panda_leftfinger"
    home = robot.named["home"]
    target = robot.forward_kinematics(home, frame)
    result = planner.inverse_kinematics(target, seed=home, frame=frame)
    np.testing.assert_allclose(result.q, home, atol=1e-6)
    target[:3, 3] -= (0.0, 0.0, 0.05)
    line = planner.plan_cartesian(home, target, frame=frame)
    assert line.trajectory is not None, line.message
    reached = robot.forward_kinematics(line.trajectory.positions[-1], frame)
    np.testing.assert_allclose(reached, target, atol=5e-6)


@pytest.mark.slow
def test_batch_equals_single(table: MotionPlanner) -> None:
    rng = np.random.default_rng(1)
    targets = np.array([down(*rng.uniform([0.3, -0.4, 0.02], [0.9, 0.4, 0.4])) for _ in range(40)])
    home = table.robot.named["home"]
    batch = table.inverse_kinematics_batch(targets, seed=home)
    assert sum(r.ok for r in batch) > 20
    for target, result in zip(targets, batch, strict=True):
        alone = table.inverse_kinematics(target, seed=home)
        assert alone.code == result.code
        if result.q is not None:
            np.testing.assert_array_equal(alone.q, result.q)
            assert table.check_state(result.q).ok
    assert table.inverse_kinematics_batch(np.zeros((0, 4, 4))) == []


def test_failures_say_why(table: MotionPlanner) -> None:
    far = table.inverse_kinematics(at(2.0, 0.0, 0.5))
    assert far.code is ErrorCode.NO_IK_SOLUTION
    assert "2.06 m from panda_link0" in far.message
    inside = table.inverse_kinematics(down(0.5, 0.0, -0.02))
    assert inside.code is ErrorCode.GOAL_IN_COLLISION
    assert "table" in inside.message
    with pytest.raises(ValueError, match="attempts"):
        IkOptions(attempts=0)
    with pytest.raises(ValueError, match=r"target: shape \(4, 4\)"):
        table.inverse_kinematics(np.eye(3))


def test_half_turns_converge(robot: RobotModel) -> None:
    """The rotation error has no unique axis at half a turn; the solver must still move."""
    ik = InverseKinematics(robot, robot.tool_frame)
    home = robot.named["home"]
    here = robot.forward_kinematics(home)
    for axis in ([-1, -1, 1], [1, -1, -1], [-1, 1, -1]):
        target = here.copy()
        target[:3, :3] = here[:3, :3] @ np.diag(np.array(axis, dtype=float))
        seeds = ik.seeds(home, 60, np.random.default_rng(0))[None]
        joints, done = ik.solve(target[None], seeds)
        if axis[2] == 1:
            assert done.any()
        for q in joints[done]:
            np.testing.assert_allclose(robot.forward_kinematics(q), target, atol=5e-6)


def manipulability(robot: RobotModel, q: np.ndarray) -> float:
    """Product of the singular values: Yoshikawa's measure by another way."""
    return float(np.prod(np.linalg.svd(robot.jacobian(q), compute_uv=False)))


def test_measures_of_quality(planner: MotionPlanner) -> None:
    robot = planner.robot
    target = down(0.45, 0.1, 0.3)
    home = robot.named["home"]
    nearest = planner.inverse_kinematics(target, seed=home)
    half = 0.5 * (robot.upper - robot.lower)
    margin = np.min(np.minimum(nearest.q - robot.lower, robot.upper - nearest.q) / half)
    assert nearest.joint_limit_margin == pytest.approx(margin)
    assert nearest.manipulability == pytest.approx(manipulability(robot, nearest.q))
    best = {}
    for preference in IkPreference:
        options = IkOptions(preference=preference, attempts=60)
        best[preference] = planner.inverse_kinematics(target, seed=home, options=options)
        reached = robot.forward_kinematics(best[preference].q)
        np.testing.assert_allclose(reached, target, atol=5e-6)
    assert best[IkPreference.MANIPULABILITY].manipulability > nearest.manipulability
    assert best[IkPreference.JOINT_LIMITS].joint_limit_margin > nearest.joint_limit_margin


def test_limit_margins_are_kept(planner: MotionPlanner) -> None:
    robot = planner.robot
    rng = np.random.default_rng(2)
    options = IkOptions(avoid_collisions=False, joint_limit_margin=0.3)
    found = 0
    for _ in range(20):
        target = robot.forward_kinematics(robot.random_configuration(rng))
        result = planner.inverse_kinematics(target, options=options)
        if result.q is not None:
            found += 1
            assert np.all(result.q >= robot.lower + 0.3 - 1e-9)
            assert np.all(result.q <= robot.upper - 0.3 + 1e-9)
    assert found > 5
    with pytest.raises(MotionError, match=r"joint_limit_margin: .* range of panda_joint4, got 2"):
        planner.inverse_kinematics(target, options=IkOptions(joint_limit_margin=2.0))


@pytest.mark.slow
def test_the_posture_is_approached_in_the_null_space(planner: MotionPlanner) -> None:
    """At the optimum the way to the posture has no part that leaves the tool where it is."""
    robot = planner.robot
    target = down(0.45, 0.1, 0.4)
    posture = np.array(robot.named["home"])
    posture[0], posture[2] = 0.7, -0.4
    plain = planner.inverse_kinematics(target, seed=posture)
    options = IkOptions(posture=posture)
    result = planner.inverse_kinematics(target, seed=posture, options=options)
    np.testing.assert_allclose(robot.forward_kinematics(result.q), target, atol=5e-6)
    assert np.linalg.norm(result.q - posture) < np.linalg.norm(plain.q - posture) - 0.01
    direction = np.linalg.svd(robot.jacobian(result.q))[2][-1]
    assert abs(direction @ (posture - result.q)) < 0.01


@pytest.mark.slow
def test_a_seed_for_every_target(planner: MotionPlanner) -> None:
    robot = planner.robot
    rng = np.random.default_rng(3)
    seeds = np.array([robot.random_configuration(rng) for _ in range(512)])
    targets = np.array([robot.forward_kinematics(q) for q in seeds])
    options = IkOptions(avoid_collisions=False)
    results = planner.inverse_kinematics_batch(targets, seed=seeds, options=options)
    assert len(results) == 512
    near = [np.abs(r.q - q).max() < 0.01 for r, q in zip(results, seeds, strict=True) if r.ok]
    assert sum(near) > 500
