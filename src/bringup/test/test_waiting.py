# SPDX-License-Identifier: Apache-2.0
"""Verdicts wait by simulated time: a machine that is slow changes none of them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from behavior_msgs.msg import Metric, Metrics, MissionFeedback
from nav_msgs.msg import Odometry

from behavior_bringup import client as client_module
from behavior_bringup import following
from behavior_bringup.client import STANDSTILL, StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import BEFORE_VERDICT, settle
from behavior_bringup.following import SILENCE, follow
from behavior_bringup.navigation.judge import judge
from behavior_bringup.navigation.recorder import Recorder
from behavior_bringup.navigation.tour import Director
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.resources import find_navigation_world


class SlowMachine:
    """A client without ROS whose every slice of work takes `slice_time` seconds of wall time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slice_time: float = 25.0) -> None:
        self.wall, self.slice_time = 100.0, slice_time
        self.events: list[Callable[[], None]] = []
        """What happens in the slices to come, one each."""
        self.client: Any = object.__new__(StackClient)
        self.client._executor = SimpleNamespace(spin_once=self._spin)
        self.client._feedback = {}
        self.client.truth_time = -1.0
        self.heard: dict[str, Callable[[Any], None]] = {}
        self.client.listen = self._listen
        clock = SimpleNamespace(monotonic=lambda: self.wall)
        monkeypatch.setattr(client_module, "time", clock)
        monkeypatch.setattr(following, "time", clock)

    def _listen(self, kind: Any, topic: str, callback: Any, qos: Any) -> Callable[[], None]:
        self.heard[topic] = callback
        return lambda: None

    def _spin(self, timeout_sec: float) -> None:
        self.wall += self.slice_time
        if self.events:
            self.events.pop(0)()

    def truth(self, time: float) -> Callable[[], None]:
        return lambda: setattr(self.client, "truth_time", time)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowMachine:
    return SlowMachine(monkeypatch)


def test_the_world_settles_however_long_that_takes(slow: SlowMachine) -> None:
    """Settling took half a minute at most and then judged a world that still moved."""
    slow.client.truth_time = 7.0
    slow.events = [slow.truth(7.0 + 0.1 * k) for k in range(1, 20)]
    settle(slow.client)
    assert slow.client.truth_time >= 7.0 + BEFORE_VERDICT
    assert slow.wall > 200.0


def test_a_world_that_stands_still_is_told_of(slow: SlowMachine) -> None:
    slow.client.truth_time = 7.0
    with pytest.raises(BringupError, match="stands still"):
        settle(slow.client)
    assert slow.wall - 100.0 < STANDSTILL + 3 * slow.slice_time


def test_limits_count_simulated_time(slow: SlowMachine) -> None:
    slow.client.truth_time = 0.0
    slow.events = [slow.truth(float(k)) for k in range(1, 50)]
    assert not slow.client.wait_simulated(lambda: False, limit=10.0)
    assert slow.client.truth_time == 11.0


def feedback(state: int, time: float) -> MissionFeedback:
    message = MissionFeedback(action_id="m", state=state)
    message.header.stamp.sec = int(time)
    return message


def test_an_executor_that_the_machine_keeps_waiting_is_not_silent(slow: SlowMachine) -> None:
    """Half a minute without a word ended an episode, though simulated time had hardly gone on."""

    def end() -> None:
        slow.client._feedback["m"] = feedback(MissionFeedback.FINISHED, 3.0)

    slow.client.truth_time = 1.0
    slow.events = [slow.truth(1.1), slow.truth(1.2), end]
    assert follow(slow.client, "m").succeeded


@pytest.mark.parametrize("simulated", [30.0, 0.0])
def test_an_executor_that_says_nothing_any_more_is_gone(
    slow: SlowMachine, simulated: float
) -> None:
    slow.client.truth_time = 1.0
    slow.events = [slow.truth(1.0 + simulated)]
    with pytest.raises(BringupError, match="has said nothing"):
        follow(slow.client, "m")
    assert slow.wall - 100.0 > SILENCE


def test_the_tour_is_judged_by_what_the_executor_told_at_last(slow: SlowMachine) -> None:
    """Seed 90210: the follower knew the end, and the judge was asked before it had heard of it."""
    config = load_navigation_world(find_navigation_world("warehouse"))
    recorder = Recorder(slow.client, config, Director([]))
    recorder.action_id = "m"

    def moment(time: float) -> Callable[[], None]:
        message = Odometry()
        message.header.stamp.sec = int(time)
        message.header.stamp.nanosec = round((time - int(time)) * 1e9)
        return lambda: slow.heard["/simulation/truth"](message)

    def figures(time: float, collisions: float) -> Callable[[], None]:
        message = Metrics(
            component="navigation_world",
            metrics=[
                Metric(name="collisions", value=collisions),
                Metric(name="distance_driven", value=9.0),
            ],
        )
        message.header.stamp.sec = int(time)
        return lambda: slow.heard["/behavior/metrics"](message)

    def told(state: int, time: float) -> Callable[[], None]:
        return lambda: slow.heard["/mission/feedback"](feedback(state, time))

    for event in (told(MissionFeedback.RUNNING, 1.0), moment(1.0), figures(1.0, 0.0)):
        event()
    # What waited in the queues when the follower had long heard of the end.
    backlog = [moment(1.0 + 0.5 * k) for k in range(1, 9)]
    slow.events = [*backlog, told(MissionFeedback.FINISHED, 5.0), moment(5.5), moment(6.5)]
    slow.events += [figures(6.0, 1.0)]
    recorder.settle()
    findings = {finding.what: finding for finding in judge(recorder.finish(), [])}
    assert findings["the mission ends well"].happened
    assert findings["nothing is run into"].how.startswith("1 collisions")
