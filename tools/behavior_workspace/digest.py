# SPDX-License-Identifier: Apache-2.0
"""Digests that tell whether a step's inputs changed, and stamps that remember them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(files: Iterable[Path], *, base: Path, salt: Iterable[str] = ()) -> str:
    """Hex digest of the contents and of the names below `base` of `files`, and of `salt`."""
    summary = hashlib.sha256()
    for text in salt:
        summary.update(text.encode() + b"\0")
    for file in sorted(files):
        summary.update(file.relative_to(base).as_posix().encode() + b"\0")
        summary.update(hashlib.sha256(file.read_bytes()).digest())
    return summary.hexdigest()[:32]


def is_stamped(stamp: Path, value: str) -> bool:
    """Whether the step behind `stamp` was completed with the inputs `value`."""
    try:
        return stamp.read_text(encoding="ascii").strip() == value
    except (OSError, UnicodeDecodeError):
        return False


def write_stamp(stamp: Path, value: str) -> None:
    """Remember that the step behind `stamp` was completed with the inputs `value`."""
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(value + "\n", encoding="ascii")
