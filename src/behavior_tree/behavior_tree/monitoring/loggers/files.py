# SPDX-License-Identifier: Apache-2.0
"""Opening of log files, with errors that say what to do."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, cast

from behavior_tree.errors import BehaviorTreeError


def create_file(path: Path, user: str) -> BinaryIO:
    """Open a new or emptied file; raises BehaviorTreeError.

    Args:
        path: the file
        user: who writes it, for the message
    """
    try:
        return cast("BinaryIO", path.open("wb"))
    except OSError as error:
        raise cannot_write(path, user, error) from error


def cannot_write(path: Path, user: str, error: Exception) -> BehaviorTreeError:
    """What to raise if a file cannot be written."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return BehaviorTreeError(
        f"{user}: cannot write '{path}': {why}: give a file in a folder that exists, may be "
        "written and has room"
    )
