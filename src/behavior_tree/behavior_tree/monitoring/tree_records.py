# SPDX-License-Identifier: Apache-2.0
"""`TreeRecords`: writes down all that one tree does, record by record, without a gap.

A record is made of what the nodes have written down anyway (`behavior_tree.kernel.record`). The
thread that ticks only puts it together; whatever is made of it is made by `RawTreeRecord.written`,
in any thread. A *full* record holds the whole state, so that reading may begin there.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.json_types import JsonTypes
from behavior_tree.kernel.record import RecordBatch
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.blackboard_changes import (
    BlackboardChanges,
    EntryValue,
    ToJson,
    json_text,
)

_FARTHEST = 2**31 - 1


class RecordKind(IntEnum):
    """What a record tells of."""

    STATE = 0
    """Everything as it is now."""
    BEGIN = 1
    """A tree is there; nothing of it has happened."""
    TICK = 2
    BETWEEN = 3
    """Something happened outside of its ticks: nodes were halted, entries were written."""
    EDIT = 4
    END = 5
    """It is not ticked any more."""

    @property
    def full(self) -> bool:
        """Whether such a record holds the whole state."""
        return self in (RecordKind.STATE, RecordKind.BEGIN, RecordKind.EDIT)


@dataclass(frozen=True, kw_only=True)
class TreeRecord:
    """A record as plain values; all but `clock` are fields of ``behavior_msgs/TreeRecord``."""

    kind: RecordKind
    tick: int
    status: int
    duration: float
    """[s] wall time of the tick."""
    clock: float
    """Reading of the tree's clock when the last tick began [s]."""
    begun: int
    """Wall time since 1970 [ns] from which `times` count."""
    ticked: array[int]
    """Nodes that were ticked, by uid."""
    uids: array[int]
    """Nodes whose status changed, in order; of a full record all nodes."""
    previous: array[int]
    statuses: array[int]
    times: array[int]
    """[us]."""
    failed: array[int]
    """Nodes that gave a reason, in order."""
    reasons: list[str]
    blackboard: list[tuple[str, str, str, str, bool]]
    """Board, key, type, value as JSON, whether it is gone; of a full record all entries."""
    xml: str
    note: str


class RawTreeRecord(NamedTuple):
    """A record as it was taken down; a tuple, since nothing else is made as fast."""

    kind: RecordKind
    tick: int
    status: NodeStatus
    clock: float
    """Reading of the tree's clock [s]."""
    begun: int
    """Wall time since 1970 [ns]."""
    origin: int
    """The same moment as `time.monotonic_ns`."""
    duration: float = 0.0
    batches: Sequence[RecordBatch] = ()
    entries: Sequence[EntryValue] = ()
    statuses: Mapping[int, NodeStatus] = MappingProxyType({})
    """Of a full record: all nodes by uid."""
    xml: str = ""
    note: str = ""

    def written(self, types: JsonTypes, to_json: ToJson | None = None) -> TreeRecord:
        """As plain values.

        Args:
            types: JSON forms of the tree's types
            to_json: for values that these do not know
        """
        changes = [batch.changes for batch in self.batches]
        uids = [node._config.uid for each in changes for node in each.nodes]
        new = [status._value_ for each in changes for status in each.new]
        ticked = {node._config.uid for batch in self.batches for node in batch.ticked()}
        reasons = [each for batch in self.batches for each in batch.reasons]
        return TreeRecord(
            kind=self.kind,
            tick=self.tick,
            status=int(self.status),
            duration=self.duration,
            clock=self.clock,
            begun=self.begun,
            ticked=array("H", sorted(ticked) if self.kind is RecordKind.TICK else ()),
            uids=array("H", self.statuses or uids),
            previous=array("B", [s._value_ for each in changes for s in each.previous]),
            statuses=array("B", [s._value_ for s in self.statuses.values()] or new),
            times=array("i", _us(self.origin, [time for each in changes for time in each.times])),
            failed=array("H", [node.uid() for node, _ in reasons]),
            reasons=[str(text) for _, text in reasons],
            blackboard=[
                (e.board, e.key, e.type_name, json_text(e.value, types, to_json), e.removed)
                for e in self.entries
            ],
            xml=self.xml,
            note=self.note,
        )


