# SPDX-License-Identifier: Apache-2.0
"""`TreeReducer`: what the running tree does, from its records (``behavior_msgs/TreeRecord``)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from behavior_console.channels import Channels
from behavior_console.reducers.plain import seconds
from behavior_console.reducers.tree_document import ShownNode, shown_nodes
from behavior_recording import RecordingError
from behavior_tree.monitoring.tree_records import RecordKind

IDLE, RUNNING, SUCCESS, FAILURE, SKIPPED = range(5)
_ENDS = (SUCCESS, FAILURE, SKIPPED)
LONGEST_VALUE = 2_000
"""Characters of a blackboard value; the page asks for the whole of a longer one."""
LONGEST_REASON = 2_000
_RESTS = 1.0
"""[s] after which a leaf that answers at once, always alike, is shown as one more span."""
_WRITABLE = frozenset({"bool", "double", "float", "int", "int64_t", "std::string", "string"})


@dataclass
class TreeReducer:
    """Fills the channels of the tree: tree, status, reasons, spans, blackboard, and events."""

    channels: Channels
    _leaves: dict[int, ShownNode] = field(default_factory=dict)
    _lanes: dict[tuple[str, str], int] = field(default_factory=dict)
    """Lanes of the timeline by tree ID and path of the leaf: uids mean another in each tree."""
    _tree_id: str = ""
    _known: tuple[Any, ...] = ()
    """Life, action and text of the tree that is shown."""
    _revision: int = 0
    _sequence: int = 0
    _answered: dict[int, tuple[float, int]] = field(default_factory=dict)
    """When leaves that answer at once have last become a span, and with which answer."""

    def take(self, record: Any) -> None:
        """Take in one record, a message's fields."""
        kind = RecordKind(record.kind)
        stamp = seconds(record.header.stamp)
        with self.channels.lock:
            if kind.full:
                self._take_full(record, kind, stamp)
            elif self._known:
                self._take_changes(record, stamp)
                self._check_sequence(record, stamp)
            if kind is RecordKind.END:
                self._end(record, stamp)
            if kind is not RecordKind.STATE:
                self._sequence = record.sequence

    def fork(self, channels: Channels) -> TreeReducer:
        """Another that knows the same, for channels that hold the same."""
        return replace(
            self, channels=channels, _lanes=dict(self._lanes), _answered=dict(self._answered)
        )

    # -- full records ----------------------------------------------------------------------------

    def _take_full(self, record: Any, kind: RecordKind, stamp: float) -> None:
        known = (record.life, record.action_id, record.xml)
        begins = kind is RecordKind.BEGIN or known[:2] != self._known[:2]
        if known != self._known or begins:
            try:
                nodes = shown_nodes(record.xml)
            except RecordingError as error:
                self._event(stamp, "fault", f"the tree cannot be shown: {error}", level="error")
                return
            self._show_tree(record, nodes)
            self._known = known
        if begins:
            self._answered.clear()
            self.channels.restart("reasons", {})
        if kind is RecordKind.EDIT:
            self._event(stamp, "edit", record.note or "the tree was edited")
        statuses = zip(record.uids, record.statuses, strict=True)
        self._take_statuses(dict(statuses), stamp, begins=begins)
        self.channels.replace("blackboard", _entries(record.blackboard))
        if kind is RecordKind.STATE:
            self._sequence = record.sequence

    def _show_tree(self, record: Any, nodes: list[ShownNode]) -> None:
        self._revision += 1
        self._leaves = {node.uid: node for node in nodes if node.is_leaf}
        self._tree_id = record.tree_id
        self.channels.set(
            "tree",
            {
                "life": str(record.life),
                "action_id": record.action_id,
                "tree_id": record.tree_id,
                "revision": self._revision,
                "xml": record.xml,
                "nodes": [node.row() for node in nodes],
                "ended": None,
            },
        )

    def _take_statuses(self, statuses: dict[int, int], stamp: float, *, begins: bool) -> None:
        before = {} if begins else self.channels.value("status")
        after = {}
        for uid, status in statuses.items():
            entry = before.get(uid, [IDLE, stamp, 0, IDLE])
            after[uid] = entry if entry[0] == status else [status, stamp, *entry[2:]]
        if begins:
            self.channels.restart("status", after)
        else:
            self.channels.replace("status", after)

    # -- changes ---------------------------------------------------------------------------------

    def _take_changes(self, record: Any, stamp: float) -> None:
        changed: dict[int, list[Any]] = {}
        spans: list[list[Any]] = []
        reasons = dict(zip(record.failed, record.reasons, strict=True))
        for uid, status, time in zip(record.uids, record.statuses, record.times, strict=True):
            entry = changed.get(uid) or self.channels.entry("status", uid)
            before = entry or [IDLE, stamp, 0, IDLE]
            changed[uid] = self._after(uid, before, status, stamp + 1e-6 * time, spans)
        self.channels.patch("status", changed)
        self.channels.add("spans", [self._with_lane(span, reasons) for span in spans])
        self.channels.patch(
            "reasons",
            {
                uid: {"t": stamp, "text": text[:LONGEST_REASON]}
                for uid, text in zip(record.failed, record.reasons, strict=True)
            },
        )
        self.channels.patch("blackboard", _entries(record.blackboard))

    def _after(
        self, uid: int, before: list[Any], status: int, time: float, spans: list[list[Any]]
    ) -> list[Any]:
        """A node's entry after one change of its status; what it ran for becomes a span."""
        old, since, count, ended = before
        if uid in self._leaves:
            if status == RUNNING:
                spans.append([uid, time, None, RUNNING])
            elif old == RUNNING:
                spans.append([uid, since, time, status])
            elif status in (SUCCESS, FAILURE) and self._is_new_answer(uid, status, time):
                spans.append([uid, time, time, status])
        if status in _ENDS:
            count, ended = count + 1, status
        return [status, time, count, ended]

    def _with_lane(self, span: list[Any], reasons: dict[int, str]) -> list[Any]:
        """A span with its lane, and with the reason if it has failed for one."""
        uid, status = span[0], span[3]
        leaf = self._leaves[uid]
        known = len(self._lanes)
        lane = self._lanes.setdefault((self._tree_id, leaf.path), known + 1)
        if lane > known:
            row = [self._tree_id, leaf.path, leaf.type_id, leaf.name, leaf.kind]
            self.channels.patch("lanes", {lane: row})
        reason = reasons.get(uid, "") if status == FAILURE else ""
        return [*span, lane, reason[:LONGEST_REASON]] if reason else [*span, lane]

    def _is_new_answer(self, uid: int, status: int, time: float) -> bool:
        last, answer = self._answered.get(uid, (float("-inf"), IDLE))
        if answer == status and time < last + _RESTS:
            return False
        self._answered[uid] = (time, status)
        return True

    def _check_sequence(self, record: Any, stamp: float) -> None:
        lost = record.sequence - self._sequence - 1
        if self._sequence and lost > 0 and record.life == self._known[0]:
            text = f"{lost} records of the tree were lost; statuses may be out of date for a while"
            self._event(stamp, "log", text, level="warning")

    def _end(self, record: Any, stamp: float) -> None:
        tree = self.channels.value("tree")
        if tree is not None:
            note = record.note or "the tree is not ticked any more"
            self.channels.set("tree", {**tree, "ended": {"t": stamp, "note": note}})

    def _event(self, stamp: float, kind: str, text: str, *, level: str = "info") -> None:
        self.channels.add(
            "events", [{"t": stamp, "kind": kind, "text": text, "uid": None, "level": level}]
        )


def _entries(entries: Any) -> dict[str, list[Any] | None]:
    """Blackboard entries by path and key; None: it is gone."""
    found: dict[str, list[Any] | None] = {}
    for entry in entries:
        place = f"{entry.board}/{entry.key}" if entry.board else entry.key
        text = entry.value
        if len(text) > LONGEST_VALUE:
            text = text[:LONGEST_VALUE] + "…"
        value = [entry.type, text, entry.type in _WRITABLE]
        found[place] = None if entry.removed else value
    return found
