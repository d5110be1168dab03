# SPDX-License-Identifier: Apache-2.0
"""The scene's memory in one SQLite file: saved scenes by name, and where things were seen.

A scene is saved or replaced in one transaction: after a crash it is the old one or the new one,
never half of it. Sightings are bounded: the oldest go first, but the newest one of each object
stays longer than the others. The file is in write-ahead mode, so a killed process loses nothing
that it has written; saving a scene waits for the disk, noting sightings does not.

The file belongs to this module: its version is in ``PRAGMA user_version``, files of newer versions
are refused, those of older ones brought up to date by `_MIGRATIONS`. No ROS here, no clock.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from behavior_scene.objects.saved_objects import SavedObject, SavedObjectError, saved_object

_APPLICATION = 0x6265_7363
"""Marks the file as ours (``PRAGMA application_id``)."""
_MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE scenes (name TEXT PRIMARY KEY, frame TEXT NOT NULL, stamp REAL NOT NULL);
    CREATE TABLE objects (
        scene TEXT NOT NULL REFERENCES scenes(name) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (scene, position)
    );
    CREATE TABLE sightings (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        class TEXT NOT NULL,
        frame TEXT NOT NULL,
        stamp REAL NOT NULL,
        x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
        qx REAL NOT NULL, qy REAL NOT NULL, qz REAL NOT NULL, qw REAL NOT NULL,
        confidence REAL NOT NULL
    );
    CREATE INDEX sightings_of_name ON sightings (name, number);
    CREATE INDEX sightings_of_class ON sightings (class, number);
    """,
)
"""What brings the file from each version to the next."""
SCHEMA_VERSION = len(_MIGRATIONS)
_COLUMNS = "name, class, frame, stamp, x, y, z, qx, qy, qz, qw, confidence"


class StorageError(Exception):
    """The memory cannot be used; the message names the file and says what to do."""


class UnknownMemoryError(KeyError):
    """No scene was saved under this name."""


@dataclass(frozen=True, slots=True)
class Sighted:
    """Where an object was when."""

    name: str
    class_id: str
    frame: str
    stamp: float
    """[s]."""
    position: tuple[float, float, float]
    """[m] in `frame`."""
    quaternion: tuple[float, float, float, float]
    """x, y, z, w."""
    confidence: float


