# SPDX-License-Identifier: Apache-2.0
"""Whether files of trees are as they were, by their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path


def digest_of(file: Path) -> str:
    """Of what stands in a file now; empty: it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def file_changes(before: Mapping[str, str]) -> list[str]:
    """What of files is not as it was, a sentence each.

    Args:
        before: digests by path.
    """
    changed = (file for file, digest in before.items() if digest_of(Path(file)) != digest)
    return [f"{file} has been edited" for file in sorted(changed)]
