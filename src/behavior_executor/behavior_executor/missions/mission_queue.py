# SPDX-License-Identifier: Apache-2.0
"""Which mission runs, which wait, and what happens to one that arrives meanwhile. No ROS.

One mission runs at a time. A second one is treated by its own policy, or by the queue's default:

========  =====================================================================================
REJECT    refused with BUSY; the running mission is not touched
QUEUE     waits behind missions of the same or a higher priority; BUSY beyond the capacity
REPLACE   the running mission ends with REPLACED, as does one that was about to start; this one
          runs next, before those that wait by QUEUE
========  =====================================================================================

So of many that replace each other between two ticks only the newest runs. The queue only keeps the
books: whoever runs trees looks at ``current`` and halts a tree whose mission has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from behavior_executor.missions.mission import (
    Code,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)

_MOST_NAMED = 10
"""Identifiers that a refusal lists."""


class Admission(NamedTuple):
    """What came of a request."""

    mission: Mission
    """The mission that was accepted."""
    replaced: tuple[Mission, ...]
    """Missions that ended for it."""


class MissionQueue:
    """The running mission and those that wait."""

    def __init__(self, *, default_policy: Policy = Policy.REJECT, capacity: int = 100) -> None:
        """Start empty.

        Args:
            default_policy: for requests that leave it open; not DEFAULT.
            capacity: how many missions may wait.

        Raises:
            ValueError: ``default_policy`` is DEFAULT, or ``capacity`` is negative.
        """
        if default_policy is Policy.DEFAULT:
            raise ValueError("default_policy must be one of REJECT, QUEUE, REPLACE")
        if capacity < 0:
            raise ValueError(f"capacity must be at least 0, not {capacity}")
        self.default_policy = default_policy
        self.capacity = capacity
        self.current: Mission | None = None
        """The mission that was started last; it may have ended, then ``start_next`` drops it."""
        self._waiting: dict[str, tuple[tuple[int, int, int], Mission]] = {}
        self._arrivals = 0

    @property
    def waiting(self) -> list[Mission]:
        """Missions that wait, the next one first."""
        return [mission for _, mission in sorted(self._waiting.values(), key=lambda e: e[0])]

    @property
    def waiting_count(self) -> int:
        """How many missions wait."""
        return len(self._waiting)

    @property
    def running(self) -> Mission | None:
        """The mission that has started and not ended."""
        return self.current if self.current is not None and not self.current.is_final else None

    def find(self, action_id: str) -> Mission | None:
        """The mission of this identifier that waits or runs."""
        if self.running is not None and self.running.action_id == action_id:
            return self.running
        return self._waiting[action_id][1] if action_id in self._waiting else None

    def submit(
        self,
        request: MissionRequest,
        now: float,
        first: Callable[[Mission], None] = lambda mission: None,
    ) -> Admission:
        """Accept a mission; others may be replaced by it.

        Args:
            request: what it asks for.
            now: node time [s].
            first: called when nothing stands against it, before anything changes; may raise.

        Raises:
            MissionError: INVALID_REQUEST for an identifier in use, BUSY by policy or when full.
        """
        if self.find(request.action_id) is not None:
            raise MissionError(
                Code.INVALID_REQUEST,
                f"action_id '{request.action_id}' belongs to a mission that waits or runs; "
                "use another one or leave it empty",
            )
        policy = self._policy(request)
        busy = self.running is not None or bool(self._waiting)
        if busy and policy is Policy.REJECT:
            raise MissionError(Code.BUSY, self._busy_text())
        if busy and policy is Policy.QUEUE and len(self._waiting) >= self.capacity:
            raise MissionError(
                Code.BUSY,
                f"{len(self._waiting)} missions wait, as many as may (queue_capacity "
                f"{self.capacity}); try again later",
            )
        mission = Mission(request, accepted_at=now)
        first(mission)
        replaces = busy and policy is Policy.REPLACE
        replaced = self._replace_by(request, now) if replaces else ()
        self._arrivals += 1
        rank = (-1, 0, self._arrivals) if replaces else (0, -request.priority, self._arrivals)
        self._put(rank, mission)
        return Admission(mission, replaced)

    def restore(self, mission: Mission) -> None:
        """Let a mission that was interrupted wait, before all others but those restored earlier."""
        self._arrivals += 1
        self._put((-2, 0, self._arrivals), mission)

    def start_next(
        self, now: float, ready: Callable[[Mission], bool] = lambda mission: True
    ) -> Mission | None:
        """Move the next waiting mission to INITIALIZING, unless one runs or it is not `ready`.

        Returns:
            the mission that starts, or None.
        """
        if self.running is not None:
            return None
        self.current = None
        if not self._waiting:
            return None
        _, mission = min(self._waiting.values(), key=lambda entry: entry[0])
        if not ready(mission):
            return None
        self._take(mission)
        self.current = mission
        mission.advance(State.INITIALIZING, now)
        return mission

    def cancel(self, action_id: str, now: float, text: str = "cancelled on request") -> Mission:
        """End a waiting or running mission with CANCELED_BY_CLIENT; empty: the running one.

        Raises:
            MissionError: INVALID_REQUEST, no such mission.
        """
        mission = self._require(action_id, "cancel")
        self._take(mission)
        mission.end(Code.CANCELED_BY_CLIENT, text, now)
        return mission

    def move(self, action_id: str, place: int) -> None:
        """Let a waiting mission wait at another place; the others keep their order.

        Those between both places move up or down by one, with the ranks that the places have: a
        mission that arrives later is ranked as if nothing had been moved.

        Args:
            action_id: of the mission.
            place: 1 is the next one to run; beyond the last one: the last.

        Raises:
            MissionError: INVALID_REQUEST, no such mission waits, or there is no such place.
        """
        if action_id not in self._waiting or place < 1:
            why = "the first place is 1"
            if action_id not in self._waiting:
                why = f"no mission '{action_id}' waits"
            raise MissionError(Code.INVALID_REQUEST, f"nothing to move: {why}")
        ranks = sorted(rank for rank, _ in self._waiting.values())
        order = [mission for mission in self.waiting if mission.action_id != action_id]
        order.insert(place - 1, self._waiting[action_id][1])
        for rank, mission in zip(ranks, order, strict=True):
            self._put(rank, mission)

    def refuse(self, mission: Mission, text: str, now: float) -> None:
        """End a mission that waits with BUSY: it was not accepted after all."""
        self._take(mission)
        mission.end(Code.BUSY, text, now)

    def pause(self, action_id: str, now: float) -> Mission:
        """Hold the running mission; empty identifier: whichever runs.

        Raises:
            MissionError: INVALID_REQUEST, that mission does not run.
        """
        return self._switch(action_id, "pause", State.RUNNING, State.PAUSED, now)

    def resume(self, action_id: str, now: float) -> Mission:
        """Go on with the paused mission; empty identifier: whichever is paused.

        Raises:
            MissionError: INVALID_REQUEST, that mission is not paused.
        """
        return self._switch(action_id, "resume", State.PAUSED, State.RUNNING, now)

    def shut_down(self, now: float) -> list[Mission]:
        """End every mission with SHUTDOWN; returns those that ended."""
        ended = self.waiting + ([self.running] if self.running is not None else [])
        self._waiting.clear()
        for mission in ended:
            mission.end(Code.SHUTDOWN, "the executor stopped; start the mission again", now)
        return ended

    def _switch(
        self, action_id: str, verb: str, before: State, after: State, now: float
    ) -> Mission:
        mission = self._require(action_id, verb)
        if mission.state is not before:
            raise MissionError(
                Code.INVALID_REQUEST,
                f"cannot {verb} mission '{mission.action_id}': it is {mission.state.name}, "
                f"not {before.name}",
            )
        mission.advance(after, now)
        return mission

    def _require(self, action_id: str, verb: str) -> Mission:
        mission = self.find(action_id) if action_id else self.running
        if mission is None:
            known = [m.action_id for m in ([self.running] if self.running else []) + self.waiting]
            if len(known) > _MOST_NAMED:
                known[_MOST_NAMED:] = [f"{len(known) - _MOST_NAMED} more"]
            text = f"nothing to {verb}: "
            text += f"no mission '{action_id}' waits or runs" if action_id else "no mission runs"
            raise MissionError(
                Code.INVALID_REQUEST, text + (f"; there are: {', '.join(known)}" if known else "")
            )
        return mission

    def _policy(self, request: MissionRequest) -> Policy:
        return self.default_policy if request.policy is Policy.DEFAULT else request.policy

    def _replace_by(self, request: MissionRequest, now: float) -> tuple[Mission, ...]:
        """End what runs, and what waits for nothing but its start."""
        running = () if self.running is None else (self.running,)
        about_to_start = [
            mission
            for _, mission in self._waiting.values()
            if self._policy(mission.request) is not Policy.QUEUE
        ]
        replaced = (*running, *about_to_start)
        for mission in replaced:
            self._take(mission)
            text = f"replaced by mission '{request.title}' ({request.action_id})"
            mission.end(Code.REPLACED, text, now)
        return replaced

    def _put(self, rank: tuple[int, int, int], mission: Mission) -> None:
        self._waiting[mission.action_id] = rank, mission

    def _take(self, mission: Mission) -> None:
        """Let a mission wait no more, if it does."""
        if self._waiting.get(mission.action_id, (None, None))[1] is mission:
            del self._waiting[mission.action_id]

    def _busy_text(self) -> str:
        running = self.running
        what = f"mission '{running.request.title}' runs" if running else "other missions wait"
        return f"{what}; cancel it, or send this one with policy QUEUE or REPLACE"
