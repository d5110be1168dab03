# SPDX-License-Identifier: Apache-2.0
"""The durable record of missions. No ROS.

Everything about a mission is a record in two files (`record_store`): all of it when it is accepted,
and what has changed later. What was written is on the disk when `MissionJournal.write` returns.

**Room.** When a mission is accepted the files have room for everything that will be written of it,
up to its end: a disk that is full refuses missions, but loses no end of one.

**Damage.** Every record has a checksum and a number. What is good in either file counts; a file
with damage is kept aside. If records are lost all the same, missions whose end may be among them
are held as paused, since they may have been carried out.

**One owner.** The files are locked as long as they are open: two executors on one journal would
each take up the other's missions. The kernel drops the lock of a killed process.

**Bounds.** Of the missions that have ended the newest `capacity` are kept, fewer where the files
would exceed `max_bytes`. Unfinished missions are never dropped.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

from behavior_executor.journal.journal_v1 import is_sqlite, read_v1
from behavior_executor.journal.mission_row import PLACE_ROOM, MissionRow, row_from
from behavior_executor.journal.record_store import AHEAD, Found, RecordStore, keep_aside
from behavior_executor.missions.mission import DOUBT, Mission, State

_T = TypeVar("_T")
_LEAST_ROOM = 4096
"""[bytes] beyond what is reserved, without which the journal counts as full."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class RestartPolicy(Enum):
    """What becomes of missions that a restart of the executor finds unfinished."""

    RESUME = "resume"
    """They run again, each from the step that was interrupted."""
    FAIL = "fail"
    """They end as FAILED with SHUTDOWN."""
    REPORT = "report"
    """They are held until a client sends RESUME or CANCEL."""


class JournalError(Exception):
    """The journal cannot be used; the message names the file and says what to do."""

    left: tuple[MissionRow, ...] = ()
    """Rows that are not on disk, of those that were to be written."""


