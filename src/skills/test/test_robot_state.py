# SPDX-License-Identifier: Apache-2.0
"""Waiting for joint states on behalf of a goal: news, cancellation and silence end it."""

import dataclasses
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from behavior_motion.robot.model import NO_GRIPPER
from behavior_ros import GoalContext
from behavior_ros.messages.joint_state_wire import WireJointState
from behavior_ros.node import silence
from behavior_ros.testing import ros, spinner, until  # noqa: F401
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.controllers import RobotState
from behavior_skills.node.joint_states import MOST_LAYOUTS
from behavior_tree.cause import Cancelled

FINGERS = dataclasses.replace(
    NO_GRIPPER, joint_names=("left", "right"), joint_scale=(0.5, 0.5), open_width=0.08
)
ROBOT = SimpleNamespace(joint_names=("a", "b"), gripper=FINGERS)


def told(joints, stamp=0.0, velocity=None, effort=None):
    """A message of joint states."""
    some = np.array([] if velocity is None else velocity, dtype=float)
    none = np.array([] if effort is None else effort, dtype=float)
    values = np.array(list(joints.values()), dtype=float)
    return WireJointState(round(1e9 * stamp), tuple(joints), values, some, none)


ALL = {"right": 0.02, "a": 1.0, "b": 2.0, "wheel": 7.0, "left": 0.02}


@pytest.fixture
def state(spinner, monkeypatch):  # noqa: F811
    """The state of a robot whose joint states are read by the test, and a goal."""
    monkeypatch.setattr("behavior_skills.node.controllers.read_joint_state", lambda data: data)
    spinner.start()
    node = spinner.node("skills")
    made = spinner.do(lambda: RobotState(node, ROBOT))
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
    state._on_message(told(ALL))
    ended = waits(state)
    assert not ended
    state._on_message(told(ALL | {"a": 1.5}))
    until(lambda: ended)
    assert ended == ["news"]
    assert state.get().q.tolist() == [1.5, 2.0]


def test_a_nudge_ends_a_tick_or_the_next_one(state):
    state._on_message(told(ALL))
    ended = waits(state)
    state.goal.nudge()
    until(lambda: ended)
    state.goal.nudge()  # while nobody waits: what it tells of is looked at a tick later
    state.goal.tick()
    assert not state.goal.nudged
    ended = waits(state)
    assert not ended
    state._on_message(told(ALL))
    until(lambda: ended)
    assert ended == ["news"]


def test_a_cancellation_ends_a_tick(state):
    state._on_message(told(ALL))
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
    monkeypatch.setattr(state._clock, "now", lambda: None)
    monkeypatch.setattr("behavior_skills.node.controllers.seconds", lambda time: clocks.node)
    state._on_message(told(ALL))
    clocks.wall += 3.0  # [s], in which the simulated clock stood still
    assert not state.silent
    clocks.node += 3.0
    assert state.silent
    state._on_message(told(ALL | {"a": 1.5}))
    clocks.node += 3.0  # in a fast simulation that is a moment
    assert not state.silent
    clocks.wall += 11.0
    assert state.silent


def test_messages_may_each_tell_of_a_part(state):
    state._on_message(told({"a": 1.0, "b": 2.0}, velocity=[0.1, float("nan")]))
    assert state.silent
    with pytest.raises(SkillFailure, match=r"No joint states of \['left', 'right'\] arrive on"):
        state.get()
    state._on_message(told({"left": 0.01, "right": 0.02}))
    now = state.get()
    assert now.qd.tolist() == [0.1, 0.0]
    assert now.width == pytest.approx(0.03)
    assert now.effort is None
    state._on_message(told({"b": 3.0, "a": 1.1}, effort=[5.0, 4.0]))
    now = state.get()
    assert now.q.tolist() == [1.1, 3.0]
    assert now.effort.tolist() == [4.0, 5.0]
    assert now.width == pytest.approx(0.03)
    state._on_message(told({"a": float("nan"), "b": 0.0}))
    assert state.get().q.tolist() == [1.1, 3.0]


