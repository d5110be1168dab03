# SPDX-License-Identifier: Apache-2.0
"""The records of an evaluation on disk: an SQLite file, each record in it as soon as it counts.

A file says what is evaluated and with which versions, so that it goes on only with its own
episodes. It is written by one process at a time and read by any. Episode logs of JSON lines, as
earlier versions wrote them, are read.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.versions import Versions, check_same
from behavior_tree.monitoring.closing import Closing

SUFFIX, OLD_SUFFIX = ".sqlite", ".jsonl"
_APPLICATION = 0x62657661
"""Of the file's header, by which it is known: "beva"."""
_FORMAT = 1
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE versions (id INTEGER PRIMARY KEY, packages TEXT NOT NULL UNIQUE);
CREATE TABLE episodes (
  variant TEXT NOT NULL, seed INTEGER NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL,
  sim_time_s REAL, wall_time_s REAL NOT NULL,
  mission_result TEXT NOT NULL, recording TEXT NOT NULL,
  peak_memory_mb REAL, host TEXT NOT NULL,
  disturbances TEXT NOT NULL, not_disturbed TEXT NOT NULL, parts TEXT NOT NULL,
  variation TEXT NOT NULL, component_metrics TEXT NOT NULL,
  ended TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  versions INTEGER NOT NULL REFERENCES versions (id),
  PRIMARY KEY (variant, seed));
"""
_COLUMNS = tuple(field.name for field in fields(EpisodeRecord))
_JSON = ("disturbances", "not_disturbed", "parts", "variation", "component_metrics")
_PATIENCE = 30.0
"""[s] for another process that reads or writes."""


@dataclass(frozen=True)
class Stored:
    """What a file holds."""

    file: Path
    about: Mapping[str, Any]
    """What is evaluated, by JSON's types."""
    planned: Mapping[str, int]
    """See `EpisodeStore`; empty: unknown."""
    versions: Versions
    """Empty: unknown, of an old episode log."""
    records: Sequence[EpisodeRecord]
    """In the order in which they ended."""


class EpisodeStore(Closing):
    """The records so far, in memory and in a file; use it as a context manager.

    Any thread may call it, one at a time.
    """

    def __init__(
        self,
        file: Path,
        about: Mapping[str, Any],
        versions: Versions,
        *,
        resume: bool,
        planned: Mapping[str, int] | None = None,
    ) -> None:
        """Begin a file, or go on with one.

        Args:
            file: one that is there is kept as `FILE.old`, and its recordings likewise, unless it
                is gone on with.
            about: what is evaluated, by JSON's types.
            versions: of what runs the episodes.
            resume: go on with the episodes that are in the file, or in the log of JSON lines that
                an earlier version wrote beside it; none is fine.
            planned: `seed` of the first episode and how many `episodes` of them there shall be,
                in all shards together; may be others when it is gone on with.

        Raises:
            UsageError: the file holds episodes of something else.
            VersionsDifferError: of another version.
            BringupError: it cannot be read or written, or another process writes it.
        """
        self.file, self.versions = file, versions
        self.records: list[EpisodeRecord] = []
        with self._troubles():
            file.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(file)
        try:
            self._open(about, versions, planned or {}, resume=resume)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(
        self,
        about: Mapping[str, Any],
        versions: Versions,
        planned: Mapping[str, int],
        *,
        resume: bool,
    ) -> None:
        old = self.file.with_suffix(OLD_SUFFIX)
        found = next((each for each in (self.file, old) if each.exists()), None)
        earlier: Sequence[EpisodeRecord] = ()
        if resume and found is not None:
            stored = read(found, remedy=": leave --resume away")
            _check_about(stored, about)
            if stored.versions:
                check_same(stored.versions, versions, "This machine")
            earlier = stored.records
        with self._troubles():
            if found != old and not resume:
                _keep_aside(self.file)
            begin = not self.file.exists()
            # What is there is not there before it is on disk, whatever happens to the machine.
            self._base = sqlite3.connect(self.file, timeout=_PATIENCE, check_same_thread=False)
            self._base.execute("PRAGMA synchronous = FULL")
            if begin:
                self._begin(about)
            with self._base:
                row = ("planned", json.dumps(dict(planned)))
                self._base.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", row)
            self._versions = self._versions_id(versions)
        if begin:
            self.extend(earlier)  # of a log of JSON lines
        else:
            self.records = list(earlier)

    def _begin(self, about: Mapping[str, Any]) -> None:
        self._base.executescript(
            f"BEGIN; PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_FORMAT};"
            f" {_SCHEMA} COMMIT;"
        )
        with self._base:
            rows = [(key, json.dumps(value)) for key, value in about.items()]
            self._base.executemany("INSERT INTO about VALUES (?, ?)", rows)

    def _versions_id(self, versions: Versions) -> int:
        text = json.dumps(dict(versions), sort_keys=True)
        with self._base:
            self._base.execute("INSERT OR IGNORE INTO versions (packages) VALUES (?)", (text,))
        row = self._base.execute("SELECT id FROM versions WHERE packages = ?", (text,)).fetchone()
        return int(row[0])

    def append(self, record: EpisodeRecord) -> bool:
        """Add a record; it is on disk when this returns.

        Returns:
            False if there is one of that episode already, which stays.

        Raises:
            BringupError: it cannot be written.
        """
        return self.extend([record]) == 1

    def extend(self, records: Iterable[EpisodeRecord]) -> int:
        """Add records, all or none; as `append`. Returns how many there were not yet."""
        names, marks = ", ".join(_COLUMNS), ", ".join("?" * len(_COLUMNS))
        command = f"INSERT OR IGNORE INTO episodes ({names}, versions) VALUES ({marks}, ?)"
        added = []
        with self._troubles(), self._base:
            for record in records:
                values = [_to_column(name, value) for name, value in asdict(record).items()]
                if self._base.execute(command, [*values, self._versions]).rowcount:
                    added.append(record)
        self.records += added
        return len(added)

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        """Say in a sentence what the disk has against it."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            why = (error.strerror if isinstance(error, OSError) else str(error)) or str(error)
            if "full" in why or "No space" in why:
                raise BringupError(
                    f"The disk of {self.file} is full: {len(self.records)} episodes are kept in"
                    " it; make room, then the same command with --resume goes on"
                ) from error
            raise BringupError(f"The episodes cannot be written to {self.file}: {why}") from error

    def close(self) -> None:
        """Let others write the file."""
        self._base.close()
        os.close(self._lock)


def read(file: Path, *, remedy: str = "") -> Stored:
    """What a file holds.

    Args:
        file: of a store, or of JSON lines.
        remedy: what to do where it holds something else, for the message.

    Raises:
        UsageError: it is not there or holds no episodes.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}: 'behavior evaluate NAME' writes one")
    try:
        if file.suffix == OLD_SUFFIX:
            return _read_lines(file)
        # Not "ro": what a process that was killed has left half written has to be taken back first.
        address = f"{file.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as base:
            return _read_base(file, base)
    except (ValueError, TypeError, OSError, sqlite3.Error) as error:
        raise UsageError(f"{file} holds no episodes{remedy}") from error


