# SPDX-License-Identifier: Apache-2.0
"""What stands in the files of trees, so that it can be told whether one was edited since. No ROS.

Looking takes some tenths of a millisecond, so that it can be done while a mission ticks: nothing is
built, and a file is parsed again only where it holds something else than before.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from behavior_tree import BehaviorTreeError
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.files import read_document
from behavior_tree.xml.loader import included_file

_LENGTH = 16
"""Characters of a digest: who edits a file has no reason to make one that looks the same."""


def digest(data: bytes) -> str:
    """Tells contents of files apart; never empty."""
    return hashlib.sha256(data).hexdigest()[:_LENGTH]


def edited_files(before: Mapping[str, str], now: Mapping[Path, bytes]) -> list[str]:
    """The files that do not hold what they held before. One that is new is included by one of them.

    Args:
        before: digests, as `TreeDigests.of` gives them.
        now: contents.
    """
    looked_at = ((str(file), data) for file, data in now.items() if str(file) in before)
    return [file for file, data in looked_at if before[file] != digest(data)]


class TreeDigests:
    """Looks at files of trees with all that they include."""

    def __init__(self) -> None:
        self._includes: dict[Path, tuple[str, list[Path]]] = {}
        """Of each file: what it held when it was parsed, and which files it includes."""

    def of(self, file: Path) -> dict[str, str]:
        """Digests by path of a file and of all that it includes, as they are now; of one that
        cannot be read an empty text.
        """
        found: dict[str, str] = {}
        to_read = [file]
        while to_read:
            read = to_read.pop()
            path = Path(os.path.normpath(read.absolute()))  # as who loads it calls it
            if str(path) in found:
                continue
            try:
                data = read_document(read)
            except (OSError, ValueError):
                found[str(path)] = ""
                continue
            found[str(path)] = digest(data)
            to_read += self._included(path, data, found[str(path)])
        return found

    def _included(self, path: Path, data: bytes, version: str) -> list[Path]:
        known, includes = self._includes.get(path, ("", []))
        if known != version:
            includes = _includes_of(data, path)
            self._includes[path] = version, includes
        return includes


def _includes_of(data: bytes, file: Path) -> list[Path]:
    """The files that a document includes; of what is wrong with it whoever loads it is told."""
    found = []
    with suppress(BehaviorTreeError):
        for child in parse_xml(data, str(file)).children:
            if child.tag == "include":
                with suppress(LookupError):
                    found.append(included_file(child, file.parent))
    return found
