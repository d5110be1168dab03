# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fakes import EDGE, NEAR, context_of, refused, replaced
from scipy.spatial.transform import Rotation

from behavior_motion import interruptible
from behavior_skills.arm.context import Workspace
from behavior_skills.arm.pick import PickParameters, PickRequest, PickSkill
from behavior_skills.arm.planning import Final, PlanFailures, hangs
from behavior_skills.grasping.candidates import grasp_pose
from behavior_skills.interfaces import FailureCode, HeldObject, SkillFailure
from behavior_tree.cause import Cancelled


def pick(rig, name="blue", parameters=None, workspace=NEAR, **request):
    skill = PickSkill(
        context_of(rig, workspace=workspace),
        PickRequest(name, **request),
        parameters or PickParameters(),
    )
    return skill.run()


def fails_with(failure, rig, *args, **kwargs):
    message = refused(failure, lambda: pick(rig, *args, **kwargs), rig)
    assert message[0].isupper() or message[0] in "'vmo"
    return message


@pytest.fixture
def block(rig):
    rig[0].add("blue", 0.45, -0.3)
    return rig


def test_pick_lifts_the_block_and_tells_the_scene(block):
    world, _, hand = block
    grasp = pick(block)
    assert world.phases == ["select", "reach", "approach", "grasp", "verify", "lift"]
    assert world.held == "blue"
    assert world.attached == {"blue": "gripper"}
    assert world.poses["blue"][2, 3] == pytest.approx(EDGE / 2 + 0.1, abs=2e-3)
    assert hand.held.name == "blue"
    np.testing.assert_allclose(hand.held.tool_T_object, np.linalg.inv(grasp), atol=2e-3)
    assert world.time < 4.0


def test_the_scene_hears_of_the_grasp_during_the_lift(block):
    world, seen = block[0], []
    world.when("lift", lambda: seen.append((world.arm_moves, dict(world.attached))))
    pick(block)
    assert seen == [(True, {"blue": "gripper"})]


def test_given_grasp_and_lift_height_are_used(block):
    world = block[0]
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = (0, 0, 0.005)
    grasp = pick(block, grasps=(pose,), lift_height=0.15)
    np.testing.assert_array_equal(grasp, pose)
    assert world.poses["blue"][2, 3] == pytest.approx(EDGE / 2 + 0.15, abs=2e-3)


def test_far_block_is_reached_with_a_leaning_hand(rig):
    rig[0].add("blue", 0.7, -0.4)
    pick(rig)
    assert rig[0].held == "blue"


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("", {}),
        ("blue", {"max_tilt": math.nan}),
        ("blue", {"lift_height": -0.1}),
        ("blue", {"velocity_scaling": -1.0}),
        ("blue", {"velocity_scaling": 1.1}),
        ("blue", {"grasps": (np.full((4, 4), math.nan),)}),
    ],
)
def test_invalid_request(block, name, request_):
    fails_with(FailureCode.INVALID_REQUEST, block, name, **request_)
    assert block[0].time == 0.0


def test_unknown_object(block):
    message = fails_with(FailureCode.UNKNOWN_OBJECT, block, "green")
    assert "'blue'" in message


def test_lost_object(block):
    block[0].time = 10.0
    fails_with(FailureCode.UNKNOWN_OBJECT, block)


@pytest.mark.parametrize("at", [(0.2, 0.0), (0.9, 0.0)])
def test_out_of_workspace(rig, at):
    rig[0].add("blue", *at)
    fails_with(FailureCode.OUT_OF_WORKSPACE, rig)


def test_gripper_not_free(block):
    block[0].add("red", 0.5, 0.2)
    block[0].attached["red"] = "gripper"
    fails_with(FailureCode.GRIPPER_NOT_FREE, block)


def test_stale_memory_of_a_held_object_does_not_hinder(block):
    block[2].held = HeldObject("red", np.eye(4), EDGE)
    pick(block)


def test_no_grasp_of_a_tilted_block_within_the_wanted_tilt(rig):
    rig[0].add("blue", 0.45, -0.3, rotation=Rotation.from_euler("x", 40, True))
    assert "within 20 degrees" in fails_with(FailureCode.NO_GRASP, rig, max_tilt=math.radians(20))


def test_a_tilted_block_is_taken_as_it_lies(rig):
    rig[0].add("blue", 0.45, -0.3, z=0.06, rotation=Rotation.from_euler("x", 40, True))
    pick(rig)
    assert rig[0].held == "blue"


@pytest.mark.parametrize(("height", "falls"), [(0.3, True), (EDGE / 2, False)])
def test_what_was_just_let_go_in_the_air_is_not_gone_around(block, monkeypatch, height, falls):
    """It falls out of the hand; what lies on the table between the fingers would be pushed."""
    world, planning, hand = block
    world.add("red", 0.45, 0.3, z=height)
    hand.held = HeldObject("red", np.eye(4), EDGE)
    hand.release("'red' was let go.")
    given = []

    def noted(*args, let_go, **options):
        given.append(let_go)
        raise Final(FailureCode.UNREACHABLE, "Enough.")

    monkeypatch.setattr(planning, "straight_then_free", noted)
    fails_with(FailureCode.UNREACHABLE, block)
    assert given == ["red" if falls else ""]


