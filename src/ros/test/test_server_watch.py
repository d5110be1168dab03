# SPDX-License-Identifier: Apache-2.0
"""When the server of a goal counts as lost."""

from types import SimpleNamespace

import pytest
from rclpy.task import Future

from behavior_ros.actions.server_watch import ServerWatch

TIMEOUT = 2.0


class Bench:
    """A server in the graph that answers every question, and a clock to turn."""

    def __init__(self):
        self.now = 0.0
        self.servers = {b"first"}
        self.answers, self.question = True, None
        node = SimpleNamespace(get_publishers_info_by_topic=self._publishers)
        client = SimpleNamespace(handle_of=lambda _: SimpleNamespace(get_result_async=self._answer))
        self.watch = ServerWatch(node, client, "/act", TIMEOUT, clock=lambda: self.now)

    def _publishers(self, topic):
        assert topic == "/act/_action/status"
        return [SimpleNamespace(endpoint_gid=list(gid)) for gid in self.servers]

    def _answer(self):
        self.question = Future()
        if self.answers:
            self.question.set_result(None)
        return self.question

    def run(self, seconds, *, signs=lambda now: 0, accepted=False):
        """Look often for that long; the first reason, or None."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.1
            reason = self.watch.look(signs(self.now), accepted=accepted)
            if reason is not None:
                return reason
        return None


@pytest.fixture
def bench():
    return Bench()


def test_an_accepted_goal_of_a_server_that_answers_is_not_lost(bench):
    assert bench.run(60.0, signs=lambda now: 1, accepted=True) is None


def test_a_goal_that_is_never_acknowledged_is_lost_although_the_server_answers(bench):
    assert "has not answered" in bench.run(2 * TIMEOUT)


def test_feedback_of_a_goal_does_not_replace_its_acknowledgement(bench):
    """The acknowledgement got lost; the server worked on the goal for 5 s and is done."""
    assert bench.run(5.0, signs=lambda now: int(now / 0.5)) is None
    assert "has not answered" in bench.run(2 * TIMEOUT, signs=lambda now: 10)


def test_a_pause_of_who_watches_is_no_silence_of_the_server(bench):
    """The clock that ticks the tree stood still, so nobody was asked and nobody told anything."""
    assert bench.run(1.0, signs=lambda now: 1) is None
    bench.now += 5 * TIMEOUT
    assert bench.watch.look(1, accepted=False) is None
    assert bench.run(0.2 * TIMEOUT, signs=lambda now: 1) is None
    assert "has not answered" in bench.run(TIMEOUT, signs=lambda now: 1)


def test_a_restarted_server_is_lost_though_the_old_one_haunts_the_graph(bench):
    assert bench.run(1.0, signs=lambda now: 1, accepted=True) is None
    bench.servers.add(b"second")
    assert "was restarted" in bench.run(0.5, signs=lambda now: 1, accepted=True)


def test_a_server_that_left_the_graph_is_lost(bench):
    bench.servers.clear()
    assert "is gone" in bench.run(0.5, signs=lambda now: 1, accepted=True)


def test_what_a_server_sent_before_it_went_has_time_to_arrive(bench):
    bench.servers.clear()
    assert bench.run(0.3, accepted=True) is None
    assert "is gone" in bench.run(0.3, accepted=True)


@pytest.mark.parametrize("gone", [False, True])
def test_a_question_is_taken_back_only_of_a_server_that_will_not_answer(bench, gone):
    """rclpy warns of answers that nobody waits for: there may be more than one server."""
    bench.answers = False
    assert bench.run(0.6 * TIMEOUT, accepted=True) is None
    if gone:
        bench.servers.clear()
        assert "is gone" in bench.run(0.6, accepted=True)
    bench.watch.close()
    assert bench.question.cancelled() == gone
