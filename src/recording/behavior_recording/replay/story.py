# SPDX-License-Identifier: Apache-2.0
"""`Story`: one run of a tree as spans of its nodes, failures and ticks, read in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedRecord
from behavior_recording.recording import RecordedRun
from behavior_recording.replay.history import History
from behavior_recording.tree_document import RecordedNode, TreeDocument
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.tree_records import RecordKind

RUNNING, IDLE, FAILURE = NodeStatus.RUNNING, NodeStatus.IDLE, NodeStatus.FAILURE


@dataclass
class Span:
    """One run of a node, from its start to its result."""

    uid: int
    begin: int
    """[ns]"""
    end: int
    """Of one that went on at the end: that of the run [ns]."""
    result: NodeStatus
    """SUCCESS, FAILURE, SKIPPED; IDLE: it was halted; RUNNING: it went on at the end."""
    reason: str = ""


@dataclass(frozen=True)
class Failure:
    """A node failed and said why."""

    time: int
    uid: int
    reason: str


@dataclass
class Story:
    """All of one run."""

    run: RecordedRun
    tree: TreeDocument
    """As it was at the end."""
    begin: int
    end: int
    spans: list[Span] = field(default_factory=list)
    """In the order of their ends."""
    failures: list[Failure] = field(default_factory=list)
    """Those with a reason, in order."""
    ticks: int = 0
    status: NodeStatus = IDLE
    """What the last tick of the tree came to."""
    last_tick: RecordedRecord | None = None
    """The last record in which nodes came to something."""
    note: str = ""
    """Why the tree was not ticked any more."""

    def path(self, uid: int) -> str:
        """Path of a node."""
        node = self.tree.nodes.get(uid)
        return node.path if node is not None else f"node {uid}"

    def leaves(self) -> Iterator[RecordedNode]:
        """Nodes without children, in the order of the tree."""
        return (node for node in self.tree.nodes.values() if not node.children)

    @classmethod
    def read(cls, history: History, run: RecordedRun) -> Story:
        """Read one run.

        Raises:
            RecordingError: its tree cannot be read
        """
        story: Story | None = None
        running: dict[int, Span] = {}
        for record in history.records(start=run.begin, end=run.end):
            if not run.holds(record):
                continue
            if record.kind.full and record.xml:
                tree = TreeDocument.read(record.xml)
                if story is None:
                    story = cls(run, tree, record.time, record.time)
                story.tree = tree
            if story is not None:
                story._add(record, running)
                if record.kind is RecordKind.END:
                    break
        if story is None:
            raise RecordingError(f"{history.path}: the recording holds no tree of {run.tree_id}")
        for span in running.values():
            span.end = story.end
            story.spans.append(span)
        return story

    def _add(self, record: RecordedRecord, running: dict[int, Span]) -> None:
        self.end = max(self.end, record.time)
        if record.kind is RecordKind.END:
            self.note = record.note
        if record.kind is RecordKind.TICK:
            self.ticks += 1
            self.status = record.status
        if record.kind is RecordKind.TICK and record.changes:
            self.last_tick = record
        reasons: dict[int, list[str]] = {}
        for uid, text in record.reasons:
            reasons.setdefault(uid, []).append(text)
        for change in record.changes:
            self._change(change.uid, record.time, change.after, running, reasons)

    def _change(
        self,
        uid: int,
        time: int,
        after: NodeStatus,
        running: dict[int, Span],
        reasons: dict[int, list[str]],
    ) -> None:
        span = running.pop(uid, None)
        if after is RUNNING:
            running[uid] = span or Span(uid, time, time, RUNNING)
            return
        if after is IDLE and span is None:
            return  # it has ended before, and is made ready for another run
        span = span or Span(uid, time, time, after)
        span.end, span.result = max(time, span.begin), after
        if after is FAILURE and reasons.get(uid):
            span.reason = reasons[uid].pop(0)
            self.failures.append(Failure(time, uid, span.reason))
        self.spans.append(span)


def chosen_run(history: History, number: int | None) -> RecordedRun:
    """A run of a history by its number from 1; None: the last one.

    Raises:
        RecordingError: there is no such run
    """
    runs = history.runs
    if number is None:
        return runs[-1]
    if not 1 <= number <= len(runs):
        held = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        raise RecordingError(f"{history.path} holds {held}, there is no run {number}")
    return runs[number - 1]


def label(node: RecordedNode) -> str:
    """Type and name of a node."""
    kind = f"SubTree {node.type_id}" if node.is_subtree else node.type_id
    return f"{kind} '{node.name}'" if node.name not in ("", node.type_id) else kind
