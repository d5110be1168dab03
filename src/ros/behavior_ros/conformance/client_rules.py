# SPDX-License-Identifier: Apache-2.0
"""What a client of an action promises, tried by a hostile server.

The two that matter: it ends, whatever becomes of its server; and no goal that nobody wants runs on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from action_msgs.msg import GoalStatus

from behavior_ros.conformance.hostile_server import HostileGoal, HostileServer
from behavior_ros.conformance.rule import Rule, require
from behavior_ros.conformance.stage import Stage
from behavior_tree.monitoring.closing import Closing

_LOOK = 0.02
"""[s] wall time between two looks at a client whose goal has not come."""
_LATE = 0.3
"""Part of a client's patience for which a server is late and yet in time."""


class ClientUnderTest(Protocol):
    """A client, one goal of it; it must spin by itself."""

    def start(self) -> None:
        """Send a goal; wait for nothing."""

    def cancel(self) -> None:
        """Want it no more; wait for nothing."""

    def ended(self) -> str:
        """How it ended: ``succeeded`` or ``failed`` (also cancelled); empty: it has not."""


@dataclass(eq=False)
class ClientsUnderTest(Closing):
    """A kind of client; a context manager."""

    action_type: Any
    """Type of the action."""
    name: str
    """Of the action."""
    make: Callable[[], ClientUnderTest]
    """Makes one more; called in the test's thread."""
    patience: float = 3.0
    """[s] wall time without a sign of life after which it gives its server up."""
    limit: float = 60.0
    """[s] wall time beyond that after which it counts as waiting for ever."""

    has_met = False
    """Whether a client has talked with the server that there is now."""

    @cached_property
    def stage(self) -> Stage:
        """Where hostile servers live."""
        return Stage(self.limit + self.patience)

    @cached_property
    def server(self) -> HostileServer:
        """The hostile server, until it is replaced by another one."""
        return HostileServer(self.stage, self.action_type, self.name)

    def restart_server(self) -> None:
        """Have the server leave, and another one come."""
        self.server.leave()
        self.has_met = False
        del self.server

    def close(self) -> None:
        """Take the server away."""
        self.stage.close()


class _Bench:
    """A hostile server, and a client that has sent it a goal."""

    def __init__(self, subject: ClientsUnderTest, refusals: int) -> None:
        self.stage, self.subject = subject.stage, subject
        self.server.refusals = 0
        if not subject.has_met:
            self._meet()
        self.server.goals.clear()
        self.server.refusals = refusals
        self.client, self.goal = self.new_goal()

    def _meet(self) -> None:
        """Run goals until one ends well: partners that meet for the first time take a while."""
        end = time.monotonic() + self.stage.limit
        while not self.subject.has_met:
            require(time.monotonic() < end, f"no goal ends well within {self.stage.limit:g} s")
            self.client, self.goal = self.new_goal()
            self.server.accept(self.goal)
            self.server.end(self.goal)
            self.stage.comes(self.client.ended)
            self.subject.has_met = self.client.ended() == "succeeded"

    @property
    def server(self) -> HostileServer:
        return self.subject.server

    def new_goal(self) -> tuple[ClientUnderTest, HostileGoal]:
        """One more client, and the goal that it has sent."""
        before = len(self.server.goals)

        def came() -> bool:
            return len(self.server.goals) > before

        client = self.subject.make()
        client.start()
        end = time.monotonic() + self.stage.limit
        while not came() and time.monotonic() < end:
            if client.ended():  # it went to a server of before, which had just left
                client = self.subject.make()
                client.start()
            self.stage.comes(came, _LOOK)
        require(came(), f"its goal did not come within {self.stage.limit:g} s")
        return client, self.server.goals[-1]

    def ends(self, *ways: str) -> str:
        """Wait for the client's end, and require it to be one of these."""
        self.stage.wait(self.client.ended, "it did not end")
        require(self.client.ended() in ways, f"it {self.client.ended()}")
        return self.client.ended()

    def is_cancelled(self, goal: HostileGoal, times: int = 1) -> None:
        """Wait until the server was asked to end a goal."""
        self.stage.wait(lambda: goal.cancels >= times, "the goal was left running")

    def pass_time(self, part: float) -> None:
        """Let a part of the client's patience pass; it must not end meanwhile."""
        ended = self.stage.comes(self.client.ended, part * self.subject.patience)
        require(not ended, f"it {self.client.ended()} in less than its patience")


@contextmanager
def _bench(subject: ClientsUnderTest, refusals: int = 0) -> Iterator[_Bench]:
    bench = _Bench(subject, refusals)
    try:
        yield bench
    finally:
        bench.client.cancel()
        bench.server.loses_results = False
        for goal in bench.server.goals:  # nothing shall wait for this server any more
            if not goal.answer.done():
                bench.server.accept(goal, accepted=False)
            bench.server.end(goal, GoalStatus.STATUS_CANCELED)
        bench.stage.comes(bench.client.ended, subject.patience)


