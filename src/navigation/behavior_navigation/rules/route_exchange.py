# SPDX-License-Identifier: Apache-2.0
"""Asking the route planner for routes, and taking the right answers.

A question is asked again every ``retry_period``, each time under a new number; the answer to any of
them is an answer to the question, since a planner may need longer than that. What answers older
questions is ignored, be it late or a duplicate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from behavior_motion.planar_pose import Pose2D


class RouteCause(IntEnum):
    """Why a route is asked for (``RouteRequest.cause``)."""

    NEW_ACTION = 0
    GOAL_MOVED = 1
    REROUTE = 2
    RETRY = 3


SHORTEST_PERIOD = 0.5
"""[s] between two requests, whatever they are about."""


@dataclass(frozen=True, slots=True)
class RouteQuestion:
    """One route request."""

    id: int
    goal: Pose2D
    """In the frame of routes."""
    cause: RouteCause
    avoid_edges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """A route, or why there is none."""

    request_id: int
    """0: a planner that does not number its routes."""
    stamp: float
    """[s] of the route, by the planner's clock."""
    route_id: str
    points: tuple[tuple[float, float], ...]
    """[m] in the frame of routes; empty: no route."""
    edges: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class RouteRule:
    """How long to wait, and how often to ask."""

    wait_threshold: float = 20.0
    """[s] after which there is no route (``route_wait_threshold``)."""
    retry_period: float = 4.0
    """[s] between two requests of one question (``route_retry_period``)."""


class RouteExchange:
    """At most one question at a time."""

    def __init__(
        self, rule: RouteRule, send: Callable[[RouteQuestion], None], first_id: int = 1
    ) -> None:
        """Start without a question.

        Args:
            rule: times.
            send: publishes a request.
            first_id: number of the first request; must be greater than those of earlier lives of
                this process, whose answers may still be on their way.
        """
        self.rule = rule
        self.refusal = ""
        """Why the planner had no route, of the newest empty answer."""
        self.sent = 0
        """Requests so far."""
        self._send = send
        self._next_id = max(1, first_id)
        self._first_id = 0
        self._refused_id = -1
        self._asked = self._earliest = math.inf
        self._last_sent = -math.inf
        self._question: RouteQuestion | None = None

    @property
    def pending(self) -> bool:
        """Whether a question waits for its answer."""
        return self._question is not None

    @property
    def cause(self) -> RouteCause | None:
        """Of the open question."""
        return self._question.cause if self._question is not None else None

    @property
    def asked(self) -> float:
        """[s] when the open question was asked first; infinite: there is none."""
        return self._asked

    def ask(
        self, now: float, goal: Pose2D, cause: RouteCause, avoid_edges: tuple[str, ...] = ()
    ) -> None:
        """Ask for a route to a goal; an open question is forgotten."""
        self._first_id, self._asked, self._earliest = self._next_id, now, now
        self._refused_id, self.refusal = -1, ""
        self._question = RouteQuestion(self._next_id, goal, cause, avoid_edges)
        self.update(now)

    def restart(self, now: float) -> None:
        """Wait for the answer from now on; for who did not wait for a while."""
        if self._question is not None:
            self._asked = now

    def update(self, now: float) -> None:
        """Send what is due: the question, or the question again."""
        question = self._question
        if question is None:
            return
        if now < self._last_sent:  # the clock was set back
            self._asked = self._last_sent = now
            self._earliest = min(self._earliest, now)  # for stamps of that clock
        is_new = self._next_id == self._first_id
        period = SHORTEST_PERIOD if is_new else self.rule.retry_period
        if now - self._last_sent < period or self.expired(now):
            return
        number, self._next_id = self._next_id, self._next_id + 1
        self._last_sent, self.sent = now, self.sent + 1
        cause = question.cause if is_new else RouteCause.RETRY
        self._send(RouteQuestion(number, question.goal, cause, question.avoid_edges))

    def answer(self, answer: RouteAnswer) -> bool:
        """Whether this is a route that answers the question; if so, the question is closed."""
        if self._question is None:
            return False
        if answer.request_id:
            fits = self._first_id <= answer.request_id < self._next_id
        else:
            fits = answer.stamp > self._earliest
        if not fits:
            return False
        if not answer.points:
            self.refusal = answer.text or "the route planner has no route"
            if answer.request_id != self._refused_id:
                self._refused_id = answer.request_id
                self._avoid_less()
            return False
        self.forget()
        return True

    def expired(self, now: float) -> bool:
        """Whether the question was asked too long ago."""
        return self._question is not None and now - self._asked > self.rule.wait_threshold

    def forget(self) -> None:
        """Drop the question; its answers do not count any more."""
        self._question, self._asked = None, math.inf

    def _avoid_less(self) -> None:
        """A route that is blocked may open again; none at all is worse: drop the oldest edge."""
        question = self._question
        if question is not None and question.avoid_edges:
            self._question = RouteQuestion(
                question.id, question.goal, question.cause, question.avoid_edges[1:]
            )
