# SPDX-License-Identifier: Apache-2.0
"""A recorded run as the engine's `behavior_tree.rerun` takes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedEntry, RecordedRecord
from behavior_recording.recording import RecordedRun
from behavior_recording.replay.history import BtLogHistory, History
from behavior_recording.replay.text import entry_place, entry_text, run_title, seconds
from behavior_tree import rerun
from behavior_tree.basic_types import NodeStatus
from behavior_tree.monitoring.tree_records import RecordKind
from behavior_tree.shown_text import shorten


def rerun_run(history: History, run: RecordedRun, changed: Path | None) -> tuple[str, bool]:
    """Run a recorded tree once more on its record.

    Args:
        history: holds the run
        run: which one
        changed: file of another tree to run on the same record; None: the recorded one

    Returns:
        what came of it, in words, and whether every decision is the same

    Raises:
        RecordingError: it cannot be run again
        BehaviorTreeError: a tree cannot be built
    """
    xml = None if changed is None else _read(changed)
    done = rerun.rerun(rerun_input(history, run), changed=xml)
    lines = list(_lines(done))
    if not done.identical:
        lines += _not_kept(history, run)
    return "\n".join(lines), done.identical


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{file} cannot be read: {error}") from error


def _lines(done: rerun.Rerun) -> Iterator[str]:
    if done.new_nodes:
        listed = ", ".join(done.new_nodes[:5])
        more = f" and {len(done.new_nodes) - 5} more" if len(done.new_nodes) > 5 else ""
        yield f"the record does not know {listed}{more}"
    if done.parting is None:
        yield f"the same decisions in all {done.compared} ticks"
    else:
        yield f"the same decisions in {done.compared} ticks, then they part"
        yield str(done.parting)
    if done.unanswered:
        yield "what the record does not tell, so that these nodes stayed RUNNING:"
        yield from (f"  {each}" for each in done.unanswered)
    status = done.ended.name
    doing = f" in {done.active_path}" if done.active_path else ""
    yield f"at the end of the record: {status}{doing}{f': {done.reason}' if done.reason else ''}"


def _not_kept(history: History, run: RecordedRun) -> Iterator[str]:
    """What the tree had and the record has not."""
    entries = {
        entry_place(entry): entry_text(entry)
        for record in _of_run(history, run)
        for entry in record.entries
        if not entry.removed and not entry.kept
    }
    if entries:
        yield "values that the record does not hold; who asks for them may decide otherwise:"
        yield from (f"  {place}: {shorten(text)}" for place, text in sorted(entries.items())[:5])
        if len(entries) > 5:
            yield f"  and {len(entries) - 5} more"


def rerun_input(history: History, run: RecordedRun) -> rerun.RecordedRun:
    """The run up to its end, or to the first edit of its tree.

    Raises:
        RecordingError: its beginning is not in the recording, records were lost, or it is a
            ``.btlog``
    """
    if isinstance(history, BtLogHistory):
        raise RecordingError(
            f"{history.path}: a .btlog does not say which nodes were ticked, nor what they wrote: "
            f"record with `behavior record` to run it again"
        )
    if not run.whole:
        raise RecordingError(
            f"{history.path}: the beginning of {run_title(run)} is not in the recording: only a "
            f"run that is recorded from its beginning can be run again"
        )
    records = _of_run(history, run)
    begin = next(records)
    ticks = tuple(_ticks(history, begin, records))
    origin = begin.stamp / 1e9 - seconds(history, begin.time)
    return rerun.RecordedRun(begin.xml, ticks, str(history.path), origin)


def _of_run(history: History, run: RecordedRun) -> Iterator[RecordedRecord]:
    for record in history.records(start=run.begin, end=run.end):
        if run.holds(record):
            yield record


def _ticks(
    history: History, begin: RecordedRecord, records: Iterator[RecordedRecord]
) -> Iterator[rerun.RecordedTick]:
    waiting = [_write(entry, None) for entry in begin.entries if entry.kept]
    last = begin
    for record in records:
        if record.kind is RecordKind.STATE:
            continue
        if record.sequence != last.sequence + 1:
            raise RecordingError(
                f"{history.path}: {record.sequence - last.sequence - 1} records of the tree are "
                f"missing: without them it cannot be run again"
            )
        last = record
        if record.kind in (RecordKind.EDIT, RecordKind.END):
            break
        if record.kind is RecordKind.BETWEEN:
            waiting += [_write(entry, None) for entry in record.entries if not entry.removed]
            if any(change.after is not NodeStatus.IDLE for change in record.changes):
                break  # a node raised an error in a tick, which ended the run
            if not record.changes:
                continue
        yield _tick(record, waiting)
        waiting = []


def _tick(record: RecordedRecord, before: list[rerun.RecordedWrite]) -> rerun.RecordedTick:
    within = [_write(entry, rerun.UNKNOWN) for entry in record.entries if not entry.removed]
    is_tick = record.kind is RecordKind.TICK
    return rerun.RecordedTick(
        record.stamp / 1e9,
        tuple((change.uid, change.after) for change in record.changes),
        frozenset(record.ticked),
        record.reasons,
        (*before, *(within if is_tick else ())),
    )


def _write(entry: RecordedEntry, uid: int | None) -> rerun.RecordedWrite:
    return rerun.RecordedWrite(entry.board, entry.key, entry.value, uid)