def test_the_way_from_a_drop_is_that_without_what_was_dropped(block):
    world, planning, _ = block
    tool = np.diag([1.0, -1.0, -1.0, 1.0])
    tool[:3, 3] = 0.45, 0.3, 0.2
    world.q = planning.planner.inverse_kinematics(tool, seed=world.q).q
    options = PickSkill(context_of(block), PickRequest("blue"))._options()
    target = tool.copy()
    target[:3, 3] = 0.45, -0.3, EDGE / 2

    def way(let_go):
        planning.sync(world.objects(), None)
        return planning.straight_then_free(
            world.q,
            target,
            np.array([0.0, 0.0, 0.08]),
            free=options,
            straight=options,
            object_name="blue",
            in_a_row=PlanFailures(),
            let_go=let_go,
        )

    free = way("").trajectory
    world.add("red", 0.45, 0.3, z=0.2)
    np.testing.assert_allclose(way("red").trajectory.positions, free.positions)


def test_an_object_hangs_where_nothing_is_below_it(rig):
    world = rig[0]
    world.add("red", 0.5, 0.0, z=0.3)
    world.add("beside", 0.5, 0.1)
    assert hangs("red", world.objects(), 0.0)
    assert not hangs("nothing", world.objects(), 0.0)
    assert not hangs("red", world.objects(), 0.3 - EDGE / 2), "it lies on the table"
    assert not hangs("beside", world.objects(), 0.0)
    world.add("below", 0.52, 0.0, z=0.3 - EDGE)
    assert not hangs("red", world.objects(), 0.0)
    world.attached["red"] = "gripper"
    assert not hangs("red", world.objects(), 0.0)


def test_a_given_grasp_from_the_side_is_taken(rig):
    """Nobody has asked for a hand that comes from above."""
    rig[0].add("blue", 0.5, -0.1, z=0.3)
    grasp = grasp_pose([1, 0, 0], [0, 1, 0], 0.0)
    used = pick(rig, grasps=(grasp,))
    np.testing.assert_array_equal(used, grasp)
    assert rig[0].held == "blue"


def test_too_many_given_grasps_are_the_twenty_most_comfortable(block, monkeypatch):
    tried = []

    def noted(q, target, offset, **options):
        tried.append(target)
        raise SkillFailure(FailureCode.UNREACHABLE, "No.")

    monkeypatch.setattr(block[1], "straight_then_free", noted)
    grasps = tuple(grasp_pose([0, 0, -1], [0, 1, 0], 1e-4 * i) for i in range(100))
    fails_with(FailureCode.UNREACHABLE, block, grasps=grasps)
    assert len(tried) == 20


@pytest.mark.slow
@pytest.mark.parametrize("failed_plans", [5, 6])
def test_the_sixth_failed_plan_in_a_row_ends_the_pick(block, monkeypatch, failed_plans):
    from behavior_motion import ErrorCode, Plan

    real, calls = block[1].planner.plan_to_joints, []

    def fail(*args, **options):
        calls.append(1)
        if len(calls) <= failed_plans:
            return Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))
        return real(*args, **options)

    monkeypatch.setattr(block[1].planner, "plan_to_joints", fail)
    if failed_plans == 5:
        pick(block)
        return
    message = fails_with(FailureCode.PLANNING_FAILED, block)
    assert "Planning failed 6 times in a row, the last time: No path." in message
    assert len(calls) == 6


def test_failed_plans_are_counted_in_a_row():
    from behavior_motion import ErrorCode, Plan

    failed = Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))
    found = Plan(ErrorCode.SUCCESS, "", np.empty((2, 7)))
    counted = PlanFailures()
    for _ in range(5):
        with pytest.raises(SkillFailure):
            counted.checked(failed)
    assert counted.checked(found) is found
    for _ in range(5):
        with pytest.raises(SkillFailure) as caught:
            counted.checked(failed)
        assert not isinstance(caught.value, Final)
    with pytest.raises(Final, match="6 times"):
        counted.checked(failed)


@pytest.mark.slow
def test_cancelled_while_it_chooses(block):
    """Also where thousands of grasps are offered: within one of them."""
    world = block[0]
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 50:
            raise Cancelled

    grasps = tuple(grasp_pose([0, 0, -1], [0, 1, 0], 1e-6 * i) for i in range(5000))
    with pytest.raises(Cancelled), interruptible(look):
        pick(block, grasps=grasps)
    assert world.time == 0.0


def test_too_many_given_grasps(block):
    grasps = (np.eye(4),) * 10_001
    assert "at most 10000" in fails_with(FailureCode.INVALID_REQUEST, block, grasps=grasps)


def test_no_grasp_of_a_thick_block(rig):
    rig[0].add("blue", 0.45, -0.3, z=0.1, size=(0.2, 0.2, 0.2))
    fails_with(FailureCode.NO_GRASP, rig)


