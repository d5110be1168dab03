# SPDX-License-Identifier: Apache-2.0
"""`TreeMoment`: all that is known of the running tree at one moment of a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from behavior_recording.tree_document import TreeDocument
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.blackboard_changes import OMITTED
from behavior_tree.monitoring.tree_records import RecordKind

_IDLE = NodeStatus.IDLE


@dataclass(frozen=True)
class StatusChange:
    """A node's status changed."""

    uid: int
    time: int
    """Wall time since 1970 [ns]."""
    before: NodeStatus
    after: NodeStatus


@dataclass(frozen=True)
class RecordedEntry:
    """A blackboard entry as it was."""

    board: str
    key: str
    type: str
    text: str
    """JSON."""
    removed: bool = False

    @property
    def value(self) -> Any:
        """What the JSON says; a dictionary with the key `OMITTED` where it was not kept."""
        return json.loads(self.text)

    @property
    def kept(self) -> bool:
        """Whether the value itself is in the recording."""
        return OMITTED not in self.text or not isinstance(self.value, dict)


@dataclass(frozen=True)
class RecordedRecord:
    """One `behavior_msgs/TreeRecord` of a recording."""

    time: int
    """Wall time since 1970 at which the recorder received it [ns]; recordings are sorted by it."""
    stamp: int
    """Reading of the tree's clock when its last tick began [ns]; it may be simulated time."""
    life: int
    sequence: int
    kind: RecordKind
    action_id: str
    tree_id: str
    tick: int
    status: NodeStatus
    duration: float
    """[s]."""
    ticked: tuple[int, ...]
    changes: tuple[StatusChange, ...]
    statuses: dict[int, NodeStatus]
    """Of a full record: of all nodes."""
    reasons: tuple[tuple[int, str], ...]
    """Failures that nodes gave reasons for, in order: uid and reason."""
    entries: tuple[RecordedEntry, ...]
    xml: str
    note: str

    def results(self) -> dict[int, NodeStatus]:
        """What the nodes came to that were ticked or halted: the last status that is not IDLE,
        since a parent resets its children after they have ended; IDLE where it was halted, RUNNING
        where it only went on.
        """
        found = dict.fromkeys(self.ticked, NodeStatus.RUNNING)
        for change in self.changes:
            if change.after is not _IDLE or change.before is NodeStatus.RUNNING:
                found[change.uid] = change.after
        return found


@dataclass(frozen=True)
class TreeMoment:
    """State of the tree after one record."""

    record: RecordedRecord
    """The newest one in it."""
    tree: TreeDocument
    statuses: Mapping[int, NodeStatus]
    """Of every node."""
    results: Mapping[int, NodeStatus]
    """What every node came to last; a parent resets its children after they have ended."""
    blackboard: Mapping[tuple[str, str], RecordedEntry] = field(repr=False)
    """By board and key."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """The last reason of each node that has failed."""
    ended: bool = False
    """The tree is not ticked any more."""
    gap: bool = False
    """Records were lost since the last full one: what is here may be out of date."""

    @property
    def time(self) -> int:
        """Wall time since 1970 [ns]."""
        return self.record.time

    @classmethod
    def full(cls, record: RecordedRecord, before: TreeMoment | None = None) -> TreeMoment:
        """The state that a full record holds."""
        same = before is not None and before.record.action_id == record.action_id
        same = same and record.kind is not RecordKind.BEGIN
        results = dict(before.results) if before is not None and same else {}
        running = {u: s for u, s in record.statuses.items() if s is not _IDLE}
        return cls(
            record,
            _document(record.xml),
            dict(record.statuses),
            {**results, **running},
            {(entry.board, entry.key): entry for entry in record.entries},
            before.reasons if before is not None and same else {},
        )

    def after(self, record: RecordedRecord) -> TreeMoment:
        """The state after the next record."""
        if record.kind.full:
            return TreeMoment.full(record, self)
        statuses = {**self.statuses, **{c.uid: c.after for c in record.changes}}
        blackboard = self.blackboard
        if record.entries:
            blackboard = {**blackboard, **{(e.board, e.key): e for e in record.entries}}
            blackboard = {place: e for place, e in blackboard.items() if not e.removed}
        return replace(
            self,
            record=record,
            statuses=statuses,
            results={**self.results, **record.results()},
            blackboard=blackboard,
            reasons={**self.reasons, **dict(record.reasons)},
            ended=record.kind is RecordKind.END,
            gap=self.gap
            or record.life != self.record.life
            or record.sequence > self.record.sequence + 1,
        )


@lru_cache(maxsize=16)
def _document(xml: str) -> TreeDocument:
    return TreeDocument.read(xml)