def _late_acceptance(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.pass_time(_LATE)
        bench.server.accept(bench.goal)
        bench.pass_time(_LATE)
        bench.server.end(bench.goal)
        bench.ends("succeeded")


def _cancelled_before_acceptance(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.client.cancel()
        bench.server.accept(bench.goal)
        bench.is_cancelled(bench.goal)


def _result_before_acceptance(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.publish_feedback(bench.goal)
        bench.server.end(bench.goal)
        bench.server.accept(bench.goal)
        bench.ends("succeeded")


def _rejected(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.accept(bench.goal, accepted=False)
        bench.ends("failed")


def _aborted(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.accept(bench.goal)
        bench.server.end(bench.goal, GoalStatus.STATUS_ABORTED)
        bench.ends("failed")


def _cancel_refused(subject: ClientsUnderTest) -> None:
    with _bench(subject, refusals=2) as bench:
        bench.server.accept(bench.goal)
        bench.server.publish_status(bench.goal, GoalStatus.STATUS_EXECUTING)
        bench.stage.wait(lambda: bench.goal.results, "the result was not asked for")
        bench.client.cancel()
        bench.is_cancelled(bench.goal, times=3)


def _feedback_after_the_end(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.accept(bench.goal)
        bench.server.end(bench.goal)
        bench.ends("succeeded")
        bench.server.publish_feedback(bench.goal)
        bench.server.publish_status(bench.goal, GoalStatus.STATUS_EXECUTING)
        other, goal = bench.new_goal()
        bench.server.accept(goal)
        bench.server.end(goal, GoalStatus.STATUS_ABORTED)
        bench.stage.wait(other.ended, "the next one did not end")
        require(other.ended() == "failed", "the next one did not fail with its own goal")
        require(bench.client.ended() == "succeeded", "its end became another one")


def _restart(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.accept(bench.goal)
        bench.server.publish_status(bench.goal, GoalStatus.STATUS_EXECUTING)
        bench.stage.wait(lambda: bench.goal.results, "the result was not asked for")
        subject.restart_server()
        bench.ends("failed")
        require(not bench.server.goals, "it sent an accepted goal a second time")


def _result_lost(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.loses_results = True
        bench.server.accept(bench.goal)
        bench.stage.wait(lambda: bench.goal.results, "the result was not asked for")
        bench.server.publish_status(bench.goal, GoalStatus.STATUS_SUCCEEDED)
        bench.server.loses_results = False  # whoever asks again is answered
        bench.ends("succeeded", "failed")


def _acceptance_lost(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        bench.server.publish_status(bench.goal, GoalStatus.STATUS_EXECUTING)
        bench.server.publish_feedback(bench.goal)
        if bench.stage.comes(bench.client.ended, 2.0 * subject.patience):
            bench.is_cancelled(bench.goal)
            return
        bench.server.end(bench.goal)
        bench.ends("succeeded", "failed")


def _two_clients(subject: ClientsUnderTest) -> None:
    with _bench(subject) as bench:
        other, goal = bench.new_goal()
        for each in (goal, bench.goal):
            bench.server.accept(each)
        bench.server.end(goal, GoalStatus.STATUS_ABORTED)
        bench.stage.wait(other.ended, "the second did not end")
        require(other.ended() == "failed", "the second took the end of the first")
        require(not bench.client.ended(), "the first took the end of the second")
        bench.server.end(bench.goal)
        bench.ends("succeeded")


CLIENT_RULES: tuple[Rule[ClientsUnderTest], ...] = (
    Rule("late acceptance", "a client waits for a late acceptance", _late_acceptance),
    Rule(
        "cancelled before acceptance",
        "a goal that was cancelled before it was accepted is cancelled then",
        _cancelled_before_acceptance,
    ),
    Rule(
        "result before acceptance",
        "an end that comes before the acceptance counts",
        _result_before_acceptance,
    ),
    Rule("rejected", "a goal that is rejected has failed", _rejected),
    Rule("aborted", "a goal that is aborted has failed", _aborted),
    Rule("cancel refused", "a refused cancellation is asked for again", _cancel_refused),
    Rule(
        "feedback after the end",
        "what comes after the end changes nothing",
        _feedback_after_the_end,
    ),
    Rule("restart", "a goal whose server was restarted has failed", _restart),
    Rule("result lost", "a result that gets lost is not waited for for ever", _result_lost),
    Rule(
        "acceptance lost",
        "an acceptance that gets lost is not waited for for ever, nor the goal left running",
        _acceptance_lost,
    ),
    Rule("two clients", "each client gets the end of its own goal", _two_clients),
)
"""All of them."""
