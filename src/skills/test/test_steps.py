# SPDX-License-Identifier: Apache-2.0
"""The steps of pick and place one by one: sample, choose, check; nothing moves."""

import numpy as np
import pytest
from fakes import EDGE, context_of, down, refused
from test_specified_place_skill import fall, skill_for

from behavior_motion import interruptible
from behavior_skills.arm.grasp_check import GraspCheck, GraspCheckRequest
from behavior_skills.arm.pick import PickRequest, PickSkill
from behavior_skills.arm.select_reachable import SelectReachableRequest, SelectReachableSkill
from behavior_skills.interfaces import FailureCode
from behavior_tree.cause import Cancelled


@pytest.fixture
def block(rig):
    rig[0].add("blue", 0.45, -0.3)
    rig[0].add("bin", 0.45, 0.25, 0.04, size=(0.24, 0.2, 0.08))
    return rig


def pick_skill(rig, **request):
    request = PickRequest("blue", **request)
    return PickSkill(context_of(rig), request)


@pytest.fixture
def holding(block):
    pick_skill(block).run()
    block[0].phases.clear()
    return block


def select(rig, **request):
    request = SelectReachableRequest(**request)
    return SelectReachableSkill(context_of(rig), request).run()


def check(rig, name="blue", **request):
    made = GraspCheck(context_of(rig), GraspCheckRequest(name, **request))
    made.run()
    return made


# ---------------------------------------------------------------------- sample


def test_sampled_grasps_lead_to_the_object_the_best_first(block):
    ways = pick_skill(block).sample()
    assert 1 <= len(ways) <= 20
    for pre, target, grasp in ways:
        assert np.allclose(target, block[0].poses["blue"] @ grasp.object_T_tool, atol=1e-6)
        assert np.allclose(pre[:3, 3], target[:3, 3] - 0.08 * target[:3, 2])
    assert block[0].time == 0.0
    assert not block[0].arm_moves


def test_grasps_are_sampled_whatever_is_held(holding):
    assert pick_skill(holding, max_tilt=3.0).sample()


def test_sampled_places_are_those_that_place_would_try(holding):
    skill = skill_for(holding, candidates=7)
    places = skill.sample()
    assert len(places) == 7
    for place in places:
        assert abs(place.place[0, 3] - 0.45) <= 0.024 + 1e-9
        assert np.allclose(place.pre[2, 3] - place.place[2, 3], 0.1)
    assert skill.report.accepted >= 7


def test_a_place_needs_something_in_the_hand(block):
    message = refused(FailureCode.NOT_HELD, skill_for(block).sample)
    assert "Nothing has been picked yet" in message


def test_no_place_where_the_container_is_full(holding):
    holding[0].add("red", 0.45, 0.25, 0.11, size=(0.2, 0.2, 0.1))
    keys = {"position_constraint": "object", "place_z_offset": 0.03}
    assert "taken by red" in refused(FailureCode.OCCUPIED, skill_for(holding, **keys).sample)


# ---------------------------------------------------------------------- select


def test_the_least_travel_is_chosen_and_the_unreachable_never(block):
    near, far, out = (
        down(0.45, 0.0, 0.3),
        down(0.3, -0.5, 0.3),
        down(3.0, 0.0, 0.3),
    )
    assert select(block, target=(out, far, near)) == 2
    assert select(block, target=(out, far, near), in_order=True) == 1
    assert select(block, target=(far, near), pre=(far, out)) == 0
    message = refused(FailureCode.UNREACHABLE, lambda: select(block, target=(out,)))
    assert "None of 1 ways" in message


@pytest.mark.slow
@pytest.mark.parametrize("plan", [False, True])
def test_ways_of_a_sampled_grasp(block, plan):
    ways = pick_skill(block).sample()
    index = select(
        block,
        pre=tuple(pre for pre, _, _ in ways),
        target=tuple(target for _, target, _ in ways),
        plan=plan,
        may_touch=("blue",),
    )
    assert 0 <= index < len(ways)
    assert not block[0].arm_moves


