# SPDX-License-Identifier: Apache-2.0
"""The tour's cues and its judge, on made-up runs: each thing missing once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from behavior_msgs.msg import Metric, Metrics, MissionAction, MissionFeedback, MissionStep
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry

from behavior_jobs.tour import pictures
from behavior_jobs.tour.cues import CART, CUES, Director, marks_of
from behavior_jobs.tour.evidence import (
    Answered,
    Asked,
    Cause,
    Evidence,
    Located,
    StateChange,
)
from behavior_jobs.tour.findings import judge, reached
from behavior_jobs.tour.job import BLOCKS, JOB, all_of_it, arrived, drawn_cues, goals_of
from behavior_jobs.tour.recorder import TourRecorder
from behavior_motion.planar_pose import Pose2D
from behavior_packages import packages
from behavior_ros import to_time
from behavior_sim.judging import Verdict
from behavior_sim.navigation.config import edge_id, load_navigation_world
from behavior_sim.navigation.messages import pose_message
from behavior_sim.navigation.recording import FrameMoved, Goal, Moment, Obstacle
from behavior_sim.navigation.routes import RoutePlanner
from behavior_sim.navigation.world import NavigationWorld
from behavior_sim.trials import Job, TrialError
from behavior_sim.worlds.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
FRAMES = {name: Pose2D(*pose) for name, pose in CONFIG.frames.items()}


def tour() -> MissionAction:
    """The shipped mission."""
    steps = yaml.safe_load(Path(packages().find("missions", JOB.name).value).read_text())["steps"]
    mission = MissionAction(type=MissionAction.SEQUENCE)
    for place in (step["navigate"] for step in steps):
        goal = PoseStamped()
        goal.header.frame_id = place.get("frame", "map")
        goal.pose = pose_message(Pose2D(place["x"], place["y"], place["yaw"]))
        mission.steps.append(MissionStep(type=MissionAction.NAVIGATE_TO_POSE, goal=goal))
    return mission


MISSION = tour()
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
    assert all_of_it(good_run(), GOALS) == Verdict(True, "all of it happened")


def test_the_verdict_of_a_demonstration_names_what_did_not_happen():
    evidence = good_run()
    evidence.figures["collisions"] = 1.0
    assert all_of_it(evidence, GOALS) == Verdict(False, "nothing is run into")
    evidence.refused = ["block: there is a wall"]
    with pytest.raises(TrialError, match="refused: block: there is a wall"):
        all_of_it(evidence, GOALS)


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


@pytest.mark.parametrize("goals", [0, 1, 3])
def test_a_mission_of_fewer_goals_is_judged_too(goals):
    """A package may shadow the tour's mission; what its own lacks did not happen."""
    failed = {finding.what for finding in judge(good_run(), GOALS[:goals]) if not finding.happened}
    assert "five goals are reached in their order" in failed
    assert ("one blocked way is gone round" in failed) is (goals < 2)


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
    goals = goals_of(MISSION, FRAMES)
    assert len(goals) == 5
    moved = goals_of(MISSION, FRAMES, [FrameMoved(1.0, "cart", FRAMES["cart"], CART)])
    assert [a.pose == b.pose for a, b in zip(goals, moved, strict=True)].count(False) == 1
    left, _, right, _ = CONFIG.tiles["west"]
    inside = [left <= goal.pose.x <= right for goal in moved]
    assert True in inside
    assert False in inside
    assert edge_id("w21", "door_west") == "door_west-w21"


def test_each_cue_waits_for_its_turn_and_its_occasion():
    director = Director(CUES)
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


def test_the_verdict_of_an_episode():
    evidence = Evidence(CONFIG)
    goals = goals_of(MISSION, FRAMES)
    for k, goal in enumerate(goals):
        evidence.recording.moments.append(Moment(10.0 * k, goal.pose, 0.0))
    evidence.figures = {"collisions": 0.0, "distance_driven": 70.0}
    assert arrived(evidence, goals) == Verdict(True, "70 m driven, 0 collisions")
    evidence.figures["collisions"] = 2.0
    assert arrived(evidence, goals) == Verdict(False, "70 m driven, 2 collisions")
    evidence.recording.moments.pop(2)
    assert arrived(evidence, goals) == Verdict(False, "goals never reached: 3, 4, 5")


@pytest.mark.slow
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
    for goal in goals_of(MISSION, FRAMES):
        blocked = [
            edge_id(a, b)
            for a, b in CONFIG.edges
            if not world.solid.line_is_free(
                np.array(CONFIG.waypoints[a]), np.array(CONFIG.waypoints[b]), 0.35
            )
        ]
        assert len(routes.plan(start, goal.pose, blocked).points) > 1
        start = goal.pose


def test_each_way_that_can_be_blocked_is_drawn_for_some_seed():
    drawn = set()
    for cue in (cue for seed in range(20) for cue in drawn_cues(seed)):
        drawn |= {(a.pose.x, a.pose.y, *a.size) for a in cue.actions if a.kind == "block"}
    assert drawn == set(BLOCKS)


