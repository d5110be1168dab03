# SPDX-License-Identifier: Apache-2.0
"""Reads journals of the first version, which were SQLite files. No ROS."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from behavior_executor.journal.mission_row import MissionRow
from behavior_executor.missions.request_text import request_from_text

_MAGIC = b"SQLite format 3\0"
_APPLICATION = 0x6265_6861
_COLUMNS = (
    "number, action_id, state, code, text, steps_done, interruptions, accepted, started, ended,"
    " request"
)


def is_sqlite(path: Path) -> bool:
    """Whether a file is an SQLite file.

    Raises:
        OSError: it cannot be read.
    """
    if not path.exists():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read_v1(path: Path) -> tuple[list[MissionRow], str]:
    """All rows that can be read, and what is wrong with the file; empty: nothing.

    Raises:
        ValueError: it is no journal.
        sqlite3.Error: it cannot be opened, such as when another process has it.
    """
    rows: dict[int, MissionRow] = {}
    wrong = ""
    with contextlib.closing(sqlite3.connect(path, timeout=2.0, isolation_level=None)) as database:
        run = database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        if run("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise ValueError("it is another program's database")
        version = run("PRAGMA user_version").fetchone()[0]
        if version != 1:
            raise ValueError(f"its schema has version {version}, this program knows 1")
        # A damaged page ends a walk: walk from both ends.
        for order in ("ASC", "DESC"):
            try:
                for values in run(f"SELECT {_COLUMNS} FROM missions ORDER BY number {order}"):
                    row = _row(values)
                    if row is None:
                        wrong = f"mission {values[0]} ({values[1]}) makes no sense"
                    else:
                        rows[row.number] = row
            except sqlite3.DatabaseError as error:
                wrong = str(error)
    return [rows[number] for number in sorted(rows)], wrong


def _row(values: tuple[Any, ...]) -> MissionRow | None:
    """One row, if it makes a mission."""
    *head, request = values
    names = [name for name in MissionRow._fields if name not in ("parts", "request")]
    try:
        parts = len(request_from_text(request).parts)
        row = MissionRow(**dict(zip(names, head, strict=True)), parts=parts, request=request)
        row.mission()
    except (ValueError, TypeError):
        return None
    return row
