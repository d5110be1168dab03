# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from conftest import at, down
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import EmbeddedPlanner, ErrorCode, IkOptions, RobotModel
from behavior_motion.kinematics import InverseKinematics


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


def test_a_seed_that_solves_it_is_the_answer(planner: EmbeddedPlanner) -> None:
    home = planner.robot.named["home"]
    result = planner.inverse_kinematics(planner.robot.forward_kinematics(home), seed=home)
    np.testing.assert_allclose(result.q, home, atol=1e-9)


def test_other_frames(planner: EmbeddedPlanner) -> None:
    target = down(0.5, 0.1, 0.4)
    result = planner.inverse_kinematics(target, frame="panda_hand")
    assert result.q is not None
    np.testing.assert_allclose(
        planner.robot.forward_kinematics(result.q, "panda_hand"), target, atol=5e-6
    )
    with pytest.raises(KeyError, match="panda_hand"):
        planner.inverse_kinematics(target, frame="hand")


def test_batch_equals_single(table: EmbeddedPlanner) -> None:
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


def test_failures_say_why(table: EmbeddedPlanner) -> None:
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
