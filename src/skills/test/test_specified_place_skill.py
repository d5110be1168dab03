# SPDX-License-Identifier: Apache-2.0
"""Placing by specification with the real planner and a kinematic arm."""

import dataclasses
import time

import numpy as np
import pytest
from fakes import EDGE, context_of, pick_up, refused
from scipy.spatial.transform import Rotation

from behavior_motion import interruptible
from behavior_motion.object_state import ObjectState
from behavior_skills.arm.pick import PickRequest, PickSkill
from behavior_skills.arm.specified_place import SpecifiedPlaceSkill
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.orientations import random_rotations
from behavior_skills.placement import PlaceSpecification, sample_placements
from behavior_tree.cause import Cancelled

DOWN = {"filter_z_dir": ["downward", 160]}


def skill_for(rig, base_T_world=None, log=None, **keys):
    values = {"objects": ["blue", "bin"], "seed": 1, **DOWN, **keys}
    return SpecifiedPlaceSkill(
        context_of(rig),
        PlaceSpecification.model_validate(values),
        np.eye(4) if base_T_world is None else base_T_world,
        (lambda message: None) if log is None else log,
    )


def place(rig, **keys):
    return skill_for(rig, **keys).run()


def fails_with(failure, rig, **keys):
    return refused(failure, lambda: place(rig, **keys), rig)


@pytest.fixture
def holding(rig):
    """The blue block in the gripper, a flat bin beside."""
    world = rig[0]
    world.add("blue", 0.45, -0.3)
    world.add("bin", 0.45, 0.25, 0.04, size=(0.24, 0.2, 0.08))
    pick_up(rig, "blue")
    return rig


def fall(rig, height=0.05):
    """Gravity, when the fingers open: the block lies flat."""
    world = rig[0]

    def lie():
        world.poses["blue"][:3, :3] = np.eye(3)
        world.poses["blue"][2, 3] = height

    world.when("verify", lie)


def test_a_block_is_dropped_into_the_bin(holding):
    world, _, hand = holding
    fall(holding)
    pose = place(holding, place_z_offset=0.12)
    assert world.phases == ["select", "reach", "approach", "release", "verify"]
    assert abs(pose[0, 3] - 0.45) < 0.024 + 0.02
    assert abs(pose[1, 3] - 0.25) < 0.02 + 0.02
    assert world.attached == {}
    assert hand.held is None


@pytest.mark.slow
def test_the_same_seed_puts_it_at_the_same_place(planner):
    from fakes import FakeWorld

    from behavior_skills.arm.planning import PlanningWorld
    from behavior_skills.interfaces import Hand

    poses = []
    for _ in range(2):
        planner.scene.clear()
        rig = FakeWorld(planner.robot), PlanningWorld(planner, 0.0), Hand()
        rig[0].add("blue", 0.45, -0.3)
        rig[0].add("bin", 0.45, 0.25, 0.04, size=(0.24, 0.2, 0.08))
        PickSkill(context_of(rig), PickRequest("blue")).run()
        fall(rig)
        poses.append(place(rig))
    assert np.allclose(poses[0][:2, 3], poses[1][:2, 3], atol=2e-3)


def test_the_object_itself_comes_to_the_sampled_point(holding):
    fall(holding)
    world = holding[0]
    before = {}
    world.when("release", lambda: before.update(pose=world.poses["blue"].copy()))
    place(
        holding,
        position_constraint="object",
        x_ratio_range=[0.5, 0.5],
        y_ratio_range=[0.5, 0.5],
        place_z_offset=0.1,
    )
    assert np.allclose(before["pose"][:3, 3], [0.45, 0.25, 0.18], atol=2e-3)