class SceneMemory:
    """An open memory; to be closed, and used by one thread at a time."""

    def __init__(self, path: Path | None = None, *, capacity: int = 100_000) -> None:
        """Open or make the file.

        Args:
            path: the file, its folder is made; None: in memory, lost with the process.
            capacity: sightings that are kept at least, and twice as many at most.

        Raises:
            StorageError: it cannot be opened, or is no memory of a version known here.
        """
        self.path = path
        self._capacity = capacity
        with self._errors("opened"):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path or ":memory:", timeout=2.0, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # ------------------------------------------------------------------ scenes

    def save(self, name: str, frame: str, stamp: float, objects: Iterable[SavedObject]) -> None:
        """Keep a scene under a name, in place of one that bears it.

        Args:
            name: of the memory.
            frame: fixed frame of the poses.
            stamp: when [s].
            objects: all of them.

        Raises:
            StorageError: it was not saved; what was there before still is.
        """
        rows = [(name, i, saved.text()) for i, saved in enumerate(objects)]
        with self._errors("written"), self._transaction(durable=True):
            self._database.execute("DELETE FROM scenes WHERE name = ?", (name,))
            self._database.execute("INSERT INTO scenes VALUES (?, ?, ?)", (name, frame, stamp))
            self._database.executemany("INSERT INTO objects VALUES (?, ?, ?)", rows)

    def restore(self, name: str) -> tuple[str, list[SavedObject]]:
        """Frame and objects of a saved scene.

        Raises:
            UnknownMemoryError: nothing was saved under this name.
            StorageError: it cannot be read.
        """
        with self._errors("read"):
            found = self._database.execute("SELECT frame FROM scenes WHERE name = ?", (name,))
            row = found.fetchone()
            if row is None:
                raise UnknownMemoryError(name)
            texts = self._database.execute(
                "SELECT data FROM objects WHERE scene = ? ORDER BY position", (name,)
            )
            return str(row[0]), [saved_object(text) for (text,) in texts]

    def names(self) -> list[str]:
        """Names of the saved scenes; raises `StorageError`."""
        with self._errors("read"):
            rows = self._database.execute("SELECT name FROM scenes ORDER BY name")
            return [str(name) for (name,) in rows]

    # ------------------------------------------------------------------ sightings

    def note(self, sightings: Sequence[Sighted]) -> None:
        """Add sightings, oldest first; raises `StorageError`."""
        rows = [
            (s.name, s.class_id, s.frame, s.stamp, *s.position, *s.quaternion, s.confidence)
            for s in sightings
        ]
        marks = ", ".join("?" * 12)
        with self._errors("written"), self._transaction(durable=False):
            self._database.executemany(f"INSERT INTO sightings ({_COLUMNS}) VALUES ({marks})", rows)
            self._forget()

    def where_seen(
        self, *, name: str = "", class_id: str = "", since: float = 0.0, limit: int = 0
    ) -> list[Sighted]:
        """Sightings, those noted last first.

        Args:
            name: of the object; empty: any.
            class_id: empty: any.
            since: not older than this [s].
            limit: how many; 0: the newest one of each object.

        Raises:
            StorageError: they cannot be read.
        """
        wanted = (
            "(:name = '' OR name = :name) AND (:class = '' OR class = :class) AND stamp >= :since"
        )
        if limit == 0:
            newest = f"SELECT max(number) FROM sightings WHERE {wanted} GROUP BY name"
            query = f"SELECT {_COLUMNS} FROM sightings WHERE number IN ({newest})"
        else:
            query = f"SELECT {_COLUMNS} FROM sightings WHERE {wanted}"
        query += " ORDER BY number DESC LIMIT :limit"
        values = {"name": name, "class": class_id, "since": since, "limit": limit or -1}
        with self._errors("read"):
            return [_sighted(row) for row in self._database.execute(query, values)]

    def knows(self, name: str) -> bool:
        """Whether an object of this name was ever seen; raises `StorageError`."""
        with self._errors("read"):
            found = self._database.execute("SELECT 1 FROM sightings WHERE name = ?", (name,))
            return found.fetchone() is not None

    def _forget(self) -> None:
        """Drop what is more than the capacity."""
        (newest,) = self._database.execute("SELECT max(number) FROM sightings").fetchone()
        if newest is None:
            return
        old = newest - self._capacity
        self._database.execute(
            "DELETE FROM sightings WHERE number <= ? AND (number <= ? OR number <"
            " (SELECT max(number) FROM sightings AS newer WHERE newer.name = sightings.name))",
            (old, old - self._capacity),
        )

    # ------------------------------------------------------------------ the file

    def _prepare(self) -> None:
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application not in (0, _APPLICATION) or (application == 0 and tables):
            raise StorageError(f"{self.path} is no memory of a scene: choose another file")
        if version > SCHEMA_VERSION:
            raise StorageError(
                f"{self.path} has version {version}, this program knows {SCHEMA_VERSION} at most: "
                "choose another file, or use the newer program"
            )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA foreign_keys = ON")
        for number in range(version, SCHEMA_VERSION):
            with self._transaction(durable=True):
                for statement in _MIGRATIONS[number].split(";"):
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._database.execute(f"PRAGMA user_version = {number + 1}")

    @contextlib.contextmanager
    def _transaction(self, *, durable: bool) -> Iterator[None]:
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            self._database.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, SavedObjectError) as error:
            raise StorageError(
                f"The scene's memory {self.path or '(not in a file)'} cannot be {what}: {error}. "
                "See that the disk has room and the file may be written, or set the parameter "
                "`memory` to another file."
            ) from error


def _sighted(row: tuple[Any, ...]) -> Sighted:
    name, class_id, frame, stamp, x, y, z, qx, qy, qz, qw, confidence = row
    return Sighted(name, class_id, frame, stamp, (x, y, z), (qx, qy, qz, qw), confidence)