def test_the_gap_is_as_old_as_what_was_told_last_of_the_fingers(state, clocks):
    state._on_message(told(ALL, stamp=49.5))
    assert state.get().measured == 49.5
    state._on_message(told({"a": 1.5, "b": 2.5}, stamp=49.7))
    assert state.get().measured == state.get().measured == 49.5
    state._on_message(told({"left": 0.0, "right": 0.0}))  # no stamp: it counts when it came
    assert state.get().measured == 50.0


@pytest.fixture
def clocks(state, monkeypatch):
    """The wall's clock and the node's, as the test sets them."""
    made = SimpleNamespace(wall=100.0, node=50.0)
    monkeypatch.setattr(silence, "time", SimpleNamespace(monotonic=lambda: made.wall))
    monkeypatch.setattr("behavior_skills.node.controllers.seconds", lambda time: made.node)
    return made


def test_a_hand_that_is_silent_is_named(state, clocks):
    state._on_message(told(ALL))
    for _ in range(4):
        clocks.wall, clocks.node = clocks.wall + 1.0, clocks.node + 1.0
        state._on_message(told({"a": 1.0, "b": 2.0}))
    with pytest.raises(SkillFailure, match=r"No joint states of \['left', 'right'\]") as caught:
        state.get()
    assert caught.value.failure is FailureCode.SERVER_LOST
    state._on_message(told({"left": 0.0, "right": 0.0}))
    assert state.get().width == 0.0


def test_joint_states_that_are_old_when_they_come_are_none(state, clocks):
    state._on_message(told(ALL, stamp=clocks.node))
    for _ in range(5):
        clocks.wall, clocks.node = clocks.wall + 1.0, clocks.node + 1.0
        state._on_message(told(ALL, stamp=50.0))
        old = clocks.node - 50.0
        assert state.silent == (old >= 5.0)
    with pytest.raises(SkillFailure, match=r"are 5.0 s old by their stamps.*clocks"):
        state.get()
    state._on_message(told(ALL, stamp=clocks.node - 0.1))
    assert not state.silent


def test_a_robot_is_as_silent_as_it_is_though_nobody_has_looked(state, clocks):
    state._on_message(told(ALL))
    clocks.wall, clocks.node = clocks.wall + 3.0, clocks.node + 3.0
    assert state.silent


def test_what_came_before_anybody_waited_is_no_news(state):
    for _ in range(3):
        state._on_message(told(ALL))
    ended = waits(state)
    assert not ended
    state._on_message(told(ALL))
    until(lambda: ended)
    assert ended == ["news"]


def test_joints_of_other_groups_are_as_told_last(spinner, monkeypatch):  # noqa: F811
    monkeypatch.setattr("behavior_skills.node.controllers.read_joint_state", lambda data: data)
    spinner.start()
    node = spinner.node("skills")
    state = spinner.do(lambda: RobotState(node, ROBOT, other_joints=["wheel"]))
    assert state.others == {}
    state._on_message(told(ALL))
    state._on_message(told(ALL | {"wheel": 8.0}))
    assert state.others == {"wheel": 8.0}


def test_of_what_nobody_has_looked_at_the_newest_of_each_sender_is_taken_in(state, monkeypatch):
    taken, take = [], state._joints.take

    def counted(message, now):
        taken.append(message)
        return take(message, now)

    monkeypatch.setattr(state._joints, "take", counted)
    for position in (1.0, 1.5, 2.0):
        state._on_message(told(ALL | {"a": position}))
        state._on_message(told({"left": 0.01 * position, "right": 0.02}))
    assert not taken
    assert state.get().q.tolist() == [2.0, 2.0]
    assert state.get().width == pytest.approx(0.04)
    assert len(taken) == 2


@pytest.mark.parametrize(
    "useless",
    [told(ALL | {"a": float("nan")}), told(ALL)._replace(position=np.array([0.02]))],
    ids=["not finite", "cut off"],
)
def test_what_cannot_be_used_hides_nothing_that_came_before(state, useless):
    state._on_message(told(ALL | {"a": 1.5}))
    state._on_message(useless)
    assert state.get().q.tolist() == [1.5, 2.0]


def test_messages_of_ever_new_senders_do_not_pile_up(state):
    for number in range(3 * MOST_LAYOUTS):
        state._on_message(told({"a": 1.0, "b": 2.0, f"wheel_{number}": 0.0}))
    assert len(state._untaken._waiting) <= MOST_LAYOUTS