@pytest.mark.parametrize("turn", [0, 30, 45])
def test_points_lie_over_the_container_whatever_way_world_and_base_are_turned(holding, turn):
    """The container's own sides count, not those of the box around it along some axes."""
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_euler("z", turn, degrees=True).as_matrix()
    world = holding[0]
    world.poses["bin"][:3, :3] = Rotation.from_euler("z", 45, degrees=True).as_matrix()
    everywhere = {"x_ratio_range": [0, 1], "y_ratio_range": [0, 1]}
    skill = skill_for(holding, base_T_world=turned, **everywhere)
    held, _ = skill._grip.held("blue")
    scene = skill._place_scene(held, world.objects()["bin"])
    rng = np.random.default_rng(0)
    found = sample_placements(skill.specification, scene, random_rotations(300, rng), rng)
    at = np.array([placement.place[:3, 3] for placement in found])
    local = (at - world.poses["bin"][:3, 3]) @ world.poses["bin"][:3, :3]
    assert (np.abs(local[:, :2]) <= [0.12 + 1e-9, 0.1 + 1e-9]).all()


def test_a_part_of_the_container_is_the_target(holding):
    fall(holding, 0.1)
    parts = {"corner": {"position": [0.06, 0.05, 0.04], "size": [0.04, 0.04, 0.02]}}
    pose = place(holding, place_part_prim_path="corner", parts=parts, success_mode="flower")
    assert abs(pose[0, 3] - 0.51) < 0.015
    assert abs(pose[1, 3] - 0.30) < 0.015


def test_the_tool_obeys_the_filters(holding):
    fall(holding)
    world, planning, _ = holding
    found = {}

    def note():
        found["tool"] = planning.planner.robot.forward_kinematics(world.q)

    world.when("release", note)
    place(holding, filter_z_dir=["downward", 165], filter_x_dir=["forward", 20])
    tool = found["tool"]
    assert tool[2, 2] < np.cos(np.radians(165)) + 1e-3
    assert tool[0, 0] > np.cos(np.radians(20)) - 1e-3


def test_filters_that_exclude_each_other(holding):
    message = fails_with(
        FailureCode.NO_ORIENTATION,
        holding,
        filter_x_dir=["forward", 10],
        filter_y_dir=["forward", 10],
    )
    assert "exclude each other" in message
    assert holding[0].held == "blue"


def test_a_container_out_of_reach(holding):
    holding[0].add("bin", 2.0, 0.0, 0.04, size=(0.2, 0.2, 0.08))
    message = fails_with(FailureCode.UNREACHABLE, holding)
    assert "60 sampled ways" in message


def test_the_number_of_candidates(holding):
    holding[0].add("bin", 2.0, 0.0, 0.04, size=(0.2, 0.2, 0.08))
    assert "15 sampled ways" in fails_with(FailureCode.UNREACHABLE, holding, candidates=5)


def test_an_unknown_container(holding):
    message = fails_with(FailureCode.UNKNOWN_OBJECT, holding, objects=["blue", "basket"])
    assert "'basket' is not in the scene" in message


def test_something_else_is_held(holding):
    assert "'blue'" in fails_with(FailureCode.NOT_HELD, holding, objects=["red", "bin"])


def test_a_container_that_is_moved_on_the_way(holding):
    world = holding[0]
    world.when("reach", lambda: world.poses["bin"].__setitem__((0, 3), 0.6))
    assert "was moved" in fails_with(FailureCode.EXECUTION_FAILED, holding)
    assert world.held == "blue"


def test_an_object_that_slips_out(holding):
    world = holding[0]
    world.when("reach", lambda: world.steal("blue"))
    fails_with(FailureCode.OBJECT_LOST, holding)
    assert world.attached == {}


def test_an_object_that_falls_beside_the_container(holding):
    world = holding[0]

    def aside():
        world.poses["blue"][:3, 3] = (0.45, -0.1, EDGE / 2)

    world.when("verify", aside)
    message = fails_with(FailureCode.NOT_PLACED, holding)
    assert "success_mode 3diou" in message
    assert "overlap" in message


def test_the_success_mode_decides(holding):
    world = holding[0]

    def aside():
        world.poses["blue"][:3, 3] = (0.45 - 0.12 - 0.04, 0.25, EDGE / 2)

    world.when("verify", aside)
    place(holding, success_mode="left", threshold=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["select", "reach", "approach"])
