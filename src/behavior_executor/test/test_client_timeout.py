# SPDX-License-Identifier: Apache-2.0
"""What a client says of a mission that took too long is what became of it. No ROS runs here."""

from types import SimpleNamespace
from typing import Any

import pytest
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction

from behavior_executor import client as client_module
from behavior_executor.client import MissionClient, MissionClientError
from behavior_executor.missions.mission import Code
from behavior_ros import End, GoalOutcome


class Sent:
    """A goal that ends in one way or none when it is cancelled."""

    def __init__(self, then: GoalOutcome | None) -> None:
        self.outcome: GoalOutcome | None = None
        self._then = then

    def cancel(self) -> None:
        self.outcome = self._then


def run(then: GoalOutcome | None) -> Any:
    made = object.__new__(MissionClient)
    made._executor = SimpleNamespace(spin_once=lambda timeout_sec: None)
    made._silence_limit = 1.0
    made._history = SimpleNamespace(service_name="/mission/history")
    action = SimpleNamespace(send=lambda *args, **kwargs: Sent(then))
    return made._run_goal(action, MissionAction(), None, 0.0)


def result(code: Code, message: str) -> ExecuteMission.Result:
    return ExecuteMission.Result(code=int(code), message=message)


def test_a_mission_that_was_cancelled_has_timed_out() -> None:
    then = GoalOutcome(End.CANCELED, result(Code.CANCELED_BY_CLIENT, "cancelled on request"))
    outcome = run(then)
    assert (outcome.code, outcome.message) == (
        Code.TIMED_OUT,
        "not finished after 0 s; cancelled",
    )


def test_a_mission_that_does_not_end_is_told_to_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_CANCEL_PATIENCE", 0.0)
    outcome = run(None)
    assert outcome.code == Code.TIMED_OUT
    assert "it may still run" in outcome.message


@pytest.mark.parametrize(
    ("end", "code"), [(End.SUCCEEDED, Code.SUCCESS), (End.ABORTED, Code.TREE_FAILED)]
)
def test_a_mission_that_ends_just_then_is_told_as_it_ended(end: End, code: Code) -> None:
    outcome = run(GoalOutcome(end, result(code, "so it was")))
    assert (outcome.code, outcome.message) == (code, "so it was")


def test_an_executor_that_is_lost_meanwhile_cancels_nothing() -> None:
    with pytest.raises(MissionClientError, match="gone; what became of the mission"):
        run(GoalOutcome(End.LOST, message="gone"))
