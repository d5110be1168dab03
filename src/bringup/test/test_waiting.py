# SPDX-License-Identifier: Apache-2.0
"""Verdicts wait by simulated time: a machine that is slow changes none of them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from behavior_msgs.msg import MissionFeedback

from behavior_bringup import client as client_module
from behavior_bringup.client import STANDSTILL, StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.jobs import trial_run
from behavior_bringup.jobs.judges import job_named
from behavior_bringup.jobs.object_trial import BEFORE_VERDICT
from behavior_bringup.missions import following
from behavior_bringup.missions.following import SILENCE, Ending, follow
from behavior_ros.node import silence


class SlowMachine:
    """A client without ROS whose every slice of work takes `slice_time` seconds of wall time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slice_time: float = 25.0) -> None:
        self.wall, self.slice_time = 100.0, slice_time
        self.events: list[Callable[[], None]] = []
        """What happens in the slices to come, one each."""
        self.client: Any = object.__new__(StackClient)
        self.client._executor = SimpleNamespace(spin_once=self._spin)
        self.client._feedback = {}
        self.client._clock, self.client._hears_truth, self.client.truth_time = None, True, -1.0
        clock = SimpleNamespace(monotonic=lambda: self.wall)
        monkeypatch.setattr(client_module, "time", clock)
        monkeypatch.setattr(following, "time", clock)
        monkeypatch.setattr(silence, "time", clock)

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
    job_named("stack_blocks").demonstration(slow.client).settle()
    assert slow.client.truth_time >= 7.0 + BEFORE_VERDICT
    assert slow.wall > 200.0


def test_a_world_that_stands_still_is_told_of(slow: SlowMachine) -> None:
    slow.client.truth_time = 7.0
    with pytest.raises(BringupError, match="stands still"):
        job_named("stack_blocks").demonstration(slow.client).settle()
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


@pytest.mark.parametrize(("heard", "settled"), [(-1.0, []), (3.0, ["settled"])])
def test_a_world_that_nobody_heard_of_is_not_waited_for(
    heard: float, settled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job in a world that is not its own waited a minute, and then told of the simulation."""
    ending = Ending(state=MissionFeedback.FAILED, text="no such node", simulated=0.0, wall=0.1)
    monkeypatch.setattr(trial_run, "follow", lambda *_, **__: ending)
    calls: list[str] = []
    trial: Any = SimpleNamespace(
        now=lambda: heard,
        begin=lambda mission: None,
        summary=lambda: "",
        settle=lambda: calls.append("settled"),
    )
    client: Any = SimpleNamespace(give=lambda mission: "1")
    job: Any = SimpleNamespace(name="stack_blocks", time_limit=9.0, parameters={})
    assert trial_run.run_trial(client, job, trial, check=lambda: None) is ending
    assert calls == settled


def test_without_the_truth_simulated_time_is_that_of_the_scene(
    slow: SlowMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows a preview needs no truth, which costs the simulation 1 ms each time."""
    scene = SimpleNamespace(time=3.0)
    slow.client._hears_truth, slow.client._scene = False, scene
    slow.events = [lambda k=k: setattr(scene, "time", 3.0 + 0.5 * k) for k in range(1, 9)]
    assert slow.client.wait_simulated(lambda: slow.client.time >= 5.0)
    assert scene.time == 5.0
