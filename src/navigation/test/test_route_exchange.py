# SPDX-License-Identifier: Apache-2.0
"""Asking for routes: times, numbers, and answers that come late, twice or in the wrong order."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.route_exchange import (
    RouteAnswer,
    RouteCause,
    RouteExchange,
    RouteQuestion,
    RouteRule,
)

GOAL = Pose2D(5.0, 1.0)
POINTS = ((0.0, 0.0), (5.0, 1.0))


class Desk:
    """An exchange whose requests are kept."""

    def __init__(self, **rule: float) -> None:
        self.sent: list[tuple[float, RouteQuestion]] = []
        self.now = 100.0
        self.exchange = RouteExchange(RouteRule(**rule), self._send, first_id=7)

    def _send(self, question: RouteQuestion) -> None:
        self.sent.append((self.now, question))

    def ask(self, cause: RouteCause = RouteCause.NEW_ACTION, avoid: tuple[str, ...] = ()) -> None:
        self.exchange.ask(self.now, GOAL, cause, avoid)

    def at(self, now: float) -> None:
        self.now = now
        self.exchange.update(now)

    def answer(self, request_id: int, stamp: float = 0.0, points: tuple = POINTS) -> bool:
        return self.exchange.answer(RouteAnswer(request_id, stamp, f"r{request_id}", points))


def test_a_route_is_waited_for_twenty_seconds() -> None:
    desk = Desk()
    desk.ask()
    desk.at(119.9)
    assert not desk.exchange.expired(119.9)
    assert not desk.exchange.expired(120.0)
    assert desk.exchange.expired(120.1)


def test_the_question_is_repeated_until_then_and_any_answer_to_it_counts() -> None:
    desk = Desk(retry_period=4.0)
    desk.ask()
    for i in range(300):
        desk.at(100.0 + 0.1 * i)
    assert [round(time - 100.0, 1) for time, _ in desk.sent] == [0.0, 4.0, 8.0, 12.0, 16.0, 20.0]
    assert [question.id for _, question in desk.sent] == [7, 8, 9, 10, 11, 12]
    causes = [question.cause for _, question in desk.sent]
    assert causes == [RouteCause.NEW_ACTION] + 5 * [RouteCause.RETRY]
    assert all(question.goal == GOAL for _, question in desk.sent)
    assert desk.answer(8)  # a slow planner
    assert not desk.exchange.pending


@pytest.mark.parametrize("request_id", [6, 8, 1, 2**63])
def test_numbers_that_were_never_asked_are_ignored(request_id: int) -> None:
    desk = Desk()
    desk.ask()
    assert not desk.answer(request_id)
    assert desk.exchange.pending


def test_late_and_repeated_answers_are_ignored() -> None:
    desk = Desk()
    assert not desk.answer(7)  # before any question
    desk.ask()
    assert desk.answer(7)
    assert not desk.answer(7)  # again
    desk.at(101.0)
    desk.ask(RouteCause.GOAL_MOVED)
    assert not desk.answer(7)  # the old question
    assert desk.answer(8)


def test_answers_in_the_wrong_order() -> None:
    desk = Desk(retry_period=1.0)
    desk.ask()
    desk.at(101.0)
    desk.at(102.0)
    assert desk.answer(9)
    assert not desk.answer(8)
    assert not desk.answer(7)


def test_planners_without_numbers_are_judged_by_their_stamp() -> None:
    desk = Desk()
    desk.ask()
    assert not desk.answer(0, stamp=99.0)
    assert not desk.answer(0, stamp=100.0)
    assert desk.answer(0, stamp=100.1)


def test_an_empty_route_says_why_there_is_none_and_the_wait_goes_on() -> None:
    desk = Desk()
    desk.ask(avoid=("a", "b"))
    refused = RouteAnswer(7, 0.0, "", (), (), "the goal is in a wall")
    assert not desk.exchange.answer(refused)
    assert not desk.exchange.answer(refused)  # twice: counts once
    assert desk.exchange.refusal == "the goal is in a wall"
    desk.at(104.0)
    assert desk.sent[-1][1].avoid_edges == ("b",)  # the oldest one may be open again
    assert not desk.answer(8, points=())
    assert "no route" in desk.exchange.refusal
    desk.at(108.0)
    assert desk.sent[-1][1].avoid_edges == ()
    assert desk.answer(9)


def test_questions_are_limited_in_rate() -> None:
    desk = Desk()
    for i in range(100):
        desk.at(100.0 + 0.01 * i)
        desk.ask(RouteCause.GOAL_MOVED)
    assert len(desk.sent) == 2  # at once, and half a second later
    desk.at(101.5)
    assert len(desk.sent) == 3
    assert desk.answer(desk.sent[-1][1].id)


def test_waiting_may_start_anew() -> None:
    desk = Desk()
    desk.ask()
    desk.at(119.0)
    desk.exchange.restart(119.0)
    assert not desk.exchange.expired(138.9)
    assert desk.exchange.expired(139.1)
    assert desk.answer(7)
    desk.exchange.restart(140.0)
    assert not desk.exchange.pending


def test_a_clock_that_is_set_back_starts_the_wait_anew() -> None:
    desk = Desk()
    desk.ask()
    desk.at(5.0)
    assert not desk.exchange.expired(20.0)
    assert desk.exchange.expired(25.1)
    desk.at(9.1)
    assert len(desk.sent) == 2
    assert not desk.answer(0, stamp=4.9)  # of a planner that does not number its routes
    assert desk.answer(0, stamp=5.1)


def test_forgotten_questions_have_no_answer() -> None:
    desk = Desk()
    desk.ask()
    desk.exchange.forget()
    assert not desk.answer(7)
    desk.at(150.0)
    assert len(desk.sent) == 1
    assert not desk.exchange.expired(150.0)


EVENT = st.one_of(
    st.tuples(st.just("wait"), st.floats(0.01, 6.0)),
    st.tuples(st.just("ask"), st.sampled_from(RouteCause)),
    st.tuples(st.just("answer"), st.integers(0, 30)),
    st.tuples(st.just("refuse"), st.integers(0, 30)),
)


@given(st.lists(EVENT, max_size=60))
@settings(max_examples=150, deadline=None)
def test_in_any_order_of_events_each_question_has_one_answer(events: list) -> None:
    desk = Desk(retry_period=2.0)
    questions = accepted = 0
    first = 7
    for kind, value in events:
        if kind == "wait":
            desk.at(desk.now + value)
        elif kind == "ask":
            first = desk.sent[-1][1].id + 1 if desk.sent else 7
            desk.ask(value)
            questions += 1
        else:
            taken = desk.answer(value, points=POINTS if kind == "answer" else ())
            if taken:
                accepted += 1
                ids = [question.id for _, question in desk.sent]
                assert kind == "answer"
                assert value in ids
                assert value >= first
                assert not desk.exchange.pending
    assert accepted <= questions
    ids = [question.id for _, question in desk.sent]
    assert ids == list(range(7, 7 + len(ids)))
    times = [time for time, _ in desk.sent]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert all(gap >= 0.5 - 1e-9 for gap in gaps)
