# SPDX-License-Identifier: Apache-2.0
"""Documents on disk: read only if they are sensible files, replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

MAX_BYTES = 64 * 2**20
"""Largest document that is read."""


def read_document(path: Path) -> bytes:
    """Contents of a regular file of sensible size: a pipe or a device might never end.

    Raises:
        OSError: it cannot be read
        ValueError: it is no regular file, or too large
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is a directory" if path.is_dir() else "it is not a regular file")
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 2**20} MiB")
    return data


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it; its mode and links to it stay.

    Raises:
        OSError: it cannot be written; the old one is still there
    """
    try:
        _replace(Path(os.path.realpath(path)), data)
    except OSError as error:  # nobody knows the name of the file that is written first
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name with no content
        mode = path.stat().st_mode if path.exists() else 0o644
        Path(name).chmod(mode & 0o7777)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