class TreeRecords:
    """Records of one tree from now on until it is closed.

    Whoever ticks the tree calls `before_tick` and `after_tick` around each tick.

    Args:
        tree: what is recorded
        emit: is given each record, in order, in the thread that made it come about
        document: makes the XML of the tree, with ``_uid`` on its nodes
        begins: nothing of the tree has happened yet, which is the first record
        ticks: that it was given before
        status: of its root after them
    """

    completes_runs = False
    """For the tree: it need not tell of the end of a run at once."""
    reads_times = True
    """For the tree: it says when each node ended."""

    def __init__(
        self,
        tree: Tree,
        emit: Callable[[RawTreeRecord], None],
        *,
        document: Callable[[Tree], str],
        begins: bool = True,
        ticks: int = 0,
        status: NodeStatus = NodeStatus.IDLE,
    ) -> None:
        self._tree = tree
        self._emit = emit
        self._document = document
        self._xml = document(tree)
        self._new: list[RecordBatch] = []
        self._status = status
        self._ticks = ticks
        self._clock = 0.0
        self._begun = self._origin = 0
        self._changes = BlackboardChanges(tree)
        self._changes.read()
        self._unsubscribe = tree.subscribe_changes(self)
        self._unfollow = tree.subscribe_structure_change(self._edited)
        self._set_out()
        if begins:
            self._emit(self._full(RecordKind.BEGIN))

    # -- for the tree ----------------------------------------------------------------------------

    def read(self, batch: RecordBatch) -> None:
        """Keep what has happened; called by the tree, also from a thread of its own."""
        self._new.append(batch)

    def on_interval(self) -> None:
        """Nothing takes long here; called by the tree."""

    # -- for who ticks it ------------------------------------------------------------------------

    def before_tick(self) -> None:
        """A tick begins: write down what has happened since the last one."""
        if self._new or self._changes.pending:
            self.write_down()
        self._set_out()

    def after_tick(self, status: NodeStatus, duration: float) -> None:
        """A tick has ended, and the tree's readers have been told of all of it.

        Args:
            status: of the root
            duration: [s] wall time that it took
        """
        self._ticks += 1
        self._status = status
        batches, self._new = self._new, []
        entries = self._changes.read() if self._changes.pending else ()
        self._emit(
            RawTreeRecord(
                RecordKind.TICK,
                self._ticks,
                status,
                self._clock,
                self._begun,
                self._origin,
                duration,
                batches,
                entries,
            )
        )

    def write_down(self) -> None:
        """Write down what has happened outside of ticks, if anything has."""
        self._tree.drain_changes()
        entries = self._changes.read()
        if entries or self._new:
            batches, self._new = self._new, []
            self._emit(self._record(RecordKind.BETWEEN, batches=batches, entries=entries))

    def state(self) -> RawTreeRecord:
        """Everything as it is now, between ticks, after all records so far."""
        self.write_down()
        return self._full(RecordKind.STATE)

    def close(self, note: str = "") -> None:
        """Record no more.

        Args:
            note: why the tree is not ticked any more
        """
        self.write_down()
        self.stop()
        self._emit(self._record(RecordKind.END, note=note))

    def stop(self) -> None:
        """Record no more, though the tree goes on."""
        self._unfollow()
        self._unsubscribe()

    # -- records ---------------------------------------------------------------------------------

    def _set_out(self) -> None:
        self._clock = self._tree.runtime.clock()
        self._begun, self._origin = time.time_ns(), time.monotonic_ns()

    def _full(self, kind: RecordKind, note: str = "") -> RawTreeRecord:
        return self._record(
            kind,
            entries=self._changes.everything(),
            statuses={node.uid(): node.status for node in self._tree.nodes()},
            xml=self._xml,
            note=note,
        )

    def _record(self, kind: RecordKind, **fields: Any) -> RawTreeRecord:
        return RawTreeRecord(
            kind, self._ticks, self._status, self._clock, self._begun, self._origin, **fields
        )

    def _edited(self, change: StructureChange) -> None:
        self.write_down()
        self._xml = self._document(self._tree)
        note = f"{'undo of ' if change.undone else ''}{change.kind}: {_paths(change)}"
        self._emit(self._full(RecordKind.EDIT, note))


def _paths(change: StructureChange) -> str:
    """The nodes that an edit concerns, in words."""
    parts = (("added", change.added), ("removed", change.removed), ("changed", change.changed))
    return "; ".join(
        f"{word} {', '.join(node.full_path() for node in nodes[:10])}"
        + (f" and {len(nodes) - 10} more" if len(nodes) > 10 else "")
        for word, nodes in parts
        if nodes
    )


def _us(origin: int, times: list[int]) -> list[int]:
    """[us] since the origin, within 32 bits."""
    return [max(-_FARTHEST, min((each - origin) // 1000, _FARTHEST)) for each in times]
