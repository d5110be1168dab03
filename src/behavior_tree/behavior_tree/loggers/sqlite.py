# SPDX-License-Identifier: Apache-2.0
"""`SqliteLogger`: status changes in a SQLite database, in the schema of BehaviorTree.CPP."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.loggers.base import StatusChangeLogger
from behavior_tree.loggers.document import tree_document
from behavior_tree.loggers.files import cannot_write
from behavior_tree.node import RUNNING, TreeNode
from behavior_tree.structure import StructureChange
from behavior_tree.tree import Tree

__all__ = ["SqliteLogger"]

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
_BATCH = 1000
_INTERVAL = 1_000_000
"""Longest time that changes are held back while others follow [us]."""

_PATIENCE = 5
"""Longest wait for a lock outside of ticks [s]."""
_MAX_HELD = 1_000_000
"""Changes that are kept at most while the database is locked."""

ExtraData = Callable[[int, TreeNode, NodeStatus, NodeStatus], str]
"""From time [us], node, previous and new status to the text of ``extra_data``."""


class SqliteLogger(StatusChangeLogger):
    """Writes a session to a database.

    Changes are collected and written in batches, at least once a second while changes go on; a
    batch takes a few milliseconds of the ticking thread. While another program has locked the
    database, they are kept for the next batch. An edit of the live tree begins another session,
    with the edited tree.

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
        self._rows: list[tuple[int, int, int, int, int, str]] = []
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
        self._written = time.time_ns() // 1000
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
        """Fill the column ``extra_data`` with what ``callback`` returns for each change."""
        self._extra = callback

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        self._last = timestamp = max(timestamp, self._last + 1)  # the time is the key of the row
        uid = node.uid()
        duration = 0
        if new is RUNNING:
            self._started[uid] = timestamp
        elif previous is RUNNING:
            duration = timestamp - self._started.pop(uid, timestamp)
        extra = self._extra(timestamp, node, previous, new) if self._extra is not None else ""
        self._rows.append((timestamp, self._session, uid, duration, new.value, extra))
        if len(self._rows) >= _BATCH or timestamp - self._written > _INTERVAL:
            self._written = timestamp
            self.flush()

    def restructured(self, change: StructureChange) -> None:
        self.flush()
        self._database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
        self._session = self._open_session(append=True)
        self._database.execute("PRAGMA busy_timeout = 0")

    def flush(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        try:
            with self._database as database:
                database.executemany("INSERT INTO Transitions VALUES (?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or len(rows) > _MAX_HELD:
                raise
            self._rows = rows + self._rows

    def finish(self) -> None:
        try:
            self._database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
            self.flush()
        finally:
            self._database.close()

    def __str__(self) -> str:
        return f"SqliteLogger({self._path})"
