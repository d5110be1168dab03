# SPDX-License-Identifier: Apache-2.0
"""`SqliteLogger`: status changes in a SQLite database, in the schema of BehaviorTree.CPP."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.node import RUNNING, TreeNode
from behavior_tree.kernel.record import Changes
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.base import BatchLogger
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.monitoring.loggers.files import cannot_write

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS Transitions (timestamp INTEGER PRIMARY KEY NOT NULL, "
    "session_id INTEGER NOT NULL, node_uid INTEGER NOT NULL, duration INTEGER, "
    "state INTEGER NOT NULL, extra_data VARCHAR)",
    "CREATE TABLE IF NOT EXISTS Nodes (session_id INTEGER NOT NULL, fullpath VARCHAR, "
    "node_uid INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS Definitions (session_id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "date TEXT NOT NULL, xml_tree TEXT NOT NULL)",
)
_TABLES = ("Transitions", "Nodes", "Definitions")
_INTERVAL = 0.1
"""Time between two transactions while changes go on [s]."""
_MOST = 100_000
"""Rows after which the ticking thread writes them itself, should the other not get to it."""
_SIZES = (1024, 32, 1)
"""Rows per statement: each gives other threads a turn, which may then keep Python for 5 ms."""
_INSERTS = {
    size: "INSERT INTO Transitions VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * size)
    for size in _SIZES
}

_PATIENCE = 5
"""Longest wait for a lock outside of ticks [s]."""
_MAX_HELD = 1_000_000
"""Changes that are kept at most while the database is locked."""

_Row = tuple[int, int, int, int, int, str]
ExtraData = Callable[[int, TreeNode, NodeStatus, NodeStatus], str]
"""From time [us], node, previous and new status to the text of ``extra_data``."""


class SqliteLogger(BatchLogger):
    """Writes a session to a database.

    Changes are written every 0.1 s by a thread, one transaction each time; `flush` writes the rest.
    While another program has locked the database, they are kept for the next time. An edit of the
    live tree begins another session, with the edited tree.

    Args:
        tree: the tree
        filepath: must end in ``.db3`` or ``.btdb``
        append: keep the sessions that are in the file; else they are deleted

    Raises:
        BehaviorTreeError: another extension, or the file cannot be written or is no database
    """

    def __init__(self, tree: Tree, filepath: str | Path, append: bool = False) -> None:
        path = Path(filepath)
        if path.suffix not in (".db3", ".btdb"):
            raise BehaviorTreeError(
                f"SqliteLogger: the file extension must be [.db3] or [.btdb], not '{path.suffix}'"
            )
        self._tree = tree
        self._path = path
        self._rows: list[_Row] = []
        self._adding = threading.Lock()
        self._storing = threading.RLock()
        self._started: dict[int, int] = {}
        self._extra: ExtraData | None = None
        try:
            # Ticks, and with them writes, may come from another thread than this one. They never
            # wait for a lock.
            self._database = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
            self._session = self._open_session(append)
            (last,) = self._database.execute("SELECT MAX(timestamp) FROM Transitions").fetchone()
            self._database.execute("PRAGMA busy_timeout = 0")
        except sqlite3.Error as error:
            raise cannot_write(path, "SqliteLogger", error) from error
        self._last: int = last or 0
        self._stored = time.monotonic()
        super().__init__(tree)

    def _open_session(self, append: bool) -> int:
        with self._database as database:
            for statement in _SCHEMA:
                database.execute(statement)
            if not append:
                for table in _TABLES:
                    database.execute(f"DELETE FROM {table}")
            session = database.execute(
                "INSERT INTO Definitions (date, xml_tree) VALUES (datetime('now', 'localtime'), ?)",
                (tree_document(self._tree),),
            ).lastrowid
            assert session is not None
            nodes = [(session, node.full_path(), node.uid()) for node in self._tree.nodes()]
            database.executemany("INSERT INTO Nodes VALUES (?, ?, ?)", nodes)
        return session

    def set_additional_callback(self, callback: ExtraData | None) -> None:
        """Fill the column ``extra_data`` with what ``callback`` returns for each change; it is
        called within the tick, at the change.
        """
        self._unsubscribe()
        self._extra = callback
        if callback is None:
            self._unsubscribe = self._tree.subscribe_changes(self)
        else:
            self._unsubscribe = self._tree.subscribe_status_change(self._changed)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        """With a callback for ``extra_data``."""
        extra = self._extra(timestamp, node, previous, new) if self._extra is not None else ""
        with self._adding:
            self._rows.append(self._row(timestamp, node, previous, new, extra))
        self.store()

    def write(self, changes: Changes) -> None:
        times = self.epoch_us(changes.times)
        rows = zip(times, changes.nodes, changes.previous, changes.new, strict=True)
        with self._adding:
            self._rows.extend([self._row(*row, "") for row in rows])
        if len(self._rows) > _MOST:
            self._commit()

    def _row(
        self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus, extra: str
    ) -> _Row:
        if timestamp <= self._last:  # the time is the key of the row
            timestamp = self._last + 1
        self._last = timestamp
        uid = node._config.uid
        duration = 0
        if new is RUNNING:
            self._started[uid] = timestamp
        elif previous is RUNNING:
            duration = timestamp - self._started.pop(uid, timestamp)
        return (timestamp, self._session, uid, duration, new._value_, extra)

    def store(self) -> None:
        if time.monotonic() - self._stored > _INTERVAL:
            self._commit()

    def _commit(self) -> None:
        with self._storing:
            with self._adding:
                rows, self._rows = self._rows, []
            try:
                if rows:
                    self._insert(rows)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or len(rows) > _MAX_HELD:
                    raise
                with self._adding:
                    self._rows = rows + self._rows
            finally:
                self._stored = time.monotonic()

    def _insert(self, rows: list[_Row]) -> None:
        begin = 0
        with self._database as database:
            for size in _SIZES:
                while begin + size <= len(rows):
                    part = rows[begin : begin + size]
                    database.execute(_INSERTS[size], list(chain.from_iterable(part)))
                    begin += size

    def restructured(self, change: StructureChange) -> None:
        with self._storing:
            self._commit()
            self._database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
            self._session = self._open_session(append=True)
            self._database.execute("PRAGMA busy_timeout = 0")

    def flush(self) -> None:
        super().flush()
        self._commit()

    def finish(self) -> None:
        with self._storing:
            try:
                self._database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
                self._commit()
            finally:
                self._database.close()

    def __str__(self) -> str:
        return f"SqliteLogger({self._path})"
