# SPDX-License-Identifier: Apache-2.0
"""Drives handed to Nav2, where its servers are not installed."""

from types import SimpleNamespace

import driver_types
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")

from behavior_msgs.action import MoveBase

from behavior_motion.robot.robot_file import DriverSection
from behavior_ros import End, GoalOutcome
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver

LYRICAL = {"tracking_feedback": SimpleNamespace(distance_to_goal=1.5)}


class Action:
    """An action of Nav2's: it tells once how far it is, then it ends."""

    def __init__(self, kind, name, feedback, outcome):
        self.kind, self.name, self.feedback, self.outcome = kind, name, feedback, outcome
        self.goals, self.lost = [], None

    def ready(self):
        return True

    def run(self, context, goal, *, timeout, on_feedback, lost):
        assert isinstance(goal, self.kind.Goal)
        self.goals.append((goal, timeout))
        self.lost = lost
        on_feedback(SimpleNamespace(**self.feedback))
        return GoalOutcome(self.outcome.end, self.kind.Result(**self.outcome.result))


@pytest.fixture
def drive(monkeypatch):
    """Drive with one outcome; returns what was told, and the actions by their names."""
    driver_types.install(monkeypatch)
    load_interface.cache_clear()

    def run(goal, feedback, outcome, **options):
        actions, told = {}, []

        def action(kind, name):
            return actions.setdefault(name, Action(kind, name, feedback, outcome))

        monkeypatch.setattr(
            "behavior_skills.node.drivers.nav2.remote_actions",
            lambda node: SimpleNamespace(action=action),
        )
        section = DriverSection(driver="nav2", **options)
        nav2 = make_driver(Role.NAVIGATION, section, DriverParts(node=None))
        assert nav2.serves(goal.mode)
        assert not nav2.serves(MoveBase.Goal.TURN)
        context = SimpleNamespace(goal=goal, publish_feedback=told.append)
        nav2.run(context, lambda: "the stop is pressed")
        return told, actions

    yield run
    load_interface.cache_clear()


def ended(end, **result):
    return SimpleNamespace(end=end, result=result)


@pytest.mark.parametrize(
    ("mode", "feedback", "asked", "name"),
    [
        (MoveBase.Goal.POSE, {"distance_remaining": 1.5}, "pose", "/cart/navigate_to_pose"),
        (MoveBase.Goal.PATH, {"distance_to_goal": 1.5}, "path", "follow_path"),
        (MoveBase.Goal.PATH, LYRICAL, "path", "follow_path"),
    ],
)
def test_a_drive_of_nav2_tells_how_far_it_is(drive, mode, feedback, asked, name):
    goal = MoveBase.Goal(mode=mode, timeout=9.0)
    goal.target.pose.position.x = 2.0
    goal.path.header.frame_id = "map"
    told, actions = drive(
        goal, feedback, ended(End.SUCCEEDED), navigate_to_pose="/cart/navigate_to_pose"
    )
    assert [message.distance_remaining for message in told] == [1.5]
    ((sent, timeout),) = actions[name].goals
    assert getattr(sent, asked) == (goal.target if asked == "pose" else goal.path)
    assert timeout == 9.0
    assert actions[name].lost() == "the stop is pressed"
    assert sum(len(action.goals) for action in actions.values()) == 1


def test_the_failure_of_a_drive_says_what_nav2_says(drive):
    failed = ended(End.ABORTED, error_code=105, error_msg="no progress")
    says = "ABORTED, error 105 FAILED_TO_MAKE_PROGRESS: no progress. Clear what stands"
    with pytest.raises(SkillFailure, match=says) as caught:
        drive(MoveBase.Goal(), {"distance_remaining": 2.0}, failed)
    assert caught.value.failure is FailureCode.EXECUTION_FAILED


def test_a_failure_that_nobody_knows_is_told_all_the_same(drive):
    failed = ended(End.ABORTED, error_code=4711)
    with pytest.raises(SkillFailure, match=r"error 4711: no reason given\. See Nav2's log"):
        drive(MoveBase.Goal(), {"distance_remaining": 2.0}, failed)
