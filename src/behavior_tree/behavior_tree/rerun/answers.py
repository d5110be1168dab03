# SPDX-License-Identifier: Apache-2.0
"""What a leaf did in a recorded run, so that it can do the same once more.

An action is asked by its runs: the first time it starts, it does what it did the first time, for as
long as that took. A condition is asked by time: it holds when it held then. What the record does
not tell is noted, and the leaf stays RUNNING: nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus
from behavior_tree.rerun.history import RecordedTick, RecordedWrite, results

IDLE, RUNNING, SKIPPED = NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.SKIPPED


@dataclass
class LeafRun:
    """One run of a leaf, from its start to its result."""

    start: float
    """Moment of its tick [s]."""
    status: NodeStatus = RUNNING
    """SUCCESS, FAILURE or SKIPPED; IDLE: it was halted; RUNNING: the record ends before."""
    lasted: float = 0.0
    """Until the tick of the result, or the last one that is recorded [s]."""
    reason: str = ""
    """Why it failed."""
    writes: list[tuple[float, RecordedWrite]] = field(default_factory=list)
    """With the time since the start [s]."""
    from_idle: bool = True
    """False: the leaf had not been reset since its last result."""


@dataclass(frozen=True)
class Unanswered:
    """Something that a tree asked a leaf for and the record does not tell."""

    time: float
    """On the clock of the tree, told since the origin of the record [s]."""
    path: str
    question: str
    """A sentence without its subject: `starts for the 3. time; the record has 2 runs of it`."""

    def __str__(self) -> str:
        return f"{self.time:.3f} s: {self.path} {self.question}"


EventsByNode = Mapping[int, list[tuple[RecordedTick, list[NodeStatus]]]]
"""By uid: the ticks in which a node was ticked or changed, with the changes."""


def events_by_node(ticks: Iterable[RecordedTick]) -> EventsByNode:
    """What concerns each node."""
    found: dict[int, list[tuple[RecordedTick, list[NodeStatus]]]] = {}
    for tick in ticks:
        events: dict[int, list[NodeStatus]] = {uid: [] for uid in tick.ticked}
        for uid, status in results(tick):
            events.setdefault(uid, []).append(status)
        for uid, statuses in events.items():
            found.setdefault(uid, []).append((tick, statuses))
    return found


def node_runs(
    events: Iterable[tuple[RecordedTick, list[NodeStatus]]],
    uid: int,
    *,
    condition: bool,
    conditioned: bool,
) -> list[LeafRun]:
    """What one node did.

    Args:
        events: of `events_by_node`
        uid: of the node
        condition: each of its ticks stands for itself, also those that are RUNNING
        conditioned: it has pre-conditions: that it was skipped was their doing
    """
    runs: list[LeafRun] = []
    current: LeafRun | None = None
    status = IDLE
    for tick, changes in events:
        reasons = [text for each, text in tick.reasons if each == uid]
        writes = [write for write in tick.writes if write.uid == uid]
        statuses = list(changes)
        if not statuses and (status is not IDLE or not conditioned):
            statuses = [SKIPPED if status is IDLE else status]
        for new in statuses:
            before = status
            if new is not SKIPPED:
                status = new
            if new is IDLE and current is None:
                continue
            if current is None:
                current = LeafRun(tick.moment, from_idle=before is IDLE)
                runs.append(current)
            current.status, current.lasted = new, tick.moment - current.start
            if new is NodeStatus.FAILURE and reasons:
                current.reason = reasons.pop(0)
            current.writes += [(current.lasted, write) for write in writes]
            writes = []
            if new is not RUNNING or condition:
                current = None
    return runs


class Answers:
    """Tells one leaf of a tree what to do.

    Args:
        path: of the leaf, for messages
        runs: what it did in the record; None: it is not in the record
        condition: see `node_runs`
        note: given what the record does not tell
    """

    def __init__(
        self,
        path: str,
        runs: list[LeafRun] | None,
        *,
        condition: bool,
        note: Callable[[Unanswered], object],
    ) -> None:
        self._path, self._runs, self._condition, self._note = path, runs, condition, note
        self._next = 0
        self._current: LeafRun | None = None
        self._written = 0
        self._started = 0.0
        self._asked = False
        self._open = False

    def ask(self, now: float, status: NodeStatus) -> tuple[NodeStatus, str, list[RecordedWrite]]:
        """Result of a tick, the reason for a failure, and what the leaf writes before.

        Args:
            now: the tick's moment [s]
            status: the leaf's before
        """
        self._asked = True
        if self._condition:
            return self._sampled(now)
        if self._current is None:
            self._begin(now, status)
        run = self._current
        if run is None:
            return RUNNING, "", []
        elapsed = now - self._started
        due = [write for since, write in run.writes[self._written :] if since <= elapsed]
        self._written += len(due)
        if run.status in (RUNNING, IDLE):
            if elapsed > run.lasted:
                self._unanswered(now, _went_on(run))
            return RUNNING, "", due
        if elapsed < run.lasted:
            return RUNNING, "", due
        self._current = None
        return run.status, run.reason, due

    def halted(self) -> None:
        """The leaf was halted."""
        self._current, self._open = None, False

    def end_tick(self, now: float) -> None:
        """The leaf was ticked, and perhaps not asked, since something else decided its result."""
        runs = self._runs or []
        if not self._asked and self._next < len(runs) and runs[self._next].start == now:
            self._next += 1
        self._asked = False

    def _begin(self, now: float, status: NodeStatus) -> None:
        if self._open:
            return  # it has no answer, and that is known
        run = self._next_run(now, status)
        self._current, self._written, self._started = run, 0, now
        if run is None:
            self._unanswered(now, self._lacking())

    def _sampled(self, now: float) -> tuple[NodeStatus, str, list[RecordedWrite]]:
        """The answer of this tick, or the last one before."""
        runs = self._runs or []
        while self._next < len(runs) and runs[self._next].start < now:
            self._next += 1
        if self._next < len(runs) and runs[self._next].start == now:
            self._next += 1
        if not self._next:
            self._unanswered(now, self._lacking())
            return RUNNING, "", []
        run = runs[self._next - 1]
        writes = [write for _, write in run.writes] if run.start == now else []
        return run.status, run.reason, writes

    def _next_run(self, now: float, status: NodeStatus) -> LeafRun | None:
        runs = self._runs or []
        last = runs[self._next - 1] if self._next else None
        following = runs[self._next] if self._next < len(runs) else None
        if last is not None and status.completed and (following is None or following.from_idle):
            # A node that was not reset gives its result again.
            return LeafRun(now, last.status, reason=last.reason)
        if following is not None and following.start == now:
            self._next += 1
        elif last is not None and last.start == now and (status.completed or status is SKIPPED):
            return last
        elif following is not None:
            self._next += 1
        return following

    def _lacking(self) -> str:
        if self._runs is None:
            return "is asked; the record knows no such node"
        if self._condition:
            return "is asked; in the record nobody had asked it yet"
        runs = "1 run" if len(self._runs) == 1 else f"{len(self._runs)} runs"
        return f"starts for the {self._next + 1}. time; the record has {runs} of it"

    def _unanswered(self, now: float, question: str) -> None:
        if not self._open:
            self._open = True
            self._note(Unanswered(now, self._path, question))


def _went_on(run: LeafRun) -> str:
    if run.status is IDLE:
        return f"goes on; in the record it was halted after {run.lasted:.3f} s"
    return f"goes on; the record ends {run.lasted:.3f} s after its start"
