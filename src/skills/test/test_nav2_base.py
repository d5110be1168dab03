# SPDX-License-Identifier: Apache-2.0
"""Drives handed to Nav2, where neither its messages nor its servers are installed."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")

from behavior_msgs.action import MoveBase

from behavior_ros import End, GoalOutcome
from behavior_skills.base.nav2 import Nav2Base
from behavior_skills.interfaces import FailureCode, SkillFailure


class Action:
    """An action of Nav2's: it tells once how far it is, then it ends."""

    def __init__(self, feedback, outcome):
        self.feedback, self.outcome, self.goals = feedback, outcome, []

    def ready(self):
        return True

    def run(self, context, goal, *, timeout, on_feedback):
        self.goals.append((goal, timeout))
        on_feedback(SimpleNamespace(**self.feedback))
        return self.outcome


@pytest.fixture
def drive(monkeypatch):
    """Drive with one outcome; returns what was told, and what Nav2 was asked for."""

    def run(goal, feedback, outcome):
        kind = SimpleNamespace(Goal=SimpleNamespace)
        module = ModuleType("nav2_msgs.action")
        module.NavigateToPose = module.FollowPath = kind
        monkeypatch.setitem(sys.modules, "nav2_msgs", ModuleType("nav2_msgs"))
        monkeypatch.setitem(sys.modules, "nav2_msgs.action", module)
        action, told = Action(feedback, outcome), []
        actions = SimpleNamespace(action=lambda kind, name: action)
        monkeypatch.setattr("behavior_skills.base.nav2.remote_actions", lambda node: actions)
        base = Nav2Base(None)
        assert base.serves(goal.mode)
        base.run(SimpleNamespace(goal=goal, publish_feedback=told.append))
        return told, action.goals

    return run


@pytest.mark.parametrize(
    ("goal", "feedback", "asked"),
    [
        (MoveBase.Goal(mode=MoveBase.Goal.POSE, timeout=9.0), "distance_remaining", "pose"),
        (MoveBase.Goal(mode=MoveBase.Goal.PATH), "distance_to_goal", "path"),
    ],
)
def test_a_drive_of_nav2_tells_how_far_it_is(drive, goal, feedback, asked):
    told, goals = drive(goal, {feedback: 1.5}, GoalOutcome(End.SUCCEEDED, SimpleNamespace()))
    assert [message.distance_remaining for message in told] == [1.5]
    assert vars(goals[0][0]) == {asked: goal.target if asked == "pose" else goal.path}
    assert goals[0][1] == (goal.timeout or float("inf"))


def test_the_failure_of_a_drive_says_what_nav2_says(drive):
    failed = GoalOutcome(End.ABORTED, SimpleNamespace(error_code=105, error_msg="no progress"))
    says = "ABORTED, error 105 FAILED_TO_MAKE_PROGRESS: no progress. Clear what stands"
    with pytest.raises(SkillFailure, match=says) as caught:
        drive(MoveBase.Goal(), {"distance_remaining": 2.0}, failed)
    assert caught.value.failure is FailureCode.EXECUTION_FAILED


def test_a_failure_that_nobody_knows_is_told_all_the_same(drive):
    failed = GoalOutcome(End.ABORTED, SimpleNamespace(error_code=4711))
    with pytest.raises(SkillFailure, match=r"error 4711: no reason given\. See Nav2's log"):
        drive(MoveBase.Goal(), {"distance_remaining": 2.0}, failed)
