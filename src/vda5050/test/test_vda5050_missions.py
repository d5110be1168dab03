# SPDX-License-Identifier: Apache-2.0
"""The client beside an executor that is silent or was restarted, and topics with odd values."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from behavior_msgs.msg import LocalizationResult, MissionAction, MissionFeedback
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState

import behavior_vda5050.missions
from behavior_vda5050.missions import ASK_AGAIN, SILENCE, Missions
from behavior_vda5050.node import Vda5050Client
from behavior_vda5050.order_rules import Place


class Executor:
    """Takes goals, and tells of missions when a test has it do so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.asked: list[tuple[int, str]] = []
        self._tell: Callable[[MissionFeedback], None] = lambda message: None
        monkeypatch.setattr(behavior_vda5050.missions, "remote_actions", lambda node: self)
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr(behavior_vda5050.missions, "time", clock)

    def create_subscription(self, kind: Any, topic: str, callback: Any, qos: Any) -> None:
        self._tell = callback

    def action(self, kind: Any, name: str) -> Executor:
        return self

    def ready(self) -> bool:
        return True

    def send(self, goal: Any, **_: Any) -> None:
        self.asked.append((goal.mission.type, goal.mission.action_id))

    def tell(self, action_id: str, state: int) -> None:
        self._tell(MissionFeedback(action_id=action_id, state=state))

    def controls(self) -> list[int]:
        """What was asked for since the last look."""
        found = [kind for kind, _ in self.asked]
        self.asked.clear()
        return found

    def cancelled(self) -> list[str]:
        """Missions whose cancellation was asked for since the last look."""
        found = [name for kind, name in self.asked if kind == MissionAction.CANCEL]
        self.asked.clear()
        return found


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Executor:
    return Executor(monkeypatch)


def test_an_executor_that_comes_back_does_not_go_on_with_a_leg_that_was_given_up(
    executor: Executor,
) -> None:
    missions = Missions(executor)
    leg = missions.send(MissionAction(type=MissionAction.NAVIGATE_TO_POSE))
    executor.tell(leg.action_id, MissionFeedback.RUNNING)
    executor.now += SILENCE + 0.1
    assert leg.poll() == (False, f"the executor has been silent for {SILENCE:g} s")
    assert executor.cancelled() == [leg.action_id]
    missions.send(MissionAction(type=MissionAction.NAVIGATE_TO_POSE))
    executor.now += 3 * SILENCE
    for _ in range(5):  # it was restarted and resumes, and tells of it several times a second
        executor.tell(leg.action_id, MissionFeedback.RUNNING)
    assert executor.cancelled() == [leg.action_id]
    executor.now += ASK_AGAIN + 0.1
    executor.tell(leg.action_id, MissionFeedback.RUNNING)
    assert executor.cancelled() == [leg.action_id]
    executor.tell(leg.action_id, MissionFeedback.CANCELED)
    executor.now += ASK_AGAIN + 0.1
    executor.tell(leg.action_id, MissionFeedback.CANCELED)
    assert executor.cancelled() == []
    assert leg.over


def test_what_an_earlier_client_left_is_cancelled_until_it_ends(executor: Executor) -> None:
    Missions(executor)
    executor.tell("vda5050_0123abcd_4", MissionFeedback.RUNNING)
    executor.tell("vda5050_0123abcd_4", MissionFeedback.RUNNING)
    assert executor.cancelled() == ["vda5050_0123abcd_4"]
    executor.now += ASK_AGAIN + 0.1  # the executor was restarted just then, and never got it
    executor.tell("vda5050_0123abcd_4", MissionFeedback.RUNNING)
    assert executor.cancelled() == ["vda5050_0123abcd_4"]
    executor.tell("vda5050_0123abcd_4", MissionFeedback.CANCELED)
    executor.tell("vda5050_0123abcd_5", MissionFeedback.FINISHED)
    executor.tell("somebody_elses", MissionFeedback.RUNNING)
    assert executor.cancelled() == []


def test_a_pause_of_somebody_else_is_let_be(executor: Executor) -> None:
    missions = Missions(executor)
    leg = missions.send(MissionAction(type=MissionAction.NAVIGATE_TO_POSE))
    executor.controls()

    def pass_time(state: int) -> list[int]:
        for _ in range(10):
            executor.now += 0.3
            executor.tell(leg.action_id, state)
            assert leg.poll() is None
        return executor.controls()

    assert pass_time(MissionFeedback.RUNNING) == []
    assert pass_time(MissionFeedback.PAUSED) == [], "an operator has paused it"
    assert pass_time(MissionFeedback.RUNNING) == []
    leg.hold(True)
    assert set(pass_time(MissionFeedback.RUNNING)) == {MissionAction.PAUSE}
    leg.hold(False)  # before the pause came about
    executor.controls()
    executor.tell(leg.action_id, MissionFeedback.PAUSED)
    assert executor.controls() == [MissionAction.RESUME]
    assert set(pass_time(MissionFeedback.PAUSED)) == {MissionAction.RESUME}
    assert pass_time(MissionFeedback.RUNNING) == []
    assert pass_time(MissionFeedback.PAUSED) == [], "an operator again"


def test_a_mission_that_begins_while_it_shall_be_held_is_paused_at_once(executor: Executor) -> None:
    leg = Missions(executor).send(MissionAction(type=MissionAction.NAVIGATE_TO_POSE))
    leg.hold(True)
    executor.controls()
    executor.tell(leg.action_id, MissionFeedback.RUNNING)
    assert executor.controls() == [MissionAction.PAUSE]
    assert not leg.stands
    executor.tell(leg.action_id, MissionFeedback.PAUSED)
    assert leg.stands


NAN = float("nan")


def heard(message: Any) -> SimpleNamespace:
    """What a client has heard on a topic."""
    return SimpleNamespace(latest=lambda: message)


def test_what_is_not_measured_is_left_out_of_the_state() -> None:
    battery = BatteryState(voltage=NAN, percentage=NAN)
    told = Vda5050Client._battery_state(SimpleNamespace(_battery=heard(battery)))
    assert (told.battery_charge, told.battery_voltage) == (100.0, None)
    battery = BatteryState(voltage=24.0, percentage=0.5)
    told = Vda5050Client._battery_state(SimpleNamespace(_battery=heard(battery)))
    assert (told.battery_charge, told.battery_voltage) == (50.0, 24.0)
    odometry = Odometry()
    odometry.twist.twist.linear.x = NAN
    assert Vda5050Client._velocity(SimpleNamespace(_odometry=heard(odometry))).vx == 0.0
    result = LocalizationResult(status=LocalizationResult.GOOD)
    result.pose.pose.orientation.w = 1.0
    client = SimpleNamespace(_localization=heard(result))
    assert Vda5050Client._place(client) == Place(0.0, 0.0, 0.0)
    result.pose.pose.position.y = NAN
    assert Vda5050Client._place(client) is None
