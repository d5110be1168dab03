# SPDX-License-Identifier: Apache-2.0
"""The ways to tell an arm its motion as it goes, without any arm."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")

from behavior_motion.robot.robot_file import ControllersSection, stream_of
from behavior_ros import End, GoalOutcome, seconds
from behavior_skills.interfaces import FailureCode, SkillFailure, StreamedMotion
from behavior_skills.node.drivers import streams as module
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver

ROBOT = SimpleNamespace(joint_names=("a", "b"))
MOTION = StreamedMotion(
    np.array([10.0, 10.1, 10.2]),
    np.array([[0.0, 1.0], [0.1, 1.0], [0.15, 1.0]]),
    np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]),
)


class Node:
    """Keeps what is published, and tells that `listeners` listen."""

    def __init__(self):
        self.published, self.listeners = [], 1

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(
            publish=self.published.append,
            get_subscription_count=lambda: self.listeners,
            topic_name=topic,
        )


class Actions:
    """Keeps the goals that are sent."""

    def __init__(self):
        self.goals = []

    def action(self, kind, name):
        self.name = name
        return self

    def send(self, goal, *, from_worker):
        self.goals.append(SimpleNamespace(message=goal, outcome=None))
        return self.goals[-1]


def made(node, **stream):
    section = stream_of(ControllersSection(arm="/arm", stream=stream or None))
    return make_driver(Role.STREAM, section, DriverParts(node=node, robot=ROBOT))


def test_a_trajectory_on_a_topic_says_when_it_began():
    node = Node()
    stream = made(node, driver="joint_trajectory", topic="/arm/joint_trajectory")
    stream.send(MOTION, 10.05)
    (message,) = node.published
    assert message.joint_names == ["a", "b"]
    assert seconds(message.header.stamp) == pytest.approx(10.0)
    assert [seconds(p.time_from_start) for p in message.points] == pytest.approx([0.0, 0.1, 0.2])
    assert list(message.points[1].positions) == [0.1, 1.0]
    assert list(message.points[1].velocities) == [1.0, 0.0]
    assert stream.last is MOTION


def test_positions_are_those_of_now():
    node = Node()
    made(node, driver="positions", topic="/arm/commands").send(MOTION, 10.05)
    assert list(node.published[0].data) == pytest.approx([0.05, 1.0])


@pytest.mark.parametrize("driver", ["joint_trajectory", "positions"])
def test_a_topic_that_nobody_listens_to_is_named(driver):
    node = Node()
    stream = made(node, driver=driver, topic="/arm/somewhere")
    stream.check()
    node.listeners = 0
    with pytest.raises(SkillFailure, match="/arm/somewhere") as caught:
        stream.check()
    assert caught.value.failure is FailureCode.SERVER_LOST


def test_goals_replace_each_other_at_their_pace(monkeypatch):
    actions = Actions()
    monkeypatch.setattr(module, "remote_actions", lambda node: actions)
    stream = made(Node())
    for now in (10.0, 10.01, 10.04, 10.06):
        stream.send(MOTION, now)
        stream.check()
    assert len(actions.goals) == 2
    assert len(actions.goals[0].message.trajectory.points) == 3
    # That the first one was replaced is no failure; that the newest ended badly is.
    actions.goals[0].outcome = GoalOutcome(End.ABORTED)
    stream.check()
    for now, end, failure in (
        (20.0, End.LOST, FailureCode.SERVER_LOST),
        (21.0, End.ABORTED, FailureCode.EXECUTION_FAILED),
        (22.0, End.REJECTED, FailureCode.EXECUTION_FAILED),
    ):
        stream.send(MOTION, now)
        actions.goals[-1].outcome = GoalOutcome(end, message="why")
        with pytest.raises(SkillFailure) as caught:
            stream.check()
        assert caught.value.failure is failure


def test_goals_go_on_when_the_clock_is_set_back(monkeypatch):
    actions = Actions()
    monkeypatch.setattr(module, "remote_actions", lambda node: actions)
    stream = made(Node())
    stream.send(MOTION, 1000.0)
    stream.send(MOTION, 10.0)
    assert len(actions.goals) == 2
