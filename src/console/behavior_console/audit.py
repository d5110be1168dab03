# SPDX-License-Identifier: Apache-2.0
"""The audit: every command of every page, with who asked for it and what was answered.

One JSON object a line; of a file that has grown long one older is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_console.protocol import Answer, Role

LONGEST_FILE = 10_000_000
"""[bytes]."""
_LONGEST_TEXT = 500


@dataclass(frozen=True)
class AuditEntry:
    """One command."""

    wall: float
    """[s] since 1970."""
    who: str
    """Name that the page gave, and number of its connection."""
    role: Role
    command: str
    args: Mapping[str, Any]
    answer: Answer

    def row(self) -> dict[str, Any]:
        """As plain values; long texts are cut."""
        return {
            "wall": round(self.wall, 3),
            "who": self.who,
            "role": self.role.word,
            "command": self.command,
            "args": _cut(_text(self.args)),
            "ok": self.answer.ok,
            "message": _cut(self.answer.message),
        }


@dataclass
class Audit:
    """Keeps the entries in a file, and hands them on."""

    file: Path | None
    """None: they are only handed on."""
    hand_on: Callable[[AuditEntry], None]
    warn: Callable[[str], None]
    """Is given what goes wrong, for the log; that the file cannot be written only once."""
    _warned: bool = field(default=False)

    def note(self, entry: AuditEntry) -> None:
        """Keep an entry."""
        self.hand_on(entry)
        if self.file is None:
            return
        line = json.dumps(entry.row(), ensure_ascii=False)
        try:
            self._write(self.file, line)
        except OSError as error:
            if not self._warned:
                self._warned = True
                self.warn(f"commands cannot be written down in {self.file}: {error.strerror}")

    def _write(self, file: Path, line: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_size > LONGEST_FILE:
                file.replace(file.with_name(f"{file.name}.1"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        with open(os.open(file, flags, 0o600), "a", encoding="utf-8") as stream:
            stream.write(line + "\n")


def _text(args: Mapping[str, Any]) -> str:
    """Arguments as JSON; what has no such form, since a page may send anything, otherwise."""
    for write in (_json, repr):
        with contextlib.suppress(TypeError, RecursionError):  # keys that are no texts
            return write(dict(args))
    return "nested too deep to be written down"


def _json(args: dict[str, Any]) -> str:
    return json.dumps(args, default=repr, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