def recordings_beside(file: Path) -> Path:
    """The folder of the recordings of a file's episodes."""
    return file.with_suffix(".recordings")


def _keep_aside(file: Path) -> None:
    """Give a file and its recordings, where they are there, names for what is old; what had these
    goes.
    """
    folder = recordings_beside(file)
    kept, kept_folder = (each.with_name(f"{each.name}.old") for each in (file, folder))
    if not (file.exists() or folder.exists()):
        return
    kept.unlink(missing_ok=True)
    if kept_folder.exists():
        shutil.rmtree(kept_folder)
    if folder.exists():
        folder.rename(kept_folder)
    if file.exists():
        _rename_recordings(file, folder.name, kept_folder.name)
        file.rename(kept)


def _rename_recordings(file: Path, before: str, after: str) -> None:
    """Have a file tell of its recordings in a folder of another name.

    What a killed process has left half written is taken back, too: its journal lies beside the file
    and would not be found any more where the file is renamed.
    """
    command = "UPDATE episodes SET recording = replace(recording, ?, ?) WHERE recording LIKE ?"
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=_PATIENCE)) as base, base:
        base.execute(command, (f"{before}/", f"{after}/", f"{before}/%"))


def _read_base(file: Path, base: sqlite3.Connection) -> Stored:
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise ValueError("the file of another application")
    if version != _FORMAT:
        raise UsageError(f"{file} has format {version}, not {_FORMAT}: another version wrote it")
    about = {key: json.loads(value) for key, value in base.execute("SELECT * FROM about")}
    versions = [json.loads(text) for (text,) in base.execute("SELECT packages FROM versions")]
    rows = base.execute(f"SELECT {', '.join(_COLUMNS)} FROM episodes ORDER BY rowid").fetchall()
    records = [_record(row) for row in rows]
    planned = about.pop("planned", {})
    return Stored(file, about, planned, versions[0] if versions else {}, records)


def _record(row: Sequence[Any]) -> EpisodeRecord:
    values = dict(zip(_COLUMNS, row, strict=True))
    return EpisodeRecord(**{**values, **{name: json.loads(values[name]) for name in _JSON}})


def _to_column(name: str, value: Any) -> Any:
    return json.dumps(value) if name in _JSON else value


def _read_lines(file: Path) -> Stored:
    """A log of JSON lines: what is evaluated, then an episode each; the last line may be torn."""
    text = file.read_text(encoding="utf-8")
    head, *rows = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return Stored(file, dict(head), {}, {}, [EpisodeRecord(**row) for row in rows])


def _check_about(stored: Stored, about: Mapping[str, Any]) -> None:
    """Make sure that a file is of the same evaluation.

    Raises:
        UsageError: it is not.
    """
    for key, wanted in about.items():
        found = stored.about.get(key)
        if found != wanted and not (key not in stored.about and not wanted):
            raise UsageError(
                f"{stored.file} holds episodes with {key} {found}, not {wanted}: ask for the same"
                " again, or leave --resume away"
            )


def _locked(file: Path) -> int:
    """Hold the right to write a file until the descriptor is closed, which is returned.

    Raises:
        BringupError: another process has it.
    """
    # Beside the file: to close another descriptor of the file itself would end SQLite's locks.
    name = file.with_name(f".{file.name}.lock")
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise BringupError(
            f"Another evaluation writes {file}: wait for it, or choose another file with --json"
        ) from error
    return descriptor