class MissionJournal:
    """An open journal, to be closed. One thread at a time may `write`, another do the rest."""

    def __init__(
        self, path: Path | None = None, *, capacity: int = 10_000, max_bytes: int = 64 * 2**20
    ) -> None:
        """Open or make the files; where the disk is full, that is made up for by later writes.

        Args:
            path: the first file, its folder is made; None: in memory, lost with the process.
            capacity: missions that are kept after they have ended, at least 1.
            max_bytes: limit of each file's size.

        Raises:
            JournalError: another process has it, it is read-only or no journal.
        """
        self.path = path
        self.damage = ""
        """What was found wrong at opening, and what was lost; empty: nothing."""
        self._capacity = capacity
        self._max_bytes = max_bytes
        self._rows: dict[int, MissionRow] = {}
        """Everything that is on disk, by number."""
        self._open: dict[int, MissionRow] = {}
        """Those of missions that have not ended, as they were accepted."""
        self._reserved = self._ends = 0
        """[bytes] For all changes of these missions, and for the last change of each."""
        self._guard = threading.Lock()
        """Of all that."""
        self._compact = 0
        """[bytes] Of the files when they were written anew."""
        self._store: RecordStore | None = None
        if path is None:
            return
        with self._errors("opened"):
            path.parent.mkdir(parents=True, exist_ok=True)
            _require_writable(path)
            self._store = RecordStore(path)
        try:
            with self._errors("opened"):
                self._load(self._store, path)
        except BaseException:
            self._store.close()
            raise

    @property
    def room(self) -> int:
        """[bytes] For records beyond what is reserved; in memory it has no end."""
        if self._store is None:
            return 2**62
        with self._guard:
            return self._store.free - self._reserved

    @property
    def is_broken(self) -> bool:
        """Whether the files have to be written anew, or are being so: `room` says nothing then."""
        return self._store is not None and self._store.is_broken

    @property
    def last_number(self) -> int:
        """Of the mission that was accepted last; 0: none."""
        with self._guard:
            return max(self._rows, default=0)

    def row(self, number: int) -> MissionRow | None:
        """What is on disk of a mission."""
        return self._rows.get(number)

    def make_room(self, count: int) -> None:
        """See to so many bytes beyond what is reserved, or to as many as the disk has."""
        if self._store is not None:
            self._store.grow(count + self._reserved)

    def write(self, rows: Sequence[MissionRow]) -> None:
        """Put rows on the disk, all at once; without any, mend what failed earlier.

        Raises:
            JournalError: some are not there (`left`), or there is no room for another mission.
        """
        left = tuple(rows)
        try:
            with self._errors("written"):
                left = self._write(rows)
                if left or self.room < _LEAST_ROOM:
                    raise OSError("no space left on the disk for more missions")
        except JournalError as error:
            error.left = left
            raise

    def unfinished(self) -> list[tuple[int, Mission]]:
        """Missions that have not ended, and their numbers: by start, priority and arrival."""
        with self._guard:
            rows = [self._rows[number] for number in sorted(self._open)]
        missions = [(row.number, row.mission()) for row in rows]
        return sorted(
            missions, key=lambda item: (item[1].state is State.WAITING, -item[1].request.priority)
        )

    def records(self, *, unfinished_only: bool = False, limit: int = 0) -> list[Mission]:
        """Missions, the newest first; 0: all."""
        with self._guard:
            numbers = sorted(self._open if unfinished_only else self._rows, reverse=True)
            rows = [self._rows[number] for number in numbers[: limit or None]]
        return [row.mission() for row in rows]

    def close(self) -> None:
        """Close the files; what was written stays."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _load(self, store: RecordStore, path: Path) -> None:
        if is_sqlite(path) and not store.paths[1].exists():
            self._take_over(store, path)
            return
        found = store.load()
        self._take(self._recovered(store, found))
        if store.is_broken or store.count > 2 * len(self._rows) + 1000:
            self._try_rewrite(store)
        self._compact = store.used
        store.grow(AHEAD)

    def _take_over(self, store: RecordStore, path: Path) -> None:
        """Read a journal of the first version, and leave it under another name."""
        rows, wrong = read_v1(path)
        self._take(rows)
        aside = path.with_name(f"{path.name}.version1-{time.strftime('%Y%m%dT%H%M%S')}")
        os.link(path, aside)
        try:
            self._rewrite(store)
        except OSError:
            aside.unlink()
            raise
        if wrong:
            self.damage = f"{aside} is damaged ({wrong}): {len(rows)} missions could be read"
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        store.grow(AHEAD)

    def _try_rewrite(self, store: RecordStore) -> None:
        """Write the files anew, unless the disk is full: then it is done later."""
        try:
            self._rewrite(store)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise

    def _recovered(self, store: RecordStore, found: Found) -> Iterable[MissionRow]:
        """The rows of what was found; tells what is lost."""
        rows: dict[int, MissionRow] = {}
        places = {}
        unreadable: list[str] = []
        for place, payload in found.records:
            if place.number == 0:
                continue
            try:
                plain = json.loads(payload)
                number = plain["number"]
                rows[number] = row_from(plain, rows.get(number))
                places[number] = place
            except (ValueError, KeyError, TypeError) as error:
                unreadable.append(f"{payload[:80]!r} ({error})")
        doubtful = [
            number
            for number, place in places.items()
            if place < found.lost_up_to and not rows[number].is_final
        ]
        for number in doubtful:
            rows[number] = rows[number]._replace(state=int(State.PAUSED), text=DOUBT)
        if unreadable and not found.damage:
            found.damage = [f"{store.paths[0]} is kept as {keep_aside(store.paths[0])}"]
        lost = [number for number, row in rows.items() if not row.request and not row.is_final]
        for number in lost:
            rows[number] = rows[number].without_request()
        self.damage = _damage_text(
            found,
            unreadable,
            doubtful=[rows[number].action_id for number in doubtful if number not in lost],
            lost=[rows[number].action_id for number in lost],
        )
        return [rows[number] for number in sorted(rows)]

    def _write(self, rows: Sequence[MissionRow]) -> tuple[MissionRow, ...]:
        """Write what fits; returns the rest."""
        store = self._store
        if store is None:
            self._take(rows)
            return ()
        if store.is_broken:
            self._rewrite(store)
        elif store.used > max(min(2**20, self._max_bytes // 2), 2 * self._compact):
            try:
                self._rewrite(store)
            except OSError:  # it can wait until there is as much again
                self._compact = store.used
        new = (row for row in rows if row.number not in self._rows)
        store.grow(self._reserved + sum(map(room_for, new)) + AHEAD)
        fitting = list(self._fitting(store.free, rows))
        if fitting:
            store.append([payload for _, payload in fitting])
            self._take(row for row, _ in fitting)
        written = {row.number for row, _ in fitting}
        return tuple(row for row in rows if row.number not in written)

    def _fitting(self, free: int, rows: Sequence[MissionRow]) -> Iterator[tuple[MissionRow, bytes]]:
        """The rows for which there is room, and their records; ends go first.

        A new mission needs room for itself and all its changes beside what is reserved; a change
        may use what is reserved, but for the ends of the others.
        """
        reserved, ends = self._reserved, self._ends
        for row in _with_pauses(sorted(rows, key=lambda row: not row.is_final)):
            before = self._rows.get(row.number)
            if before is None:
                payload = row.full()
                if room_for(row) > free - reserved:
                    continue
                reserved += 0 if row.is_final else row.reserve
            else:
                payload = row.change()
                if row.is_final:
                    accepted = self._open[row.number]
                    reserved -= accepted.reserve
                    ends -= accepted.change_room
                if len(payload) + PLACE_ROOM > free - reserved:
                    payload = row.change(short=True)
                    if len(payload) + PLACE_ROOM > free - ends:
                        continue
            free -= len(payload) + PLACE_ROOM
            yield row, payload

    def _take(self, rows: Iterable[MissionRow]) -> None:
        """Know rows that are on disk, and forget those that are too old."""
        with self._guard:
            for row in rows:
                self._rows[row.number] = row
                if row.is_final:
                    self._reserve(self._open.pop(row.number, None), -1)
                elif row.number not in self._open:
                    self._open[row.number] = row
                    self._reserve(row, 1)
            self._forget(len(self._rows) - len(self._open) - self._capacity)

    def _reserve(self, row: MissionRow | None, sign: int) -> None:
        if row is not None:
            self._reserved += sign * row.reserve
            self._ends += sign * row.change_room

    def _forget(self, count: int) -> None:
        """Drop the oldest missions that have ended."""
        if count <= 0:
            return
        ended = (number for number in sorted(self._rows) if number not in self._open)
        for number in [number for number, _ in zip(ended, range(count), strict=False)]:
            del self._rows[number]

    def _rewrite(self, store: RecordStore) -> None:
        """Write the files anew with what is known, the newer half if that is too much."""
        payloads = self._payloads()
        if sum(map(len, payloads)) > self._max_bytes // 2:
            with self._guard:
                self._forget((len(self._rows) - len(self._open) + 1) // 2)
            payloads = self._payloads()
        store.rewrite(payloads, self._reserved)
        self._compact = store.used

    def _payloads(self) -> list[bytes]:
        payloads = []
        for number in _with_pauses(sorted(self._rows)):
            payloads.append(self._rows[number].full())
        return payloads

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except BlockingIOError as error:
            text = "another executor uses it: give each a journal_file of its own"
            raise JournalError(f"mission journal {self.path} is locked: {text}") from error
        except (sqlite3.Error, OSError, ValueError) as error:
            remedy = "check free space and permissions"
            if "locked" in str(error):
                remedy = "another executor uses it: give each a journal_file of its own"
            elif what != "written":
                remedy = "move it away, or give another journal_file"
            raise JournalError(
                f"mission journal {self.path} cannot be {what}: {error}; {remedy}"
            ) from error


def room_for(row: MissionRow) -> int:
    """[bytes] That a new mission takes, with all its changes."""
    return len(row.full()) + PLACE_ROOM + (0 if row.is_final else row.reserve)


def _with_pauses(items: Iterable[_T]) -> Iterator[_T]:
    """Let other threads run now and then, such as the one that ticks."""
    for index, item in enumerate(items, 1):
        yield item
        if not index % 20:
            time.sleep(0)


def _damage_text(
    found: Found, unreadable: Sequence[str], doubtful: Sequence[str], lost: Sequence[str]
) -> str:
    """What is wrong and what is lost, in plain words; empty: nothing."""
    parts = list(found.damage)
    count = found.lost + len(unreadable)
    at_end = found.damage and found.lost_up_to.number == 0
    if count or at_end:
        parts.append(
            f"{count or 'an unknown number of'} records were lost"
            + (", and perhaps more at the end" if count and at_end else "")
        )
    elif parts:
        parts.append("nothing was lost")
    if unreadable:
        parts.append(f"not understood: {'; '.join(unreadable)}")
    if lost:
        parts.append(f"the request was lost of {', '.join(lost)}")
    if doubtful:
        parts.append(f"held, since their end may be among what was lost: {', '.join(doubtful)}")
    return "; ".join(parts)


def _require_writable(path: Path) -> None:
    """Say it plainly.

    Raises:
        PermissionError: file or folder is read-only.
    """
    for each in (path, path.parent):
        if each.exists() and not os.access(each, os.W_OK, effective_ids=True):
            raise PermissionError(f"{each} is read-only")
