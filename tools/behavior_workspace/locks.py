# SPDX-License-Identifier: Apache-2.0
"""Locks between setups that run at once, in any of a user's checkouts: they share its cache."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Only one process of this user is in here; others wait."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
