# SPDX-License-Identifier: Apache-2.0
"""The durable record of missions, in one SQLite file. No ROS.

Every mission is in it before its client hears that it was accepted, and its end before its client
hears of that, so that after a crash nothing accepted is missing, and nothing counts as done that
was not. The same holds for each step of a sequence.

**When the disk is waited for.** The file is in write-ahead mode: a killed process loses nothing
that it has written, whatever else is chosen. Against a power cut only ``fsync`` helps, and it costs
milliseconds in which no tree is ticked. So it is paid where a promise is made (accepted, step done,
ended; about twice a mission) and not for what only informs (started, paused, resumed).

**One owner.** The file is locked as long as it is open: two executors on one journal would each
take up the other's missions. The kernel drops the lock of a killed process.

**Bounds.** Of the missions that have ended the newest `capacity` are kept; beyond `max_bytes` the
older half of them goes earlier. Unfinished missions are never dropped.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from behavior_executor.missions import Code, Mission, MissionError, State
from behavior_executor.request_text import request_from_text, request_to_text

SCHEMA_VERSION = 1
_APPLICATION = 0x6265_6861
"""Marks the file as ours (``PRAGMA application_id``)."""
_PAGE = 4096
_SCHEMA = f"""
CREATE TABLE missions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    action_id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    title TEXT NOT NULL,
    request TEXT NOT NULL,
    state INTEGER NOT NULL,
    code INTEGER NOT NULL,
    text TEXT NOT NULL,
    steps_done INTEGER NOT NULL,
    interruptions INTEGER NOT NULL,
    accepted REAL NOT NULL,
    started REAL,
    ended REAL
);
CREATE UNIQUE INDEX unfinished ON missions (action_id) WHERE state < {int(State.FINISHED)};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA_VERSION};
"""
_UNFINISHED = f"state < {int(State.FINISHED)}"
_COLUMNS = "request, accepted, state, code, text, started, ended, steps_done, interruptions"


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


class MissionJournal:
    """An open journal; to be closed, and used by one thread at a time."""

    def __init__(
        self, path: Path | None = None, *, capacity: int = 10_000, max_bytes: int = 64 * 2**20
    ) -> None:
        """Open or make the file.

        Args:
            path: the file, its folder is made; None: in memory, lost with the process.
            capacity: missions that are kept after they have ended, at least 1.
            max_bytes: limit of the file's size.

        Raises:
            JournalError: another process has it, it is damaged, read-only or no journal.
        """
        self.path = path
        self._capacity = capacity
        self._known: dict[str, tuple[int, tuple[object, ...]]] = {}
        """Unfinished missions: number, and what was written of them last."""
        with self._errors("opened"):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                _require_writable(path)
            self._database = sqlite3.connect(
                path or ":memory:", timeout=2.0, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors("opened"):
                self._prepare(max_bytes)
        except BaseException:
            self._database.close()
            raise

    def accepted(self, mission: Mission) -> bool:
        """Write a mission down; when this returns True, a power cut cannot lose it.

        Raises:
            JournalError: it is not written.
        """
        self._write(
            f"DELETE FROM missions WHERE NOT {_UNFINISHED} AND number <="
            " (SELECT max(number) FROM missions) + 1 - ?",
            (self._capacity,),
            promise=False,
        )
        request = mission.request
        row = (
            *(request.action_id, int(request.kind), request.title, request_to_text(request)),
            *(int(mission.state), int(mission.code), mission.text, mission.steps_done),
            *(mission.interruptions, mission.accepted_at),
        )
        number = self._write(
            "INSERT INTO missions (action_id, kind, title, request, state, code, text, steps_done,"
            f" interruptions, accepted) VALUES ({', '.join('?' * len(row))})",
            row,
            promise=True,
        )
        self._known[mission.action_id] = (number, _essence(mission))
        return True

    def changed(self, mission: Mission) -> bool:
        """Write down what has become of a mission; one that was never accepted is passed over.

        Returns:
            whether there was anything to write.

        Raises:
            JournalError: it is not written.
        """
        number, written = self._known.get(mission.action_id, (0, ()))
        essence = _essence(mission)
        if not number or essence == written:
            return False
        promise = mission.is_final or essence[1:] != written[1:]
        self._write(
            "UPDATE missions SET state = ?, code = ?, text = ?, steps_done = ?, interruptions = ?,"
            " started = coalesce(started, ?), ended = ? WHERE number = ?",
            (
                *(int(mission.state), int(mission.code), mission.text, mission.steps_done),
                *(mission.interruptions, mission.started_at, mission.ended_at, number),
            ),
            promise=promise,
        )
        if mission.is_final:
            del self._known[mission.action_id]
        else:
            self._known[mission.action_id] = (number, essence)
        return True

    def unfinished(self) -> list[Mission]:
        """Missions that have not ended: those that had started, then by priority and arrival.

        Raises:
            JournalError: they cannot be read.
        """
        missions = self._read(f"WHERE {_UNFINISHED} ORDER BY number")
        return sorted(missions, key=lambda m: (m.state is State.WAITING, -m.request.priority))

    def records(self, *, unfinished_only: bool = False, limit: int = 0) -> list[Mission]:
        """Missions, the newest first; 0: all.

        Raises:
            JournalError: they cannot be read.
        """
        which = f"WHERE {_UNFINISHED}" if unfinished_only else ""
        return self._read(f"{which} ORDER BY number DESC LIMIT {limit or -1:d}")

    def close(self) -> None:
        """Close the file; what was written stays."""
        self._database.close()

    def _prepare(self, max_bytes: int) -> None:
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        damage = run("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {damage.splitlines()[-1]}")
        version = run("PRAGMA user_version").fetchone()[0]
        tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and run("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise sqlite3.DatabaseError("it is another program's database")
        if tables and version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError(
                f"its schema has version {version}, this program knows {SCHEMA_VERSION}"
            )
        # Only now, since these write to the file.
        run("PRAGMA journal_mode = WAL")
        run(f"PRAGMA max_page_count = {max(16, max_bytes // _PAGE)}")
        run(f"PRAGMA journal_size_limit = {2**20}")
        self._database.executescript(f"BEGIN IMMEDIATE; {'' if tables else _SCHEMA} COMMIT;")
        self._known = {
            action_id: (number, tuple(rest))
            for number, action_id, *rest in run(
                f"SELECT number, action_id, state, steps_done, interruptions FROM missions"
                f" WHERE {_UNFINISHED}"
            )
        }

    def _write(self, statement: str, values: tuple[object, ...], *, promise: bool) -> int:
        with self._errors("written"):
            self._database.execute(f"PRAGMA synchronous = {'FULL' if promise else 'NORMAL'}")
            try:
                return int(self._database.execute(statement, values).lastrowid or 0)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                    raise
                self._make_room()
                return int(self._database.execute(statement, values).lastrowid or 0)

    def _make_room(self) -> None:
        """Drop the older half of the missions that have ended."""
        self._database.execute(
            f"DELETE FROM missions WHERE NOT {_UNFINISHED} AND number <= (SELECT number FROM"
            f" missions WHERE NOT {_UNFINISHED} ORDER BY number LIMIT 1 OFFSET (SELECT count(*) / 2"
            f" FROM missions WHERE NOT {_UNFINISHED}))"
        )

    def _read(self, rest: str) -> list[Mission]:
        with self._errors("read"):
            rows = self._database.execute(f"SELECT {_COLUMNS} FROM missions {rest}").fetchall()
            return [_mission(row) for row in rows]

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            remedy = "; check free space and permissions"
            if "locked" in str(error):
                remedy = "; another executor uses it: give each a journal_file of its own"
            elif what != "written":
                remedy = "; move it away, or give another journal_file"
            raise JournalError(
                f"mission journal {self.path or 'in memory'} cannot be {what}: {error}{remedy}"
            ) from error


def open_log(
    path: Path | None, *, capacity: int, required: bool, tell: Callable[[str], None]
) -> MissionLog:
    """Open a journal; one that cannot be used is replaced by one in memory, and that is told.

    Args:
        path: the file; None: in memory.
        capacity: missions that are kept after they have ended.
        required: refuse missions that cannot be written down.
        tell: is given each problem, for the log.
    """
    try:
        return MissionLog(MissionJournal(path, capacity=capacity), required=required, tell=tell)
    except JournalError as error:
        tell(str(error))
        memory = MissionJournal(capacity=capacity)
        return MissionLog(memory, required=required, tell=tell, problem=str(error))


class MissionLog:
    """What the executor writes down, and what it does when that fails.

    **Many at once.** `accepted` and `changed` do not wait for the disk: what they are given while
    one write is under way goes to the disk together in the next. So nothing is promised when they
    return; whatever tells a client of a mission goes through `when_kept`, and a mission is started
    when `is_kept` says so. `settle` carries the news from the disk and has to be called often.
    """

    def __init__(
        self,
        journal: MissionJournal,
        *,
        required: bool = False,
        tell: Callable[[str], None] = lambda text: None,
        problem: str = "",
    ) -> None:
        """Write to a journal.

        Args:
            journal: takes the records.
            required: refuse missions that cannot be written down, instead of running them anyway.
            tell: is given each new problem, for the log.
            problem: one that lasts, such as a file that could not be opened.
        """
        self.journal = journal
        self._lasting = self.problem = problem
        """What was wrong at the last attempt to write; empty: nothing."""
        self._required = required
        self._tell = tell

    def accepted(self, mission: Mission) -> None:
        """Write a mission down before anybody is told.

        Raises:
            MissionError: BUSY; it is not written, and `required`.
        """
        self._attempt(lambda: self.journal.accepted(mission))
        if self.problem and self._required:
            raise MissionError(Code.BUSY, f"missions are not accepted: {self.problem}")

    def changed(self, mission: Mission) -> None:
        """Write down what has become of a mission."""
        self._attempt(lambda: self.journal.changed(mission))

    def is_kept(self, mission: Mission) -> bool:
        """Whether everything is on disk that this log was told of a mission."""
        return True

    def when_kept(self, mission: Mission, tell: Callable[[], None]) -> None:
        """Call `tell` as soon as `is_kept`: at once, or within a later `settle`, in order."""
        tell()

    def settle(self) -> list[tuple[Mission, str]]:
        """Do what the disk has made possible; to be called often, it does not wait.

        Returns:
            missions that turned out not to be acceptable, and why: they have to end with BUSY.
        """
        return []

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until all is on disk, or cannot be written, at most `timeout` seconds."""

    def _attempt(self, write: Callable[[], bool]) -> None:
        try:
            if write():
                self.problem = self._lasting
        except JournalError as error:
            if str(error) != self.problem:
                self._tell(str(error))
            self.problem = str(error)


def _require_writable(path: Path) -> None:
    """SQLite itself tells of an I/O error.

    Raises:
        PermissionError: file or folder is read-only.
    """
    for each in (path, path.parent):
        if each.exists() and not os.access(each, os.W_OK, effective_ids=True):
            raise PermissionError(f"{each} is read-only")


def _essence(mission: Mission) -> tuple[object, ...]:
    """What is worth a write when it changes."""
    return int(mission.state), mission.steps_done, mission.interruptions


def _mission(row: tuple[Any, ...]) -> Mission:
    request, accepted, state, code, text, started, ended, steps_done, interruptions = row
    return Mission(
        request=request_from_text(request),
        accepted_at=accepted,
        state=State(state),
        code=Code(code),
        text=text,
        started_at=started,
        ended_at=ended,
        steps_done=steps_done,
        interruptions=interruptions,
    )