def test_cancelled_on_the_way(holding, phase):
    world = holding[0]
    if phase == "select":  # a tick happens there only between rounds
        world.add("bin", 2.0, 0.0, 0.04, size=(0.2, 0.2, 0.08))
    world.cancel_in = phase
    with pytest.raises(Cancelled):
        place(holding)
    assert not world.arm_moves
    assert world.held == "blue"
    assert world.objects()["blue"].state is ObjectState.ATTACHED


def test_cancelled_after_the_release(holding):
    world = holding[0]
    world.cancel_in = "verify"
    with pytest.raises(Cancelled):
        place(holding)
    assert world.attached == {}


def rules(rig):
    return rig[1].planner.scene.snapshot().rules


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["placed", "cancelled", "failed"])
def test_what_was_looked_away_from_counts_again_afterwards(holding, ending):
    before = rules(holding)
    keys = {"ignore_substring": ["shelf"], "post_place_vector": [0, 0, -0.05]}
    if ending == "placed":
        fall(holding)
        place(holding, **keys)
    elif ending == "cancelled":
        holding[0].cancel_in = "approach"
        with pytest.raises(Cancelled):
            place(holding, **keys)
    else:
        holding[0].when("approach", lambda: holding[0].steal("blue"))
        fails_with(FailureCode.OBJECT_LOST, holding, **keys)
    assert rules(holding) == before


@pytest.mark.slow
def test_ignored_things_are_no_obstacles(holding):
    # A shelf right where the hand has to be.
    holding[0].add("shelf_3", 0.45, 0.25, 0.22, size=(0.3, 0.3, 0.02))
    with pytest.raises(SkillFailure) as caught:
        place(holding)
    assert caught.value.failure is FailureCode.UNREACHABLE
    fall(holding)
    place(holding, ignore_substring=["shelf"])


def test_the_hand_goes_back_by_the_given_vector(holding):
    world, planning, _ = holding
    fall(holding)
    at = {}
    robot = planning.planner.robot
    world.when("release", lambda: at.update(place=robot.forward_kinematics(world.q)))
    place(holding, post_place_vector=[0.0, 0.0, -0.06])
    end = robot.forward_kinematics(world.q)
    moved = at["place"][:3, :3].T @ (end[:3, 3] - at["place"][:3, 3])
    assert np.allclose(moved, [0, 0, -0.06], atol=3e-3)
    assert "retreat" in world.phases


@pytest.mark.slow
def test_where_the_hand_could_not_leave_nothing_is_let_go(holding):
    """The way back, down through the bin and the table, is looked at before the fingers open."""
    world = holding[0]
    message = fails_with(FailureCode.UNREACHABLE, holding, post_place_vector=[0.0, 0.0, 0.3])
    assert "sampled ways" in message
    assert "release" not in world.phases
    assert world.held == "blue"
    assert world.objects()["blue"].state is ObjectState.ATTACHED


@pytest.mark.slow
def test_of_the_placements_one_is_taken_that_the_hand_can_leave(holding):
    """A wall beside the bin leaves a way back to the right from some of the places only."""
    world, planning, _ = holding
    world.add("wall", 0.45, 0.02, 0.2, size=(0.5, 0.02, 0.4))
    fall(holding)
    place(
        holding,
        candidates=60,
        y_ratio_range=[0.0, 1.0],
        filter_x_dir=["forward", 20],
        filter_z_dir=["downward", 178],
        post_place_vector=[0.0, 0.1, 0.0],
    )
    end = planning.planner.robot.forward_kinematics(world.q)
    assert end[1, 3] < 0.25 + 0.1  # gone towards the wall, as far as was asked for
    assert "retreat" in world.phases


def test_a_failure_after_the_release_says_that_it_was_let_go_and_where(holding):
    world = holding[0]
    world.when("retreat", lambda: setattr(world, "arm_stuck", True))
    keys = {"post_place_vector": [0, 0, -0.05], "position_constraint": "object"}
    keys |= {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5], "place_z_offset": 0.1}
    message = fails_with(FailureCode.TIMED_OUT, holding, **keys)
    assert "'blue' was let go at x 0.450, y 0.250, z 0.180 m in the base frame." in message
    world.arm_stuck = False
    message = fails_with(FailureCode.NOT_HELD, holding)
    assert "holds nothing, not 'blue'. 'blue' was let go at x 0.450" in message


