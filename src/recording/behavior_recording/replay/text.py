# SPDX-License-Identifier: Apache-2.0
"""A run as text: its changes, its tree and blackboard at one moment; the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from behavior_recording.moments import RecordedEntry, RecordedRecord, TreeMoment
from behavior_recording.recording import RecordedRun
from behavior_recording.replay.history import History
from behavior_recording.replay.story import label
from behavior_recording.tree_document import TreeDocument
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.blackboard_changes import OMITTED
from behavior_tree.monitoring.tree_records import RecordKind
from behavior_tree.shown_text import shorten

LONGEST_VALUE = 100
"""Characters shown of a blackboard entry."""


def seconds(history: History, time: int) -> float:
    """Time since the beginning of the recording [s]."""
    return (time - history.start) / 1e9


def run_title(run: RecordedRun) -> str:
    """Which run it is."""
    name = run.tree_id or "tree"
    return f"{name} (mission {run.action_id})" if run.action_id else name


def record_lines(history: History, tree: TreeDocument, record: RecordedRecord) -> Iterator[str]:
    """What happened in one record, a line for each change, entry and remark."""
    when = f"{seconds(history, record.time):10.3f}"
    if record.kind is RecordKind.BEGIN:
        yield f"{when} begins: {record.tree_id or 'tree'}"
    if record.kind is RecordKind.EDIT:
        yield f"{when} edited: {record.note}"
    if not record.kind.full:
        for path, before, after, reason in shown_changes(tree, record):
            yield f"{when} {path}: {before} -> {after}{f': {reason}' if reason else ''}"
        for entry in record.entries:
            yield f"{when} {entry_place(entry)} {'is gone' if entry.removed else _assigned(entry)}"
    if record.kind is RecordKind.END:
        yield f"{when} ends: {record.note or record.status.name}"


def shown_changes(
    tree: TreeDocument, record: RecordedRecord
) -> Iterator[tuple[str, str, str, str]]:
    """Path, status before and after, and reason of a failure, without what says nothing new: that
    nodes which have ended are made ready for another run.
    """
    reasons: dict[int, list[str]] = {}
    for uid, text in record.reasons:
        reasons.setdefault(uid, []).append(text)
    for change in record.changes:
        if change.after is NodeStatus.IDLE and change.before is not NodeStatus.RUNNING:
            continue
        node = tree.nodes.get(change.uid)
        path = node.path if node is not None else f"node {change.uid}"
        after = "halted" if change.after is NodeStatus.IDLE else change.after.name
        told = reasons.get(change.uid) if change.after is NodeStatus.FAILURE else None
        yield path, change.before.name, after, told.pop(0) if told else ""


def record_json(
    history: History, tree: TreeDocument, record: RecordedRecord
) -> Iterator[dict[str, Any]]:
    """The changes of status of one record, for programs."""
    for path, before, after, reason in shown_changes(tree, record):
        when = round(seconds(history, record.time), 6)
        yield {"seconds": when, "path": path, "before": before, "after": after, "reason": reason}


def moment_lines(history: History, moment: TreeMoment) -> list[str]:
    """The tree and its blackboard at a moment, the nodes that its last tick ticked marked."""
    record = moment.record
    when, run = seconds(history, moment.time), record.action_id
    head = f"{record.tree_id or 'tree'}{f' (mission {run})' if run else ''}"
    lines = [f"{head}: {when:.3f} s, tick {record.tick}: {record.status.name}"]
    if moment.gap:
        lines.append("records were lost before this moment: it may be out of date")
    ticked = set(record.ticked)
    for node in moment.tree.nodes.values():
        ports = "".join(f" {key}={json.dumps(text)}" for key, text in node.ports.items())
        status = shown_status(moment, node.uid)
        reason = moment.reasons.get(node.uid) if status == "FAILURE" else None
        mark = "*" if node.uid in ticked else " "
        told = f" {status}" if status else ""
        why = f": {reason}" if reason else ""
        lines.append(f"{mark} {'  ' * node.depth}{label(node)}{shorten(ports)}{told}{why}")
    if moment.blackboard:
        lines.append("blackboard")
        entries = sorted(moment.blackboard.values(), key=lambda each: (each.board, each.key))
        lines += [f"  {entry_place(entry)} {_assigned(entry)}" for entry in entries]
    return lines


def moment_json(history: History, moment: TreeMoment) -> dict[str, Any]:
    """The same for programs."""
    return {
        "seconds": round(seconds(history, moment.time), 6),
        "mission": moment.record.action_id,
        "tree": moment.record.tree_id,
        "tick": moment.record.tick,
        "status": moment.record.status.name,
        "nodes": [
            {
                "uid": node.uid,
                "path": node.path,
                "type": node.type_id,
                "status": moment.statuses.get(node.uid, NodeStatus.IDLE).name,
                "result": moment.results.get(node.uid, NodeStatus.IDLE).name,
                "ticked": node.uid in moment.record.ticked,
                "reason": moment.reasons.get(node.uid, ""),
            }
            for node in moment.tree.nodes.values()
        ],
        "blackboard": [
            {"board": e.board, "key": e.key, "type": e.type, "value": e.value}
            for e in moment.blackboard.values()
        ],
    }


def entry_text(entry: RecordedEntry) -> str:
    """The value of an entry in a line."""
    if not entry.kept:
        return f"({entry.value[OMITTED]}, not kept)"
    text = " ".join(entry.text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def shown_status(moment: TreeMoment, uid: int) -> str:
    """What a node does, else what it came to last; empty: it has not been ticked yet."""
    status = moment.statuses.get(uid, NodeStatus.IDLE)
    if status is NodeStatus.IDLE:
        if uid not in moment.results:
            return ""
        status = moment.results[uid]
        return "halted" if status is NodeStatus.IDLE else status.name
    return status.name


def entry_place(entry: RecordedEntry) -> str:
    """Board and key of an entry."""
    return f"{entry.board}/{entry.key}" if entry.board else entry.key


def _assigned(entry: RecordedEntry) -> str:
    kind = f" ({entry.type})" if entry.type else ""
    return f"={kind} {entry_text(entry)}"
