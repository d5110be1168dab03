# SPDX-License-Identifier: Apache-2.0
"""The tour's cues and its judge, on made-up runs: each thing missing once."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
import pytest
from behavior_msgs.msg import PathPlannerHealth, TrajectoryStatus
from behavior_msgs.srv import DisturbNavigation

from behavior_bringup.navigation.disturbing import REASONS, STATUSES, add_disturbances, fields_of
from behavior_bringup.navigation.evaluation import drawn_cues, verdict
from behavior_bringup.navigation.evidence import (
    Answered,
    Asked,
    Cause,
    Evidence,
    Located,
    StateChange,
)
from behavior_bringup.navigation.judge import judge, reached
from behavior_bringup.navigation.tour import CART, CUES, Director, goals_of, marks_of, tour_steps
from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import edge_id, load_navigation_world
from behavior_sim.navigation.recording import FrameMoved, Goal, Moment, Obstacle
from behavior_sim.navigation.routes import RoutePlanner
from behavior_sim.navigation.world import NavigationWorld
from behavior_sim.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
Request = DisturbNavigation.Request
FRAMES = {name: Pose2D(*pose) for name, pose in CONFIG.frames.items()}
GOALS = [Goal(str(k + 1), Pose2D(5.0 * k, 0.0)) for k in range(5)]


def moment(time: float, x: float, speed: float = 0.0, y: float = 0.0) -> Moment:
    return Moment(time, Pose2D(x, y), speed)


def good_run() -> Evidence:
    """Everything that is asked for, in seconds of ten."""
    evidence = Evidence(CONFIG)
    recording = evidence.recording
    for k in range(5):
        recording.moments.append(moment(10.0 * k, 5.0 * k))
        rests = k in (0, 2)  # paused, and lost
        recording.moments += [
            moment(10.0 * k + 0.5 * j, 5.0 * k + 0.5 * j, 0.0 if rests and j > 2 else 1.0)
            for j in range(1, 10)
        ]
    recording.tiles = [(0.0, "west"), (25.0, "east")]
    evidence.states = [
        StateChange(0, "running"),
        StateChange(1, "paused"),
        StateChange(4.6, "running"),
    ]
    evidence.states.append(StateChange(45.0, "finished"))
    evidence.done = [(1.0, "pause"), (4.5, "resume"), (5.0, "block"), (20.5, "lose")]
    evidence.done.append((28.0, "cart"))
    evidence.failures = [(6.0, "NO_PATH")]
    evidence.asked = [
        Asked(0.0, 1, Cause.NEW_ACTION, ()),
        Asked(7.0, 2, Cause.REROUTE, ("a-b",)),
        Asked(28.5, 3, Cause.GOAL_MOVED, ()),
    ]
    evidence.answered = [Answered(7.1, 2, ("c-d",), "")]
    evidence.located = [Located(0, True, "west"), Located(20.6, False, "west")]
    evidence.located += [Located(24.6, True, "west"), Located(27.0, True, "east")]
    evidence.figures = {"collisions": 0.0, "distance_driven": 25.0}
    return evidence


def test_a_run_in_which_all_of_it_happened():
    findings = judge(good_run(), GOALS)
    assert [finding.what for finding in findings if not finding.happened] == []
    assert len(findings) == 8


def without(name: str) -> Callable[[Evidence], None]:
    def change(evidence: Evidence) -> None:
        evidence.done = [item for item in evidence.done if item[1] != name]

    return change


def moving(begin: float, end: float) -> Callable[[Evidence], None]:
    def change(evidence: Evidence) -> None:
        evidence.recording.moments = [
            moment(m.time, m.robot.x, 0.5) if begin <= m.time <= end else m
            for m in evidence.recording.moments
        ]

    return change


def set_to(**fields: object) -> Callable[[Evidence], None]:
    def change(evidence: Evidence) -> None:
        for name, value in fields.items():
            setattr(evidence, name, value)

    return change


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (
            set_to(states=[StateChange(0, "running"), StateChange(9, "failed")]),
            {"the mission ends well", "one pa"},
        ),
        (set_to(states=[]), {"the mission ends well", "one pause"}),
        (moving(3.0, 4.5), {"one pause"}),
        (without("block"), {"one blocked way"}),
        (set_to(failures=[]), {"one blocked way"}),
        (set_to(failures=[(1.0, "NO_PATH")]), {"one blocked way"}),
        (set_to(asked=[Asked(30.5, 3, Cause.GOAL_MOVED, ())]), {"one blocked way"}),
        (set_to(answered=[Answered(7.1, 2, (), "no way")]), {"one blocked way"}),
        (without("lose"), {"one localization loss"}),
        (moving(23.0, 24.0), {"one localization loss"}),
        (
            set_to(located=[Located(0, True, "west"), Located(27, True, "east")]),
            {"one localization loss"},
        ),
        (
            set_to(located=[Located(20.6, False, "west"), Located(24.6, True, "west")]),
            {"two map tiles"},
        ),
        (without("cart"), {"one goal frame"}),
        (set_to(asked=[Asked(7.0, 2, Cause.REROUTE, ("a-b",))]), {"one goal frame"}),
        (set_to(figures={}), {"nothing is run into"}),
        (set_to(figures={"collisions": 1.0, "distance_driven": 9.0}), {"nothing is run into"}),
    ],
)
def test_what_did_not_happen_is_found(change, missing):
    evidence = good_run()
    change(evidence)
    failed = {finding.what for finding in judge(evidence, GOALS) if not finding.happened}
    assert len(failed) == len(missing)
    for start in missing:
        assert any(what.startswith(start) for what in failed), failed


def test_a_goal_that_was_only_passed_is_not_reached():
    evidence = good_run()
    moving(20.0, 20.0)(evidence)
    times = reached(evidence, GOALS)
    assert times[:3] == [0.0, 10.0, None]
    failed = [f for f in judge(evidence, GOALS) if not f.happened]
    assert "3: never" in " ".join(finding.how for finding in failed)


def test_goals_count_in_their_order_only():
    evidence = good_run()
    assert reached(evidence, [GOALS[3], GOALS[1]]) == [30.0, None]


def test_the_shipped_tour_fits_its_world():
    steps = tour_steps(CONFIG)
    goals = goals_of(steps, FRAMES)
    assert len(goals) == 5
    moved = goals_of(steps, FRAMES, [FrameMoved(1.0, "cart", FRAMES["cart"], CART)])
    assert [a.pose == b.pose for a, b in zip(goals, moved, strict=True)].count(False) == 1
    left, _, right, _ = CONFIG.tiles["west"]
    inside = [left <= goal.pose.x <= right for goal in moved]
    assert True in inside
    assert False in inside
    assert edge_id("w21", "door_west") == "door_west-w21"


def test_each_cue_waits_for_its_turn_and_its_occasion():
    director = Director()
    assert director.due(moment(0.0, 2.0, y=1.5), "running") is None
    assert director.due(moment(1.0, 2.0, y=5.0), "waiting") is None
    given = director.due(moment(2.0, 2.0, y=5.0), "running")
    assert given is not None
    assert given.name == "pause"
    assert director.due(moment(3.0, 8.5, y=10.5), "running") is None  # resume comes first
    assert director.due(moment(5.0, 2.0, y=6.0), "paused") is None
    resumed = director.due(moment(6.5, 2.0, y=6.0), "paused")
    assert resumed is not None
    assert resumed.name == "resume"
    places = {
        "block": (8.3, 10.5),
        "courier": (5.0, 10.5),
        "unblock": (10.2, 1.5),
        "lose": (13.0, 1.5),
        "cart": (21.5, 8.0),
    }
    time = 10.0
    for name, (x, y) in places.items():
        time += 1.0
        cue = director.due(moment(time, x, y=y), "running")
        assert cue is not None
        assert cue.name == name
    assert director.waiting == []
    assert director.due(moment(99.0, 0.0), "running") is None


def test_what_interventions_leave_on_the_map():
    actions = {action.kind: action for cue in CUES for action in cue.actions}
    block = marks_of(actions["block"], 3.0, Pose2D())
    assert isinstance(block, Obstacle)
    assert block.box == pytest.approx((13.0, 6.4, 17.0, 7.0))
    moved = marks_of(actions["move_frame"], 4.0, Pose2D(1.0, 2.0))
    assert isinstance(moved, FrameMoved)
    assert (moved.before, moved.after) == (Pose2D(1.0, 2.0), CART)
    assert marks_of(actions["pause"], 5.0, Pose2D()) is None
    assert math.isclose(actions["lose_localization"].duration, 3.0)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (
            ["block", "crate", "15", "6.7", "--size", "4", "0.6"],
            {"kind": Request.BLOCK, "name": "crate", "place": (15.0, 6.7, 0.0), "size": [4.0, 0.6]},
        ),
        (["unblock"], {"kind": Request.UNBLOCK, "name": ""}),
        (["lose-localization", "--duration", "3"], {"kind": 2, "duration": 3.0}),
        (["move-frame", "cart", "1", "2", "0.5"], {"kind": 3, "place": (1.0, 2.0, 0.5)}),
        (["fail-planner", "timeout"], {"kind": 4, "cause": PathPlannerHealth.TIMEOUT}),
        (["fail-trajectory", "cost_failed"], {"kind": 5, "cause": TrajectoryStatus.COST_FAILED}),
        (["fail-map", "east", "--times", "2"], {"kind": 6, "name": "east", "cause": 2}),
        (["silence-routes", "--duration", "4"], {"kind": Request.FAIL_ROUTE, "duration": 4.0}),
        (["add-person", "ann", "1", "2"], {"kind": Request.ADD_PERSON, "speed": 0.8}),
        (["remove-person", "ann"], {"kind": Request.REMOVE_PERSON, "name": "ann"}),
    ],
)
def test_what_is_typed_becomes_a_disturbance(arguments, fields):
    parser = argparse.ArgumentParser()
    add_disturbances(parser)
    found = fields_of(parser.parse_args(arguments))
    assert {name: found[name] for name in fields} == fields


def test_causes_have_the_numbers_of_their_messages():
    for names, message in ((REASONS, PathPlannerHealth), (STATUSES, TrajectoryStatus)):
        assert [getattr(message, name.upper()) for name in names] == [1, 2, 3, 4, 5, 6]


def test_the_verdict_of_an_episode():
    evidence = Evidence(CONFIG)
    goals = goals_of(tour_steps(CONFIG), FRAMES)
    for k, goal in enumerate(goals):
        evidence.recording.moments.append(Moment(10.0 * k, goal.pose, 0.0))
    evidence.figures = {"collisions": 0.0, "distance_driven": 70.0}
    assert verdict(evidence, CONFIG) == (True, "70 m driven, 0 collisions")
    evidence.figures["collisions"] = 2.0
    assert verdict(evidence, CONFIG) == (False, "70 m driven, 2 collisions")
    evidence.recording.moments.pop(2)
    assert verdict(evidence, CONFIG) == (False, "goals never reached: 3, 4, 5")


@pytest.mark.parametrize("seed", range(5))
def test_drawn_disturbances_are_those_of_their_seed_and_leave_a_way(seed):
    cues = drawn_cues(seed)
    assert [list(cue.actions) for cue in cues] == [list(cue.actions) for cue in drawn_cues(seed)]
    assert [cue.name for cue in cues] == ["lose", "visitor", "block", "unblock", "cart"]
    world = NavigationWorld(CONFIG)
    for cue in cues:
        for action in cue.actions:
            if action.kind == "block":
                world.block(action.name, action.pose, action.size)
    routes = RoutePlanner(CONFIG, world.solid)
    start = Pose2D(*CONFIG.start.pose)
    for goal in goals_of(tour_steps(CONFIG), FRAMES):
        blocked = [
            edge_id(a, b)
            for a, b in CONFIG.edges
            if not world.solid.line_is_free(
                np.array(CONFIG.waypoints[a]), np.array(CONFIG.waypoints[b]), 0.35
            )
        ]
        assert len(routes.plan(start, goal.pose, blocked).points) > 1
        start = goal.pose


def test_cues_by_time_count_from_the_one_before():
    director = Director(drawn_cues(0))
    names: list[str] = []
    for step in range(2000):
        cue = director.due(moment(0.1 * step, 30.0), "running")
        if cue is not None:
            names.append(cue.name)
    assert names == ["lose", "visitor", "block", "unblock", "cart"]