def test_without_a_vector_the_hand_stays(holding):
    fall(holding)
    place(holding)
    assert "retreat" not in holding[0].phases


def time_of(rig, **keys):
    fall(rig)
    begun = rig[0].time
    place(rig, **keys)
    return rig[0].time - begun


@pytest.mark.slow
@pytest.mark.parametrize("key", ["hesitate_steps", "gripper_change_steps"])
def test_waiting_steps_take_time(holding, key, planner):
    long = time_of(holding, **{key: 200})
    world = holding[0]
    world.poses["blue"][:3, 3] = (0.45, -0.3, EDGE / 2)
    world.q = np.array(planner.robot.named["home"])
    PickSkill(context_of(holding), PickRequest("blue")).run()
    assert long > time_of(holding) + 1.0


@pytest.mark.slow
def test_hold_weights_keep_the_tool_level_on_the_way(holding):
    world, planning, _ = holding
    fall(holding)
    tilts = []
    tick = world.tick

    def watched():
        tick()
        if world.phases and world.phases[-1] == "reach":
            tilts.append(planning.planner.robot.forward_kinematics(world.q)[2, 2])

    skill = skill_for(
        holding, pre_place_hold_vec_weight=[5, 5, 5, 0, 0, 0], filter_z_dir=["downward", 178]
    )
    world.tick = watched
    skill.run()
    assert np.degrees(np.arccos(-np.max(tilts))) < 2.0 + np.degrees(0.02) + 1.0


@pytest.mark.slow
def test_hold_weights_demand_a_straight_approach(holding, monkeypatch):
    planner = holding[1].planner
    real = planner.plan_cartesian
    calls = []

    def blocked(start, waypoints, **options):
        calls.append(1)
        return real(start, [np.full((4, 4), 9.0) * 0 + far], **options)

    far = np.eye(4)
    far[:3, 3] = 3.0, 0, 0
    monkeypatch.setattr(planner, "plan_cartesian", blocked)
    fails_with(
        FailureCode.UNREACHABLE,
        holding,
        post_place_hold_vec_weight=[0, 0, 0, 1, 1, 0],
        candidates=3,
    )
    fall(holding)
    place(holding, candidates=3)  # without weights any way will do
    assert calls


def test_test_mode_ik_takes_a_failed_plan_as_the_end(holding, monkeypatch):
    from behavior_motion import ErrorCode, Plan

    planner = holding[1].planner

    def fail(*_, **__):
        return Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))

    monkeypatch.setattr(planner, "plan_to_joints", fail)
    assert fails_with(FailureCode.PLANNING_FAILED, holding, test_mode="ik") == "No path."
    message = fails_with(FailureCode.UNREACHABLE, holding, candidates=1)
    assert "the nearest: No path. Widen" in message


def test_the_sixth_failed_plan_in_a_row_ends_the_place(holding, monkeypatch):
    from behavior_motion import ErrorCode, Plan

    calls = []

    def fail(*_, **__):
        calls.append(1)
        return Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))

    monkeypatch.setattr(holding[1].planner, "plan_to_joints", fail)
    message = fails_with(FailureCode.PLANNING_FAILED, holding)
    assert message == "Planning failed 6 times in a row, the last time: No path."
    assert len(calls) == 6


@pytest.mark.slow
@pytest.mark.parametrize("others", [0, 3])
def test_cancelled_within_a_fifth_of_a_second_while_it_chooses(holding, others):
    """However many candidates: the computation itself looks whether it is to end."""
    world = holding[0]
    for i in range(others):  # things that overlaps are measured with
        world.add(f"red_{i}", 0.45, 0.25, 0.11 + 0.1 * i, size=(0.2, 0.2, 0.1))
    looks = []

    def look():
        looks.append(time.thread_time())
        if looks[-1] - looks[0] > 1.0:
            raise Cancelled

    begun = time.thread_time()
    far = {"x_ratio_range": [8, 9]}
    with interruptible(look), pytest.raises((Cancelled, SkillFailure)):
        place(holding, position_constraint="object", candidates=200, **far)
    looks.append(time.thread_time())
    assert np.diff([begun, *looks]).max() < 0.2
    assert world.held == "blue"


