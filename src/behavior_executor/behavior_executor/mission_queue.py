# SPDX-License-Identifier: Apache-2.0
"""Which mission runs, which wait, and what happens to one that arrives meanwhile. No ROS.

One mission runs at a time. A second one is treated by its own policy, or by the queue's default:

========  =====================================================================================
REJECT    refused with BUSY; the running mission is not touched
QUEUE     waits behind missions of the same or a higher priority
REPLACE   the running mission ends with REPLACED; this one runs next, before those that wait
========  =====================================================================================

The queue only keeps the books. Whoever runs trees looks at ``current`` and halts a tree whose
mission has ended.
"""

from __future__ import annotations

from collections.abc import Callable

from behavior_executor.missions import Code, Mission, MissionError, MissionRequest, Policy, State


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
        self._waiting: list[tuple[tuple[int, int, int], Mission]] = []
        self._arrivals = 0

    @property
    def waiting(self) -> list[Mission]:
        """Missions that wait, the next one first."""
        return [mission for _, mission in sorted(self._waiting, key=lambda entry: entry[0])]

    @property
    def running(self) -> Mission | None:
        """The mission that has started and not ended."""
        return self.current if self.current is not None and not self.current.is_final else None

    def submit(
        self,
        request: MissionRequest,
        now: float,
        first: Callable[[Mission], None] = lambda mission: None,
    ) -> Mission:
        """Accept a mission; a running one may be replaced by it.

        Args:
            request: what it asks for.
            now: node time [s].
            first: called when nothing stands against it, before anything changes; may raise.

        Raises:
            MissionError: INVALID_REQUEST for an identifier in use, BUSY by policy or when full.
        """
        if self._find(request.action_id) is not None:
            raise MissionError(
                Code.INVALID_REQUEST,
                f"action_id '{request.action_id}' belongs to a mission that waits or runs; "
                "use another one or leave it empty",
            )
        policy = self.default_policy if request.policy is Policy.DEFAULT else request.policy
        busy = self.running is not None or bool(self._waiting)
        if busy and policy is Policy.REJECT:
            raise MissionError(Code.BUSY, self._busy_text())
        if busy and policy is Policy.QUEUE and len(self._waiting) >= self.capacity:
            raise MissionError(Code.BUSY, f"{self.capacity} missions wait already; try again later")
        mission = Mission(request, accepted_at=now)
        first(mission)
        replaces = busy and policy is Policy.REPLACE
        if replaces and self.running is not None:
            text = f"replaced by mission '{request.title}' ({request.action_id})"
            self.running.end(Code.REPLACED, text, now)
        self._arrivals += 1
        # Of two replacing missions the later one goes first: it would replace the other.
        rank = (-1, -self._arrivals) if replaces else (0, -request.priority)
        self._waiting.append(((*rank, self._arrivals), mission))
        return mission

    def restore(self, mission: Mission) -> None:
        """Let a mission that was interrupted wait, before all others but those restored earlier."""
        self._arrivals += 1
        self._waiting.append(((-2, self._arrivals, 0), mission))

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
        entry = min(self._waiting, key=lambda entry: entry[0])
        if not ready(entry[1]):
            return None
        self._waiting.remove(entry)
        self.current = entry[1]
        self.current.advance(State.INITIALIZING, now)
        return self.current

    def cancel(self, action_id: str, now: float, text: str = "cancelled on request") -> Mission:
        """End a waiting or running mission with CANCELED_BY_CLIENT; empty: the running one.

        Raises:
            MissionError: INVALID_REQUEST, no such mission.
        """
        mission = self._require(action_id, "cancel")
        self._waiting = [entry for entry in self._waiting if entry[1] is not mission]
        mission.end(Code.CANCELED_BY_CLIENT, text, now)
        return mission

    def refuse(self, mission: Mission, text: str, now: float) -> None:
        """End a mission that waits with BUSY: it was not accepted after all."""
        self._waiting = [entry for entry in self._waiting if entry[1] is not mission]
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
        mission = self._find(action_id) if action_id else self.running
        if mission is None:
            known = [m.action_id for m in ([self.running] if self.running else []) + self.waiting]
            text = f"nothing to {verb}: "
            text += f"no mission '{action_id}' waits or runs" if action_id else "no mission runs"
            raise MissionError(
                Code.INVALID_REQUEST, text + (f"; there are: {', '.join(known)}" if known else "")
            )
        return mission

    def _find(self, action_id: str) -> Mission | None:
        candidates = self.waiting + ([self.running] if self.running is not None else [])
        return next((m for m in candidates if m.action_id == action_id), None)

    def _busy_text(self) -> str:
        running = self.running
        what = f"mission '{running.request.title}' runs" if running else "other missions wait"
        return f"{what}; cancel it, or send this one with policy QUEUE or REPLACE"
