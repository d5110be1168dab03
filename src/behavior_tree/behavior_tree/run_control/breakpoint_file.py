# SPDX-License-Identifier: Apache-2.0
"""Breakpoints kept beside a tree file: ``a.xml`` has ``a.breakpoints``, one path a line.

They are not in the XML: they belong to who looks for a fault, not to the behavior, so they have no
place in its diffs; a file may be read-only; a path means one use of a SubTree, while an attribute
would mean all; and Groot2 writes only attributes that the model of a node has.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.xml.files import replace_file

_LARGEST = 1_000_000
"""More is no file of breakpoints [bytes]."""


def breakpoint_file(tree_file: Path) -> Path:
    """Where the breakpoints of a tree file are kept."""
    return tree_file.with_suffix(".breakpoints")


def read_breakpoints(tree_file: Path) -> list[str]:
    """Paths of nodes, in order; none if there is no such file.

    Raises:
        BehaviorTreeError: the file cannot be read
    """
    file = breakpoint_file(tree_file)
    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
        text = data.decode()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BehaviorTreeError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BehaviorTreeError(f"{file} is no text in UTF-8: remove it") from error
    if len(data) > _LARGEST:
        raise BehaviorTreeError(f"{file} has more than {_LARGEST} bytes: remove it")
    return [line.strip() for line in text.splitlines() if line.strip()]


def write_breakpoints(tree_file: Path, paths: Iterable[str]) -> None:
    """Keep breakpoints beside a tree file; with none left their file goes.

    Raises:
        OSError: it cannot be written
    """
    file, lines = breakpoint_file(tree_file), [f"{path}\n" for path in paths]
    if lines:
        replace_file(file, "".join(lines).encode())
    else:
        file.unlink(missing_ok=True)
