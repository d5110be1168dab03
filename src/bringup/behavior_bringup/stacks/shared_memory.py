# SPDX-License-Identifier: Apache-2.0
"""Gives back the shared memory of processes that were killed.

Every participant of Fast DDS has a segment of half a megabyte in /dev/shm, and holds a lock on a
file beside it (`..._el`). Who ends removes both; who is killed leaves both, but no lock. A robot
whose processes are restarted for weeks would fill its shared memory, a container its 64 MB soon.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from pathlib import Path

FOLDER = Path("/dev/shm")
YOUNG = 60.0
"""[s] for which a segment is left alone: its maker makes the file before it takes the lock."""

_LOCK = re.compile(r"fastrtps_[0-9a-f]{16}_el")


def sweep(folder: Path = FOLDER, *, young: float = YOUNG) -> int:
    """Remove this user's abandoned segments; returns how many there were.

    Args:
        folder: of the shared memory; nothing is done where it is absent.
        young: [s] of age up to which segments are left alone.
    """
    count = 0
    with contextlib.suppress(OSError):
        for lock in folder.iterdir():
            if _LOCK.fullmatch(lock.name) and _is_ours(lock, young) and is_abandoned(lock):
                for file in (lock.with_name(lock.name.removesuffix("_el")), lock):
                    with contextlib.suppress(OSError):
                        file.unlink()
                count += 1
    return count


def is_abandoned(lock: Path) -> bool:
    """Whether nobody holds the lock of a segment."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_ours(lock: Path, young: float) -> bool:
    try:
        status = lock.lstat()
    except OSError:
        return False
    return status.st_uid == os.getuid() and time.time() - status.st_mtime > young