def test_the_single_rule_does_not_ask_for_the_pre_place_pose(holding):
    """A pre-place pose far above is out of reach: only with `single` it is not asked first."""
    keys = {"pre_place_z_offset": 1.6, "test_mode": "ik", "candidates": 4}
    fails_with(FailureCode.UNREACHABLE, holding, **keys)
    message = fails_with(FailureCode.UNREACHABLE, holding, selection="single", **keys)
    assert "sampled ways" not in message  # the plan of the chosen one failed instead


def test_doubtful_keys_are_logged(holding):
    fall(holding)
    said = []
    skill_for(holding, log=said.append, close_wait_steps=3).run()
    assert len(said) == 1
    assert said[0].startswith("place: 'close_wait_steps' is not a key of the place skill")


@pytest.mark.slow
def test_boxes_that_touch_are_no_overlap_and_no_crash(holding):
    fall(holding, 0.08 + EDGE / 2)  # exactly on the bin's top face
    message = fails_with(FailureCode.NOT_PLACED, holding, position_constraint="object")
    assert "overlap (IoU)" in message


def test_what_is_thinner_than_the_overlap_that_is_allowed_takes_room_too(holding):
    world = holding[0]
    world.sizes["blue"] = (EDGE, EDGE, 0.004)
    world.add("red", 0.45, 0.25, 0.11, size=(0.2, 0.2, 0.1))
    skill = skill_for(holding, position_constraint="object", place_z_offset=0.03)
    with pytest.raises(SkillFailure) as caught:
        skill.sample()
    assert caught.value.failure is FailureCode.OCCUPIED


@pytest.mark.slow
def test_a_full_container(holding):
    world = holding[0]
    world.add("red", 0.45, 0.25, 0.11, size=(0.2, 0.2, 0.1))
    keys = {"position_constraint": "object", "place_z_offset": 0.03}
    message = fails_with(FailureCode.OCCUPIED, holding, **keys)
    assert "taken by red" in message
    fall(holding)
    place(holding, ignore_substring=["red"], **keys)


def test_a_corner_that_is_still_free(holding):
    world = holding[0]
    world.add("red", 0.45 - 0.05, 0.25, 0.11, size=(0.1, 0.2, 0.06))
    fall(holding)
    at = {}
    world.when("release", lambda: at.update(pose=world.poses["blue"].copy()))
    place(
        holding,
        position_constraint="object",
        place_z_offset=0.03,
        x_ratio_range=[0.1, 0.9],
        filter_z_dir=["downward", 175],
    )
    assert at["pose"][0, 3] > 0.45 + EDGE / 2 - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("key", ["t_eps", "o_eps"])
def test_tolerances_that_are_named_must_be_met(holding, key):
    world = holding[0]
    state = world.state

    def off():
        now = state()
        return dataclasses.replace(now, q=now.q + 1e-3)

    skill = skill_for(holding, **{key: 1e-4})
    world.when("approach", lambda: use_arm(skill, Shifted(world, off)))
    with pytest.raises(SkillFailure) as caught:
        skill.run()
    assert caught.value.failure is FailureCode.EXECUTION_FAILED
    assert "not within t_eps" in str(caught.value)


def use_arm(skill, arm):
    skill.context = dataclasses.replace(skill.context, arm=arm)


class Shifted:
    """An arm whose joints are measured a little beside where they are."""

    def __init__(self, world, state):
        self.execute, self.state = world.execute, state


@pytest.mark.slow
def test_default_tolerances_are_a_warning(holding):
    fall(holding)
    world, said = holding[0], []
    state = world.state
    skill = skill_for(holding, log=said.append)

    def off():
        now = state()
        return dataclasses.replace(now, q=now.q + 2e-3)

    world.when("approach", lambda: use_arm(skill, Shifted(world, off)))
    skill.run()
    assert "not within t_eps" in said[0]
