# SPDX-License-Identifier: Apache-2.0
"""Answers that the middleware drops are sent again until they are delivered."""

import contextlib
import warnings
from types import SimpleNamespace

import pytest
from behavior_msgs.action import Pick
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from behavior_ros import BurstActionServer
from behavior_ros.node import kept_answers
from behavior_ros.node.kept_answers import KeptAnswers, delivered
from behavior_ros.testing import until

UNMATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""A client so made is heard, but its reader never matches the writer of the server's answers."""


class Handle:
    """Stands in for the handle of a server: drops the first answers as rclpy's does."""

    def __init__(self, drops=0, raises=None):
        self.drops, self.raises, self.tries, self.sent = drops, raises, 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def send(self, header, response):
        self.tries += 1
        if self.raises is not None:
            raise self.raises
        if self.drops:
            self.drops -= 1
            # As the extension: the warning is made at its caller's line, the error of it kept.
            warnings.warn("failed to send response (timeout): ...", RuntimeWarning, stacklevel=2)
        self.sent.append((header, response))


class Bench:
    """Kept answers on a clock to turn."""

    def __init__(self, monkeypatch):
        self.now, self.told = 0.0, []
        monkeypatch.setattr(kept_answers.time, "monotonic", lambda: self.now)
        self.timer = SimpleNamespace(running=True)
        self.timer.cancel = lambda: setattr(self.timer, "running", False)
        self.timer.reset = lambda: setattr(self.timer, "running", True)
        self.timer.is_canceled = lambda: not self.timer.running
        node = SimpleNamespace(
            create_timer=self._create_timer,
            get_logger=lambda: SimpleNamespace(warning=self.told.append),
        )
        self.answers = KeptAnswers(node)

    def _create_timer(self, period, callback, clock):
        self.look = callback
        return self.timer

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end and self.timer.running:
            self.now += 0.1
            self.look()


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_a_delivered_answer_is_sent_once(bench):
    handle = Handle()
    assert bench.answers.send("it", handle, "send", "header", "yes")
    assert handle.sent == [("header", "yes")]
    assert not len(bench.answers)


def test_a_dropped_answer_is_sent_until_it_is_delivered(bench):
    handle = Handle(drops=3)
    assert bench.answers.send("it", handle, "send", "header", "yes")
    assert not handle.sent
    bench.run(5.0)
    assert handle.sent == [("header", "yes")]
    assert handle.tries == 4
    assert not bench.timer.running, "nothing is looked at while there is nothing to send"


def test_it_is_given_up_in_the_end_and_the_log_says_so(bench):
    handle = Handle(drops=1000)
    bench.answers.send("a goal request to /pick", handle, "send", "header", "yes")
    bench.run(100.0)
    assert bench.now < kept_answers.KEPT + 3.0
    assert handle.tries < 20, "each try blocks the executor"
    assert bench.told == [
        "the answer to a goal request to /pick was given up: for 20 s its client took none"
    ]


def test_many_that_are_dropped_block_one_try_at_a_time(bench):
    handles = [Handle(drops=1) for _ in range(20)]
    for handle in handles:
        bench.answers.send("it", handle, "send", "header", "yes")
    bench.run(0.1)
    assert sum(handle.tries for handle in handles) == 40, "all could be delivered at once"
    gone = [Handle(drops=1000) for _ in range(20)]
    for handle in gone:
        bench.answers.send("it", handle, "send", "header", "yes")
    bench.run(0.1)
    assert sum(handle.tries for handle in gone) == 21


def test_a_server_that_was_destroyed_meanwhile_is_no_trouble(bench):
    handle = Handle(drops=1)
    bench.answers.send("it", handle, "send", "header", "yes")
    handle.raises = InvalidHandle("gone")
    bench.run(1.0)
    assert not len(bench.answers)
    assert not bench.answers.send("it", handle, "send", "header", "yes")


def test_filters_that_others_put_back_do_not_hide_a_drop():
    with warnings.catch_warnings():
        assert not delivered(Handle(drops=1), "send", 1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not delivered(Handle(drops=1), "send", 1, 2)
        count = len(warnings.filters)
        assert not delivered(Handle(drops=1), "send", 1, 2)
        assert len(warnings.filters) == count


def test_the_middleware_drops_an_answer_and_it_is_kept(spinner, spinner2):
    """The real thing: a client whose reader does not match, of a service and of an action."""
    node, other = spinner.node("server"), spinner2.node("client")
    calls = []
    spinner.do(lambda: node.create_service(Trigger, "/ask", lambda _, a: calls.append("ask") or a))
    taken = []
    server = spinner.do(
        lambda: BurstActionServer(node, Pick, "/desk", handle_accepted_callback=taken.append)
    )
    answers = spinner.do(lambda: kept_answers.kept_answers(node))
    ask = spinner2.do(lambda: other.create_client(Trigger, "/ask", qos_profile=UNMATCHED))
    desk = spinner2.do(
        lambda: ActionClient(other, Pick, "/desk", goal_service_qos_profile=UNMATCHED)
    )
    until(lambda: node.count_clients("/ask") and node.count_clients("/desk/_action/send_goal"))
    futures = spinner2.do(
        lambda: [ask.call_async(Trigger.Request()), desk.send_goal_async(Pick.Goal())]
    )
    until(lambda: calls and taken and len(answers) == 2, what="both answers are kept")
    assert not any(future.done() for future in futures)
    spinner.do(server.finish, taken[0], Pick.Result())
    spinner.do(server.destroy)
    with contextlib.suppress(Exception):
        spinner2.do(desk.destroy)