def test_unreachable(rig):
    rig[0].add("blue", 0.98, 0.0)
    fails_with(FailureCode.UNREACHABLE, rig, workspace=Workspace(0.25, 2.0))


def test_planning_failed_when_everything_collides(block):
    block[0].add("red", 0.45, -0.3, z=1.5 * EDGE)
    message = fails_with(FailureCode.PLANNING_FAILED, block)
    assert "red" in message


def test_execution_failed(block):
    block[0].arm_fails = True
    message = fails_with(FailureCode.EXECUTION_FAILED, block)
    assert "path tolerance" in message


def test_gripper_fault(block):
    block[0].when("approach", lambda: setattr(block[0], "gripper_fails", True))
    fails_with(FailureCode.EXECUTION_FAILED, block)


def test_moved_block_is_followed(block):
    world = block[0]
    world.when("reach", lambda: world.move_object("blue", 0.5, -0.15))
    pick(block)
    assert world.held == "blue"
    np.testing.assert_allclose(world.poses["blue"][:2, 3], (0.5, -0.15), atol=3e-3)


def test_block_moved_under_the_approaching_hand_is_followed(block):
    world = block[0]
    world.when("approach", lambda: world.move_object("blue", 0.5, -0.15))
    pick(block)
    assert world.held == "blue"


def test_block_that_never_rests(block):
    world = block[0]

    def flee():
        world.move_object("blue", 0.95 - world.poses["blue"][0, 3], -0.3)
        world.when("approach", flee)

    world.when("approach", flee)
    few = replaced(PickParameters(), replans=2)
    fails_with(FailureCode.OBJECT_MOVED, block, parameters=few)


def test_block_moved_out_of_the_workspace(block):
    world = block[0]
    world.when("reach", lambda: world.move_object("blue", 1.5, 0.0))
    fails_with(FailureCode.OUT_OF_WORKSPACE, block)


def test_small_noise_does_not_stop_the_arm(block):
    world = block[0]
    world.when("reach", lambda: world.move_object("blue", 0.452, -0.301))
    pick(block)
    assert world.phases.count("reach") == 1
    assert world.time < 4.0


def test_grasp_missed_opens_the_gripper_again(block):
    world = block[0]
    world.when("grasp", lambda: world.move_object("blue", 0.6, 0.3))
    fails_with(FailureCode.GRASP_MISSED, block)
    for _ in range(30):
        world.tick()
    assert world.width == pytest.approx(0.08)
    assert world.attached == {}
    assert block[2].held is None


def test_block_stolen_while_lifted(block):
    world = block[0]
    world.when("lift", lambda: world.steal("blue"))
    fails_with(FailureCode.GRASP_MISSED, block)
    assert world.attached == {}


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["reach", "approach", "grasp"])
def test_cancel_before_the_grasp(block, phase):
    world = block[0]
    world.cancel_in = phase
    with pytest.raises(Cancelled):
        pick(block)
    assert not world.arm_moves
    assert world.attached == {}
    assert block[2].held is None


def test_cancel_in_the_lift_leaves_the_scene_true(block):
    world = block[0]
    world.cancel_in = "lift"
    with pytest.raises(Cancelled):
        pick(block)
    assert not world.arm_moves
    assert world.held == "blue"
    assert world.attached == {"blue": "gripper"}
    assert block[2].held.name == "blue"


def test_stuck_arm_times_out(block):
    block[0].arm_stuck = True
    fails_with(FailureCode.TIMED_OUT, block)


def test_stuck_gripper_times_out(block):
    block[0].when("approach", lambda: setattr(block[0], "gripper_stuck", True))
    fails_with(FailureCode.TIMED_OUT, block)


@pytest.mark.parametrize("what", ["controllers_lost", "scene_lost"])
def test_server_lost(block, what):
    block[0].when("reach", lambda: setattr(block[0], what, True))
    fails_with(FailureCode.SERVER_LOST, block)


@pytest.mark.parametrize("fault", ["gripper_stuck", "gripper_fails"])
def test_fingers_that_do_not_open_are_not_driven_onto_the_block(block, fault):
    world = block[0]
    world.width = 0.0
    setattr(world, fault, True)
    message = fails_with(FailureCode.EXECUTION_FAILED, block)
    assert "did not open" in message
    tool = world.robot.forward_kinematics(world.q)[:3, 3]
    assert tool[2] > EDGE + 0.04, "above the block"


def test_fingers_that_open_late_are_waited_for_before_the_block(block):
    world = block[0]
    world.width, world.gripper_stuck = 0.0, True

    def go():
        world.gripper_stuck = False

    world.when("approach", go)
    pick(block)
    assert world.held == "blue"
    assert world.phases.count("approach") == 2


@pytest.mark.slow
def test_hand_that_touches_the_block_can_leave_and_take_it(block):
    world = block[0]
    tool = world.robot.forward_kinematics(world.q)[:3, 3]
    world.add("red", *tool)  # believed between the fingers, as right after it was let go
    world.width = 0.03
    pick(block)
    assert world.held == "blue"
