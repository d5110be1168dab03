# SPDX-License-Identifier: Apache-2.0
"""Whether files of trees are as they were, by their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_of(file: Path) -> str:
    """Of what stands in a file now; empty: it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def digests_of(files: Iterable[str]) -> dict[str, str]:
    """What stands in each of the files now, by its path."""
    return {file: digest_of(Path(file)) for file in files}
