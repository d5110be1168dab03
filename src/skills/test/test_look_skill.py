# SPDX-License-Identifier: Apache-2.0
"""Looking at points and objects."""

import numpy as np
import pytest
from fakes import context_of

from behavior_skills.arm.look import LookRequest, LookSkill, off_sight, sights
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_tree.cause import Cancelled


def look(rig, target=(0.6, 0.2, 0.1), **request):
    point = None if target is None else np.array(target, dtype=float)
    skill = LookSkill(context_of(rig), LookRequest(point, **request))
    skill.run()
    return skill


def failure_of(rig, *args, **request):
    with pytest.raises(SkillFailure) as caught:
        look(rig, *args, **request)
    assert not rig[0].arm_moves
    assert str(caught.value).endswith(".")
    return caught.value.failure


def tool(rig):
    return rig[1].planner.robot.forward_kinematics(rig[0].q)


def test_the_tool_points_at_the_target_from_where_it_is(rig):
    before = tool(rig)[:3, 3]
    skill = look(rig)
    assert off_sight(tool(rig), np.array([0.6, 0.2, 0.1])) < 0.02
    assert skill.error < 0.02
    assert np.allclose(tool(rig)[:3, 3], before, atol=2e-3)


def test_from_a_distance(rig):
    target = np.array([0.6, 0.1, 0.1])
    look(rig, target, distance=0.3)
    assert np.linalg.norm(tool(rig)[:3, 3] - target) == pytest.approx(0.3, abs=3e-3)
    assert off_sight(tool(rig), target) < 0.02


def test_at_an_object_with_another_frame(rig):
    rig[0].add("blue", 0.5, 0.2)
    look(rig, None, object_name="blue", frame="gripper")
    hand = rig[1].planner.robot.forward_kinematics(rig[0].q, "gripper")
    assert off_sight(hand, rig[0].poses["blue"][:3, 3]) < 0.02


def test_wrong_requests(rig):
    assert failure_of(rig, distance=-1.0) is FailureCode.INVALID_REQUEST
    assert failure_of(rig, velocity_scaling=1.5) is FailureCode.INVALID_REQUEST
    assert failure_of(rig, frame="eye") is FailureCode.UNKNOWN_FRAME
    assert failure_of(rig, None, object_name="cat") is FailureCode.UNKNOWN_OBJECT
    assert failure_of(rig, tuple(tool(rig)[:3, 3])) is FailureCode.INVALID_REQUEST
    assert failure_of(rig, (4.0, 0.0, 0.2), distance=0.2) is FailureCode.UNREACHABLE


def test_cancelled(rig):
    rig[0].cancel_in = "move"
    with pytest.raises(Cancelled):
        look(rig)
    assert not rig[0].arm_moves


def test_all_sights_look_and_the_first_turns_least():
    pose = np.eye(4)
    target = np.array([1.0, 0.5, 2.0])
    poses = sights(pose, target, 0.0)
    assert len(poses) == 8
    for sight in poses:
        assert off_sight(sight, target) < 1e-6
        assert np.isclose(np.linalg.det(sight[:3, :3]), 1.0)
    turns = [np.arccos((np.trace(sight[:3, :3]) - 1) / 2) for sight in poses]
    assert turns[0] == min(turns)


def test_a_target_straight_behind_is_looked_at_too():
    poses = sights(np.eye(4), np.array([0.0, 0.0, -1.0]), 0.0)
    assert off_sight(poses[0], np.array([0.0, 0.0, -1.0])) < 1e-6
