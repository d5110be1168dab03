# SPDX-License-Identifier: Apache-2.0
"""Planned motions on their way out of a node, and previewed ones on their way in; without ROS."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

String = pytest.importorskip("std_msgs.msg").String

from fakes import ROBOT_FILE  # noqa: E402

from behavior_motion import PlanOptions, create_planner, load_robot  # noqa: E402
from behavior_ros import mark_of  # noqa: E402
from behavior_skills.node.previewed_motions import (  # noqa: E402
    CHOICES,
    LONGEST,
    PLANNED,
    PREVIEWED,
    STOPS_WITHIN,
    MotionExchange,
    planning_for,
)

MISSION = "1f2e3d4c5b6a"
TIAGO = ROBOT_FILE.parent / "tiago_pro.yaml"


class FakeNode:
    """Keeps what is published by topic, does tasks at once, and logs to lists."""

    def __init__(self):
        self.sent = {PLANNED: [], CHOICES: []}
        self.listeners = 0
        self.heard = {}
        self.infos, self.errors = [], []
        self.executor = SimpleNamespace(create_task=lambda task: task())

    def create_publisher(self, kind, topic, qos):
        return SimpleNamespace(
            publish=lambda message: self.sent[topic].append(json.loads(message.data)),
            get_subscription_count=lambda: self.listeners,
        )

    def create_subscription(self, kind, topic, callback, qos):
        self.heard[topic] = lambda text: callback(String(data=text))

    def get_logger(self):
        return SimpleNamespace(info=self.infos.append, error=self.errors.append)


@pytest.fixture
def exchange(planner):
    planner.scene.clear()
    node = FakeNode()
    MotionExchange(node, planner)

    def move(shift=0.3, mission=MISSION, **options):
        home = np.array(planner.robot.named["home"])
        goal = home.copy()
        goal[0] += shift
        with planning_for(mark_of(mission) if mission else b""):
            return planner.plan_to_joints(home, goal, options=PlanOptions(**options))

    def give(text, mission=MISSION):
        node.heard[PREVIEWED](f"{mission}\n{text}")

    def choices():
        """Missions whose motions were asked for, and whether they were the previewed ones."""
        return [(each["mission"], each["as_previewed"]) for each in node.sent[CHOICES]]

    yield SimpleNamespace(node=node, move=move, planner=planner, give=give, choices=choices)
    planner.previewed = planner.on_planned = None


def test_motions_are_told_to_who_listens_and_done_again(exchange):
    node = exchange.node
    assert exchange.move().ok
    assert node.sent[PLANNED] == []
    node.listeners = 1
    exchange.move()
    assert len(node.sent[PLANNED]) == 1
    node.listeners = 0
    exchange.give(json.dumps(node.sent[PLANNED]))
    assert exchange.move().ok
    assert exchange.move(-0.5).ok
    first, second = node.sent[CHOICES]
    assert first == {"mission": MISSION, "as_previewed": True, "why": ""}
    assert not second["as_previewed"]
    assert "at the goal a joint is 0.800" in second["why"]
    assert node.infos == [f"planned anew: {second['why']}"]
    exchange.give("")
    assert exchange.move().ok
    assert len(node.sent[CHOICES]) == 2


@pytest.mark.parametrize(
    "text",
    ["{", "{}", "[3]", '[{"kind": "dance"}]', " " * (LONGEST + 1), '"motions"', "[" * 100_000],
)
def test_what_is_no_list_of_motions_is_refused_and_planned_as_ever(exchange, text):
    exchange.give(text)
    assert exchange.move().ok
    (error,) = exchange.node.errors
    assert "motion/previewed is not as 'behavior preview' writes it" in error


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("min_fraction",), 10**400),
        (("positions", 0, 0), 10**400),
        (("options", "gripper_width"), "0.08"),
        (("waypoint_times",), [[]]),
    ],
)
def test_a_motion_of_values_that_cannot_be_is_refused_and_planned_anew(exchange, place, value):
    """Numbers of JSON may be larger than any float; a plan must not fail of what somebody sent."""
    exchange.node.listeners = 1
    exchange.move(gripper_width=0.08)
    (row,) = exchange.node.sent[PLANNED]
    *way, last = place
    part = row
    for key in way:
        part = part[key]
    part[last] = value
    exchange.give(json.dumps([row]))
    assert exchange.move(gripper_width=0.08).ok
    (error,) = exchange.node.errors
    assert "no planned motion" in error


def test_motions_of_one_mission_serve_no_goal_of_another(exchange):
    """Approved, it may wait in the queue while another mission runs, or a person moves the arm."""
    node = exchange.node
    node.listeners = 1
    exchange.move()
    motions = json.dumps(node.sent[PLANNED])
    exchange.give(motions)
    for other in ("another", ""):
        assert exchange.move(mission=other).ok
    assert exchange.choices() == []
    assert exchange.move().ok
    assert exchange.choices() == [(MISSION, True)]


def test_each_approved_mission_has_its_motions_until_they_are_taken_back(exchange):
    exchange.node.listeners = 1
    exchange.move()
    motions = json.dumps(exchange.node.sent[PLANNED])
    for mission in ("a", "b"):
        exchange.give(motions, mission)
    exchange.give("", "b")
    exchange.give("", "c")
    for mission in ("a", "b"):
        assert exchange.move(mission=mission).ok
    assert exchange.choices() == [("a", True)]


def test_of_missions_whose_approver_has_died_the_oldest_are_forgotten(exchange):
    much = " " * (LONGEST // 3)
    for mission in "abcd":
        exchange.give(f"[{much}3]", mission)
    kept = exchange.planner.previewed.of
    assert list(kept) == [mark_of(mission) for mission in "cd"]


@pytest.mark.parametrize("text", ["", "[]", "\n[]"])
def test_motions_of_no_mission_are_refused(exchange, text):
    exchange.node.heard[PREVIEWED](text)
    (error,) = exchange.node.errors
    assert "its first line is to be the identifier of the approved mission" in error
    assert exchange.planner.previewed.of == {}


def test_another_robots_motions_fit_nothing(exchange):
    exchange.node.listeners = 1
    exchange.move()
    (row,) = exchange.node.sent[PLANNED]
    row["joint_names"] = [f"other_{name}" for name in row["joint_names"]]
    exchange.give(json.dumps([row]))
    assert exchange.move().ok
    assert [each["why"] for each in exchange.node.sent[CHOICES]] == [
        "such a motion was not previewed"
    ]
    assert exchange.node.errors == []


def test_a_planner_of_another_kind_takes_no_part():
    node = FakeNode()
    MotionExchange(node, object())
    assert node.heard == {}


def test_around_a_robot_that_drives_all_may_be_some_centimetres_elsewhere(exchange):
    exchange.give("[{}]")
    mark = mark_of(MISSION)
    assert exchange.planner.previewed.of[mark].tolerances.around == pytest.approx(0.01)
    node = FakeNode()
    drives = create_planner(load_robot(TIAGO, group="head"), "embedded")
    MotionExchange(node, drives)
    node.heard[PREVIEWED](f"{MISSION}\n[{{}}]")
    tolerances = drives.previewed.of[mark].tolerances
    assert tolerances.around == STOPS_WITHIN
    assert tolerances.distance == pytest.approx(0.01)