def test_what_may_not_be_touched_is_in_the_way(block):
    block[0].add("lid", 0.45, 0.25, 0.2, size=(0.3, 0.3, 0.1))
    inside = down(0.45, 0.25, 0.2)
    assert "lid" in refused(FailureCode.UNREACHABLE, lambda: select(block, target=(inside,)))
    assert select(block, target=(inside,), may_touch=("lid",)) == 0


def test_a_way_without_a_plan_is_not_chosen(block, monkeypatch):
    from behavior_motion import ErrorCode, Plan

    real, calls = block[1].planner.plan_to_joints, []

    def fail_first(*args, **options):
        calls.append(1)
        if len(calls) == 1:
            return Plan(ErrorCode.PLANNING_FAILED, "no path", np.empty((0, 7)))
        return real(*args, **options)

    monkeypatch.setattr(block[1].planner, "plan_to_joints", fail_first)
    ways = (down(0.45, 0.0, 0.3), down(0.45, 0.05, 0.3))
    assert select(block, target=ways, plan=True, in_order=True) == 1


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"target": ()}, "1 to 200"),
        ({"target": (np.eye(4),) * 201}, "1 to 200"),
        ({"target": (np.eye(4),), "pre": (np.eye(4),) * 2}, "as many pre"),
        ({"target": (np.full((4, 4), np.nan),)}, "NaN"),
        ({"target": (np.eye(4),), "may_touch": ("a",) * 101}, "at most 100 names"),
    ],
)
def test_a_choice_that_cannot_be_made(block, request_, why):
    assert why in refused(FailureCode.INVALID_REQUEST, lambda: select(block, **request_))


def test_unknown_things_may_not_be_touched(block):
    refused(
        FailureCode.UNKNOWN_OBJECT, lambda: select(block, target=(np.eye(4),), may_touch=("cat",))
    )


def test_a_choice_is_cancelled(block):
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 20:
            raise Cancelled

    with pytest.raises(Cancelled), interruptible(look):
        select(block, target=(down(3.0, 0.0, 0.3),) * 200)


# ---------------------------------------------------------------------- check


def test_a_grasped_object_is_seen_to_be(holding):
    found = check(holding, width=EDGE, height=EDGE / 2, rise=0.05)
    assert found.gap == pytest.approx(EDGE)
    assert found.height == pytest.approx(EDGE / 2 + 0.1, abs=3e-3)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"width": 0.03}, "but it is 30.0 mm thick"),
        ({"height": EDGE / 2, "rise": 0.2}, "not by 200 mm"),
    ],
)
def test_what_speaks_against_a_grasp(holding, request_, why):
    assert why in refused(FailureCode.NOT_GRASPED, lambda: check(holding, **request_))


def test_empty_fingers_grasp_nothing(block):
    assert "from the tool" in refused(FailureCode.NOT_GRASPED, lambda: check(block))


def test_shut_fingers_grasp_nothing(holding):
    holding[0].steal("blue")
    assert "shut" in refused(FailureCode.NOT_GRASPED, lambda: check(holding))


@pytest.mark.parametrize("request_", [{"rise": -1.0}, {"patience": 60.0}, {"height": np.nan}])
def test_a_check_that_makes_no_sense(holding, request_):
    refused(FailureCode.INVALID_REQUEST, lambda: check(holding, **request_))


def test_checks_of_unknown_things(holding):
    refused(FailureCode.UNKNOWN_OBJECT, lambda: check(holding, name="cat"))
    skill = skill_for(holding, objects=["cat", "bin"])
    refused(FailureCode.UNKNOWN_OBJECT, lambda: skill.check_placed(0.0, 0.5))


def test_a_placed_object_is_seen_to_be(holding):
    message = refused(FailureCode.NOT_PLACED, lambda: skill_for(holding).check_placed(0.0, 0.5))
    assert "it is in the gripper" in message.lower()
    fall(holding)
    skill_for(holding).run()
    assert skill_for(holding).check_placed(0.0, 0.5)[2, 3] == pytest.approx(0.05)
    holding[0].move_object("blue", 0.0, 0.5)
    message = refused(FailureCode.NOT_PLACED, lambda: skill_for(holding).check_placed(0.0, 0.5))
    assert "overlap" in message
