# SPDX-License-Identifier: Apache-2.0
"""What an action server promises, tried by a hostile client.

The two that matter: every request is answered; and every goal that was accepted has one end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus
from action_msgs.srv import CancelGoal
from rclpy.node import Node
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from behavior_ros.actions.goal_identifier import new_identifier
from behavior_ros.conformance.rule import Rule, require
from behavior_ros.conformance.stage import Stage
from behavior_ros.topics.qos import QOS_REQUESTS
from behavior_tree.monitoring.closing import Closing

_ENDS = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
BURST = 20
"""Goals at once."""


@dataclass(eq=False)
class ServerUnderTest(Closing):
    """A server that is up, or about to be; a context manager."""

    action_type: Any
    """Type of the action."""
    name: str
    """Of the action."""
    goal: Callable[[], Any]
    """Makes a goal that the server takes; best one that runs until it is cancelled."""
    limit: float = 60.0
    """[s] wall time after which what does not come counts as never coming."""

    @cached_property
    def stage(self) -> Stage:
        """Where hostile clients live."""
        return Stage(self.limit)

    @cached_property
    def client(self) -> _Client:
        """A hostile client; raises BrokenRule where there is no server."""
        return _Client(self.stage, self, "hostile_client")

    def close(self) -> None:
        """Leave the server alone."""
        self.stage.close()


class _Client:
    """The services of an action, one by one, so that they can be used wrongly."""

    def __init__(self, stage: Stage, subject: ServerUnderTest, name: str) -> None:
        self.stage, self.subject = stage, subject
        self.node: Node = stage.node(name)
        parts = subject.action_type.Impl
        self._send, self._result, self._cancel = stage.do(
            lambda: [
                self.node.create_client(
                    kind, f"{subject.name}/_action/{part}", qos_profile=QOS_REQUESTS
                )
                for kind, part in (
                    (parts.SendGoalService, "send_goal"),
                    (parts.GetResultService, "get_result"),
                    (parts.CancelGoalService, "cancel_goal"),
                )
            ]
        )
        clients = (self._send, self._result, self._cancel)
        stage.wait(
            lambda: all(each.service_is_ready() for each in clients), "its services are not there"
        )

    def send(self, identifier: UUID) -> Future:
        request = self.subject.action_type.Impl.SendGoalService.Request(
            goal_id=identifier, goal=self.subject.goal()
        )
        return self._send.call_async(request)

    def ask_result(self, identifier: UUID) -> Future:
        kind = self.subject.action_type.Impl.GetResultService
        return self._result.call_async(kind.Request(goal_id=identifier))

    def ask_cancel(self, identifier: UUID) -> Future:
        return self._cancel.call_async(CancelGoal.Request(goal_info=GoalInfo(goal_id=identifier)))

    def accepted(self, identifier: UUID) -> bool:
        """Send a goal, and tell whether it was accepted."""
        return bool(self.stage.answer(lambda: self.send(identifier), "a goal").accepted)

    def cancel(self, identifier: UUID) -> Any:
        return self.stage.answer(lambda: self.ask_cancel(identifier), "a cancellation")

    def result(self, identifier: UUID) -> Any:
        return self.stage.answer(lambda: self.ask_result(identifier), "the question for a result")

    def end(self, identifier: UUID) -> int:
        """Cancel a goal, and return how it ended."""
        self.cancel(identifier)
        status = int(self.result(identifier).status)
        require(status in _ENDS, f"the result says that a goal ended with status {status}")
        return status


def _running(client: _Client) -> UUID:
    """A goal that was accepted."""
    identifier = new_identifier()
    require(client.accepted(identifier), "it takes not even one goal")
    return identifier


def _double_identifier(subject: ServerUnderTest) -> None:
    client = subject.client
    identifier = new_identifier()
    futures = client.stage.do(lambda: [client.send(identifier) for _ in range(2)])
    client.stage.wait(lambda: all(each.done() for each in futures), "one was not answered")
    taken = sum(each.result().accepted for each in futures)
    require(taken == 1, f"{taken} of two goals of one identifier were accepted")
    client.end(identifier)
    again = client.accepted(identifier)
    require(not again, "the identifier was accepted again after the goal's end")


def _unknown_cancel(subject: ServerUnderTest) -> None:
    client = subject.client
    answer = client.cancel(new_identifier())
    unknown = answer.return_code == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
    require(unknown and not answer.goals_canceling, f"code {answer.return_code} came")


def _unknown_result(subject: ServerUnderTest) -> None:
    client = subject.client
    status = client.result(new_identifier()).status
    require(status == GoalStatus.STATUS_UNKNOWN, f"status {status} came")


def _cancel(subject: ServerUnderTest) -> None:
    client = subject.client
    identifier = _running(client)
    answer = client.cancel(identifier)
    granted = [bytes(each.goal_id.uuid) for each in answer.goals_canceling]
    status = client.result(identifier).status
    if granted:
        require(granted == [bytes(identifier.uuid)], "another goal was cancelled with it")
        fitting = (GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_SUCCEEDED)
        require(status in fitting, f"a goal that was cancelled ended with status {status}")
    else:
        require(status in _ENDS, f"the goal ended with status {status}")


def _cancel_after_the_end(subject: ServerUnderTest) -> None:
    client = subject.client
    identifier = _running(client)
    status = client.end(identifier)
    answer = client.cancel(identifier)
    require(not answer.goals_canceling, "a goal that has ended was cancelled")
    after = client.result(identifier).status
    require(after == status, f"the end {status} became {after}")


def _result_twice(subject: ServerUnderTest) -> None:
    client = subject.client
    identifier = _running(client)
    early = client.stage.do(lambda: client.ask_result(identifier))
    client.cancel(identifier)
    late = client.result(identifier)
    client.stage.wait(early.done, "the first question was not answered")
    require(early.result() == late, "the two answers differ")


def _two_clients(subject: ServerUnderTest) -> None:
    first = subject.client
    second = _Client(first.stage, subject, "second_hostile_client")
    pairs = [(each, new_identifier()) for each in (first, second)]
    futures = first.stage.do(lambda: [each.send(identifier) for each, identifier in pairs])
    first.stage.wait(lambda: all(f.done() for f in futures), "one was not answered")
    taken = [pair for pair, f in zip(pairs, futures, strict=True) if f.result().accepted]
    require(bool(taken), "none of two goals was accepted")
    for each, identifier in taken:
        each.end(identifier)
    first.stage.forget(second.node)


def _burst(subject: ServerUnderTest) -> None:
    client = subject.client
    identifiers = [new_identifier() for _ in range(BURST)]
    futures = client.stage.do(lambda: [client.send(each) for each in identifiers])
    client.stage.wait(
        lambda: all(each.done() for each in futures),
        f"not all of {BURST} goals at once were answered",
    )
    taken = [i for i, f in zip(identifiers, futures, strict=True) if f.result().accepted]
    require(bool(taken), f"none of {BURST} goals was accepted")
    results = client.stage.do(lambda: [client.ask_result(each) for each in taken])
    client.stage.do(lambda: [client.ask_cancel(each) for each in taken])
    client.stage.wait(
        lambda: all(each.done() for each in results), "not all that were accepted ended"
    )


def _disconnect(subject: ServerUnderTest) -> None:
    other = subject.client
    leaving = _Client(other.stage, subject, "leaving_hostile_client")
    identifier = _running(leaving)
    other.stage.do(lambda: leaving.ask_result(identifier))
    other.stage.forget(leaving.node)
    other.end(identifier)
    other.end(_running(other))


SERVER_RULES: tuple[Rule[ServerUnderTest], ...] = (
    Rule("double identifier", "one identifier is one goal", _double_identifier),
    Rule(
        "cancel unknown",
        "to cancel a goal that never was is answered with ERROR_UNKNOWN_GOAL_ID",
        _unknown_cancel,
    ),
    Rule(
        "result of unknown",
        "to ask for the result of a goal that never was is answered with STATUS_UNKNOWN",
        _unknown_result,
    ),
    Rule("cancel", "a goal whose cancellation was granted ends cancelled, or well", _cancel),
    Rule("cancel after the end", "an end is final", _cancel_after_the_end),
    Rule("result twice", "who asks for a result twice is answered twice alike", _result_twice),
    Rule("two clients", "two clients at once are both answered", _two_clients),
    Rule("burst", "of many goals at once each is answered, and has an end if accepted", _burst),
    Rule(
        "disconnect",
        "a client that goes away in the middle of its goal leaves the server as it was",
        _disconnect,
    ),
)
"""All of them."""
