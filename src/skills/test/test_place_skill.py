# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fakes import EDGE, NEAR, context_of, pick_up, refused

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Workspace
from behavior_skills.arm.place import PlaceRequest, PlaceSkill, symmetries
from behavior_skills.interfaces import FailureCode, HeldObject, SkillFailure
from behavior_tree.cause import Cancelled


def target(x=0.3, y=0.3, n=0, yaw=0.0):
    pose = np.eye(4)
    pose[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
    pose[:3, 3] = (x, y, (n + 0.5) * EDGE)
    return pose


def place(rig, pose=None, name="blue", workspace=NEAR, any_yaw=True, **request):
    return PlaceSkill(
        context_of(rig, workspace=workspace),
        PlaceRequest(name, target() if pose is None else pose, any_yaw, **request),
    ).run()


def fails_with(failure, rig, *args, **kwargs):
    return refused(failure, lambda: place(rig, *args, **kwargs), rig)


@pytest.fixture
def holding(rig):
    """The blue block in the gripper, the red one on the table."""
    world = rig[0]
    world.add("blue", 0.45, -0.3)
    world.add("red", 0.55, 0.0)
    pick_up(rig, "blue")
    return rig


def settle(world, name, pose):
    """What gravity does when the fingers open."""
    world.when("retreat", lambda: world.poses[name].__setitem__((2, 3), pose[2, 3]))


def test_place_on_the_ground(holding):
    world, _, hand = holding
    begun = world.time
    goal = target()
    settle(world, "blue", goal)
    pose = place(holding, goal)
    assert world.phases == ["select", "reach", "approach", "release", "retreat", "verify"]
    np.testing.assert_allclose(pose[:3, 3], goal[:3, 3], atol=3e-3)
    assert world.attached == {}
    assert world.held is None
    assert hand.held is None
    assert world.time - begun < 4.0


def test_place_on_another_block(holding):
    world = holding[0]
    goal = target(0.55, 0.0, 1)
    settle(world, "blue", goal)
    pose = place(holding, goal)
    np.testing.assert_allclose(pose[:3, 3], goal[:3, 3], atol=3e-3)


def test_target_yaw_is_kept_when_it_matters(holding):
    goal = target(yaw=0.3)
    settle(holding[0], "blue", goal)
    pose = place(holding, goal, any_yaw=False)
    np.testing.assert_allclose(pose[:3, :3], goal[:3, :3], atol=0.01)


def test_block_is_let_go_just_above_its_support(holding):
    world, heights = holding[0], []
    world.when("release", lambda: heights.append(world.poses["blue"][2, 3]))
    settle(world, "blue", target())
    place(holding)
    assert heights[0] == pytest.approx(EDGE / 2 + 0.0015, abs=1e-3)


def test_works_from_the_scene_alone_after_a_restart(holding):
    holding[2].held = None
    settle(holding[0], "blue", target())
    place(holding, name="")


@pytest.mark.parametrize(
    "request_",
    [
        {"retreat_height": math.nan},
        {"retreat_height": -1.0},
        {"velocity_scaling": 2.0},
        {"pose": np.full((4, 4), math.nan)},
        {"pose": target(n=3)},  # in the air
    ],
)
def test_invalid_request(holding, request_):
    fails_with(FailureCode.INVALID_REQUEST, holding, **request_)
    assert holding[0].attached == {"blue": "gripper"}


def test_not_held(rig):
    rig[0].add("blue", 0.45, -0.3)
    fails_with(FailureCode.NOT_HELD, rig)


def test_a_place_where_the_hand_could_not_go_up_again_is_not_taken(holding, monkeypatch):
    def stuck(*_, **__):
        raise SkillFailure(FailureCode.UNREACHABLE, "The arm ends there.")

    monkeypatch.setattr(holding[1], "straight_up", stuck)
    message = fails_with(FailureCode.UNREACHABLE, holding, any_yaw=False)
    assert "The arm ends there." in message
    assert "release" not in holding[0].phases
    assert holding[0].held == "blue"


def test_a_failure_after_the_release_says_that_it_was_let_go_and_where(holding):
    world = holding[0]
    world.when("retreat", lambda: setattr(world, "arm_stuck", True))
    message = fails_with(FailureCode.TIMED_OUT, holding)
    assert "'blue' was let go at x 0.300, y 0.300, z 0.027 m in the base frame." in message
    world.arm_stuck = False
    message = fails_with(FailureCode.NOT_HELD, holding)
    assert "holds nothing, not 'blue'. 'blue' was let go at x 0.300" in message


def test_a_scene_that_was_not_told_of_the_release_is_told_later(holding):
    world, _, hand = holding
    detach = world.detach

    def silent(name):
        raise SkillFailure(FailureCode.SERVER_LOST, "The scene does not answer.")

    world.detach = silent
    message = fails_with(FailureCode.SERVER_LOST, holding)
    assert "does not answer. 'blue' was let go at" in message
    assert "was let go" in hand.text
    world.detach = detach
    assert "was let go" in fails_with(FailureCode.NOT_HELD, holding)
    assert world.attached == {}


def test_cancelled_after_the_release_it_knows_what_became_of_the_object(holding):
    world, _, hand = holding
    world.cancel_in = "retreat"
    with pytest.raises(Cancelled):
        place(holding)
    assert hand.text.startswith("The gripper holds nothing. 'blue' was let go at x 0.300")


def test_why_nothing_is_held(rig):
    rig[0].add("blue", 0.45, -0.3)
    assert "Nothing has been picked yet." in fails_with(FailureCode.NOT_HELD, rig)


def test_why_nothing_is_held_any_more(holding):
    holding[0].detach("blue")  # somebody else told the scene so
    assert "'blue' was picked, but" in fails_with(FailureCode.NOT_HELD, holding)


def test_another_object_is_held(holding):
    fails_with(FailureCode.NOT_HELD, holding, name="red")


def test_shut_fingers_hold_nothing(holding):
    holding[0].steal("blue")
    fails_with(FailureCode.NOT_HELD, holding)
    assert holding[0].attached == {}


def test_out_of_workspace(holding):
    fails_with(FailureCode.OUT_OF_WORKSPACE, holding, target(1.0, 0.0))


def test_occupied(holding):
    message = fails_with(FailureCode.OCCUPIED, holding, target(0.56, 0.02))
    assert "red" in message
    assert holding[0].held == "blue"


def test_unreachable(holding):
    far = Workspace(0.25, 2.0)
    fails_with(FailureCode.UNREACHABLE, holding, target(1.1, 0.0), workspace=far)


def test_planning_failed_when_the_hand_does_not_fit(holding):
    world = holding[0]
    world.add("wall_left", 0.3, 0.36, z=0.15, size=(0.3, 0.05, 0.3))
    world.add("wall_right", 0.3, 0.24, z=0.15, size=(0.3, 0.05, 0.3))
    fails_with(FailureCode.PLANNING_FAILED, holding)


def test_execution_failed(holding):
    holding[0].arm_fails = True
    fails_with(FailureCode.EXECUTION_FAILED, holding)
    assert holding[0].attached == {"blue": "gripper"}


def test_gripper_that_does_not_open(holding):
    world = holding[0]
    world.when("release", lambda: setattr(world, "gripper_stuck", True))
    message = fails_with(FailureCode.EXECUTION_FAILED, holding)
    assert "still held" in message
    assert world.attached == {"blue": "gripper"}


def test_support_taken_away_on_the_way(holding):
    world = holding[0]
    world.when("reach", lambda: world.move_object("red", 0.4, 0.5))
    fails_with(FailureCode.EXECUTION_FAILED, holding, target(0.55, 0.0, 1))
    assert world.held == "blue"


def test_place_taken_on_the_way(holding):
    world = holding[0]
    world.when("reach", lambda: world.move_object("red", 0.3, 0.3))
    fails_with(FailureCode.OCCUPIED, holding)


@pytest.mark.parametrize("phase", ["reach", "approach"])
def test_block_stolen_on_the_way(holding, phase):
    world = holding[0]
    world.when(phase, lambda: world.steal("blue"))
    fails_with(FailureCode.OBJECT_LOST, holding)
    assert world.attached == {}
    assert holding[2].held is None


def test_scene_sees_the_block_elsewhere(holding):
    world = holding[0]
    world.when("reach", lambda: world.detach("blue"))
    fails_with(FailureCode.OBJECT_LOST, holding)


def test_not_placed_when_it_falls(holding):
    world = holding[0]
    world.when("retreat", lambda: world.move_object("blue", 0.3, 0.36))
    fails_with(FailureCode.NOT_PLACED, holding)


def test_not_placed_when_it_is_not_seen(holding):
    world = holding[0]
    world.when("reach", lambda: world.hidden.add("blue"))
    fails_with(FailureCode.NOT_PLACED, holding)


@pytest.mark.parametrize("phase", ["reach", "approach"])
def test_cancel_on_the_way_keeps_the_block(holding, phase):
    world = holding[0]
    world.cancel_in = phase
    with pytest.raises(Cancelled):
        place(holding)
    assert not world.arm_moves
    assert world.held == "blue"
    assert world.attached == {"blue": "gripper"}


@pytest.mark.parametrize("phase", ["release", "retreat"])
def test_cancel_after_opening_leaves_the_scene_true(holding, phase):
    world = holding[0]
    world.cancel_in = phase
    with pytest.raises(Cancelled):
        place(holding)
    assert not world.arm_moves
    assert world.held is None
    assert world.attached == {}


def test_stuck_arm_times_out(holding):
    holding[0].arm_stuck = True
    fails_with(FailureCode.TIMED_OUT, holding)


@pytest.mark.parametrize("what", ["controllers_lost", "scene_lost"])
def test_server_lost(holding, what):
    holding[0].when("reach", lambda: setattr(holding[0], what, True))
    fails_with(FailureCode.SERVER_LOST, holding)


def test_symmetries_of_a_cube_and_a_slab(holding):
    cube = holding[0].objects()["red"]
    turns = symmetries(cube)
    assert len(turns) == 24
    assert all(np.linalg.det(turn) == pytest.approx(1.0) for turn in turns)
    holding[0].sizes["red"] = (0.05, 0.05, 0.1)
    assert len(symmetries(holding[0].objects()["red"])) == 8
    holding[0].sizes["red"] = (0.02, 0.05, 0.1)
    assert len(symmetries(holding[0].objects()["red"])) == 4
    assert cube.state is ObjectState.TRACKED
    assert HeldObject("red", np.eye(4), EDGE).name == "red"