def test_a_crate_beyond_the_doorway_stays_until_the_robot_is_round_it():
    """The robot comes there after 75 s: by then it had always been taken away."""
    x, y, *_ = BLOCKS[2]
    seed = next(s for s in range(20) if drawn_cues(s)[2].actions[0].pose.x == x)
    director = Director(drawn_cues(seed))
    given = {}
    for step in range(1000):
        place = (x - 1.0, y) if step < 900 else (x + 1.5, 14.4)
        cue = director.due(moment(0.1 * step, place[0], y=place[1]), "running")
        if cue is not None:
            given[cue.name] = 0.1 * step
    assert given["block"] < 26.0
    assert given["unblock"] == pytest.approx(90.0)
    assert given["cart"] == pytest.approx(90.1)


def test_cues_by_time_count_from_the_one_before():
    director = Director(drawn_cues(0))
    names: list[str] = []
    for step in range(2000):
        cue = director.due(moment(0.1 * step, 30.0), "running")
        if cue is not None:
            names.append(cue.name)
    assert names == ["lose", "visitor", "block", "unblock", "cart"]


class Stack:
    """A stack of which is heard, whenever somebody waits, what comes next."""

    def __init__(self) -> None:
        self.heard: dict[str, Callable[[Any], None]] = {}
        self.events: list[Callable[[], None]] = []
        self.given: list[MissionAction] = []
        self.disturbed: list[Any] = []

    def listen(self, kind: Any, topic: str, callback: Any, qos: Any) -> Callable[[], None]:
        self.heard[topic] = callback
        return lambda: None

    def call_later(self, kind: Any, name: str, request: Any) -> Any:
        self.disturbed.append(request)
        return SimpleNamespace(done=lambda: True, result=lambda: SimpleNamespace(code=0))

    def give(self, action: MissionAction) -> str:
        self.given.append(action)
        return str(action.action_id)

    def reset(self, *, seed: int, layout: str) -> None:
        raise AssertionError("nobody resets a demonstration")

    def wait_simulated(
        self, condition: Callable[[], bool], *, now: Any = None, limit: float = math.inf
    ) -> bool:
        begin = now()
        while not condition() and now() <= begin + limit:
            self.events.pop(0)()
        return condition()

    def moment(self, time: float, pose: Pose2D | None = None) -> Callable[[], None]:
        message = Odometry()
        message.header.stamp = to_time(time)
        message.pose.pose = pose_message(pose or Pose2D())
        return lambda: self.heard["simulation/truth"](message)

    def figures(self, time: float, collisions: float) -> Callable[[], None]:
        message = Metrics(
            component="navigation_world",
            metrics=[
                Metric(name="collisions", value=collisions),
                Metric(name="distance_driven", value=9.0),
            ],
        )
        message.header.stamp = to_time(time)
        return lambda: self.heard["behavior/metrics"](message)

    def told(self, state: int, time: float) -> Callable[[], None]:
        message = MissionFeedback(action_id="m", state=state)
        message.header.stamp = to_time(time)
        return lambda: self.heard["mission/feedback"](message)


def test_the_tour_is_judged_by_what_the_executor_told_at_last():
    """Seed 90210: the follower knew the end, and the judge was asked before it had heard of it."""
    stack = Stack()
    recorder = TourRecorder(stack, CONFIG, Director([]))
    recorder.action_id = "m"
    for event in (
        stack.told(MissionFeedback.RUNNING, 1.0),
        stack.moment(1.0),
        stack.figures(1.0, 0.0),
    ):
        event()
    # What waited in the queues when the follower had long heard of the end.
    stack.events = [stack.moment(1.0 + 0.5 * k) for k in range(1, 9)]
    stack.events += [stack.told(MissionFeedback.FINISHED, 5.0)]
    stack.events += [stack.moment(5.5), stack.moment(6.5), stack.figures(6.0, 1.0)]
    recorder.settle()
    findings = {finding.what: finding for finding in judge(recorder.finish(), [])}
    assert findings["the mission ends well"].happened
    assert findings["nothing is run into"].how.startswith("1 collisions")


@pytest.mark.slow
def test_a_demonstration_lets_things_happen_and_tells_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "draw_animation", lambda recording, file: file.touch())
    assert isinstance(JOB, Job)
    stack = Stack()
    trial = JOB.demonstration(stack)
    mission = tour()
    mission.action_id = "m"
    trial.begin(mission)
    stack.told(MissionFeedback.RUNNING, 1.0)()
    stack.moment(1.0)()
    stack.moment(3.0, Pose2D(2.0, 5.0))()
    assert [action.type for action in stack.given] == [MissionAction.PAUSE]
    assert trial.summary() == "the operator pauses the mission"
    assert trial.now() == 3.0
    stack.events = [stack.told(MissionFeedback.FAILED, 4.0), stack.moment(5.0)]
    stack.events += [stack.figures(5.0, 0.0)]
    trial.settle()
    assert not trial.verdict().success
    assert trial.disturbances() == ["2.0 s: pause"]
    assert trial.not_disturbed()[0] == "resume"
    happened, asked = trial.tables()
    assert happened.rows == (("2.0", "the operator pauses the mission", "2.0, 5.0"),)
    assert ("no", "the mission ends well", "it is failed") in asked.rows
    assert "Drawn: " in trial.draw(tmp_path / "tour", [], "not all of it happened")
    assert (tmp_path / "tour.png").stat().st_size > 0
    assert (tmp_path / "tour.gif").is_file()
    trial.close()
