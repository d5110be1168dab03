# SPDX-License-Identifier: Apache-2.0
"""One goal, all orders of events: exactly one end, and no goal left running."""

from types import SimpleNamespace

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from fakes import FakeServer
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_ros.goal_exchange import End, GoalExchange

ACCEPTED = CancelGoal.Response.ERROR_NONE
REFUSED = CancelGoal.Response.ERROR_REJECTED


def started():
    server, ends, feedback = FakeServer(), [], []
    exchange = GoalExchange(server, "goal", on_feedback=feedback.append, on_end=ends.append)
    return server, exchange, ends, feedback


EVENTS = {
    "accept": lambda server, exchange: server.accept(),
    "reject": lambda server, exchange: server.reject(),
    "cancel": lambda server, exchange: exchange.cancel(),
    "lose": lambda server, exchange: exchange.lose("server lost"),
    "cancel accepted": lambda server, exchange: server.answer_cancel(ACCEPTED),
    "cancel refused": lambda server, exchange: server.answer_cancel(REFUSED),
    "succeed": lambda server, exchange: server.finish(GoalStatus.STATUS_SUCCEEDED),
    "abort": lambda server, exchange: server.finish(GoalStatus.STATUS_ABORTED),
    "canceled": lambda server, exchange: server.finish(GoalStatus.STATUS_CANCELED),
    "forget": lambda server, exchange: server.finish(GoalStatus.STATUS_UNKNOWN),
    "feedback": lambda server, exchange: server.feedback(SimpleNamespace(feedback="f")),
}


@settings(max_examples=400)
@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12))
def test_any_order_of_events(order):
    server, exchange, ends, feedback = started()
    for event in order:
        before, heard = exchange.outcome, len(feedback)
        EVENTS[event](server, exchange)
        if before is not None:
            assert exchange.outcome is before, "an end is final"
            assert len(feedback) == heard, "no feedback after the end"
    assert ends == ([] if exchange.outcome is None else [exchange.outcome]), "reported once"
    accepted = server.answer.done() and server.answer.result().accepted
    runs_at_server = accepted and not server.result.done()
    if runs_at_server and exchange.cancel_wanted:
        assert server.cancels, "a goal that runs although it was cancelled was told so"
    if not exchange.cancel_wanted:
        assert not server.cancels, "nothing is cancelled that nobody wants cancelled"


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=8))
def test_every_order_can_end(order):
    server, exchange, ends, _ = started()
    for event in order:
        EVENTS[event](server, exchange)
    server.accept()
    server.finish(GoalStatus.STATUS_ABORTED)
    assert len(ends) == 1


def test_cancel_before_acknowledgement_is_sent_with_it():
    server, exchange, ends, _ = started()
    exchange.cancel()
    assert not server.cancels
    server.accept()
    assert len(server.cancels) == 1
    server.finish(GoalStatus.STATUS_CANCELED)
    assert ends[0].end is End.CANCELED


def test_cancel_twice_is_one_request():
    server, exchange, _, _ = started()
    server.accept()
    exchange.cancel()
    exchange.cancel()
    server.answer_cancel(ACCEPTED)
    exchange.cancel()
    assert len(server.cancels) == 1


def test_refused_cancel_may_be_tried_again():
    server, exchange, _, _ = started()
    server.accept()
    exchange.cancel()
    server.answer_cancel(REFUSED)
    exchange.cancel()
    assert len(server.cancels) == 2


def test_late_acceptance_after_the_server_was_given_up_is_cancelled():
    server, exchange, ends, _ = started()
    exchange.lose("server lost")
    assert ends[0].end is End.LOST
    server.accept()
    assert len(server.cancels) == 1


def test_goal_that_the_server_forgot():
    server, _, ends, _ = started()
    server.accept()
    server.finish(GoalStatus.STATUS_UNKNOWN)
    assert ends[0].end is End.LOST
    assert "server lost" in ends[0].message
