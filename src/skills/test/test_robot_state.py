# SPDX-License-Identifier: Apache-2.0
"""Waiting for joint states on behalf of a goal: news, cancellation and silence end it."""

import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")

from behavior_ros import GoalContext, silence
from behavior_ros.testing import ros, spinner, until  # noqa: F401
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.controllers import RobotState
from behavior_tree.cause import Cancelled


@pytest.fixture
def state(spinner, monkeypatch):  # noqa: F811
    """The state of a robot whose joint states are read by the test, and a goal."""
    monkeypatch.setattr("behavior_skills.node.controllers.read_joint_state", lambda data: data)
    monkeypatch.setattr(
        "behavior_skills.node.controllers.conversion.joint_state", lambda message, robot: message
    )
    spinner.start()
    node = spinner.node("skills")
    made = spinner.do(lambda: RobotState(node, None))
    made.goal = spinner.do(lambda: GoalContext(node, None))
    made.goal.pace = lambda: made.await_next(made.goal)
    return made


def waits(state):
    """Wait for the next joint state in a thread; what it ended with comes in the list."""
    ended = []

    def work():
        try:
            state.goal.tick()
            ended.append("news")
        except (Cancelled, SkillFailure) as error:
            ended.append(error)

    threading.Thread(target=work, daemon=True).start()
    until(lambda: state._waiting or ended, what="the wait")
    return ended


def test_the_next_joint_state_ends_a_tick(state):
    state._on_message("first")
    ended = waits(state)
    assert not ended
    state._on_message("second")
    until(lambda: ended)
    assert ended == ["news"]
    assert state.get() == "second"


def test_a_cancellation_ends_a_tick(state):
    state._on_message("first")
    ended = waits(state)
    state.goal.cancel("enough")
    until(lambda: ended)
    assert isinstance(ended[0], Cancelled)


def test_a_robot_that_is_silent_is_lost(state):
    ended = waits(state)
    until(lambda: ended)
    assert ended[0].failure is FailureCode.SERVER_LOST
    assert "No joint states" in str(ended[0])
    with pytest.raises(SkillFailure, match="No joint states"):
        state.get()


def test_a_simulation_that_is_kept_waiting_is_not_lost(state, monkeypatch):
    clocks = SimpleNamespace(wall=100.0, node=7.0)
    monkeypatch.setattr(silence, "time", SimpleNamespace(monotonic=lambda: clocks.wall))
    monkeypatch.setattr(state._silence, "_now", lambda: clocks.node)
    state._on_message("first")
    clocks.wall += 3.0  # [s], in which the simulated clock stood still
    assert not state.silent
    clocks.node += 3.0
    assert state.silent
    state._on_message("second")
    clocks.node += 3.0  # in a fast simulation that is a moment
    assert not state.silent
    clocks.wall += 11.0
    assert state.silent
