# SPDX-License-Identifier: Apache-2.0
"""What was asked and decided, a JSON line each, on disk before it is answered. No ROS."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from behavior_tree.shown_text import shorten

LONGEST_VALUE = 2000
"""Characters of a value; longer ones are shortened."""


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Audit:
    """A file of JSON lines, which only this user can read; several processes may write it."""

    def __init__(self, file: Path, clock: Callable[[], str] = now) -> None:
        """Write to a file, which is made with the first line.

        Args:
            file: of it.
            clock: tells the time.
        """
        self.file = file
        self._clock = clock

    def record(self, what: str, /, **values: Any) -> None:
        """Add a line; it is on disk when this returns.

        Args:
            what: has happened, in a word.
            values: of it, by JSON's types.

        Raises:
            OSError: it cannot be written.
        """
        shown = {name: _short(value) for name, value in values.items()}
        line = json.dumps({"time": self._clock(), "what": what, **shown}, default=str)
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self.file, flags, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            with os.fdopen(handle, "wb", closefd=False) as stream:
                stream.write(f"{line}\n".encode())
                stream.flush()
            os.fsync(handle)
        finally:
            os.close(handle)


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, LONGEST_VALUE)
    if isinstance(value, Mapping):
        return {str(name)[:100]: _short(each) for name, each in list(value.items())[:50]}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value[:50]]
    return value
