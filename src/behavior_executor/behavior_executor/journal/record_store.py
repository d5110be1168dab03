# SPDX-License-Identifier: Apache-2.0
"""Records in two files that hold the same, so that damage to one of them loses nothing. No ROS.

The second file is written when the first is on disk, so a crash leaves at most one of them torn.
What is good in either of them counts. A file that is not whole is kept aside under another name,
and both are written anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from behavior_executor.journal.record_file import Place, RecordFile, Scan, line, replace, scan

VERSION = 2
"""Of the files; 1 was an SQLite file."""
AHEAD = 256 * 2**10
"""[bytes] of room that are kept ready where the disk has them."""
_GRAIN = 16 * 2**10
"""[bytes] by which the files grow in turns, so that a disk that fills leaves both the same."""


NOWHERE = Place(-1, -1)
"""Before all records."""


class ForeignFileError(ValueError):
    """A file that is not ours."""


@dataclass
class Found:
    """What the files held."""

    records: list[tuple[Place, bytes]] = field(default_factory=list)
    """In the order in which they were written."""
    lost: int = 0
    """Records known to be missing."""
    lost_up_to: Place = NOWHERE
    """Nothing is missing after this place."""
    damage: list[str] = field(default_factory=list)
    """What is wrong with each file, and where it is kept now."""


class RecordStore:
    """The two files; used by one thread at a time, but for `grow`, `free` and `used`."""

    def __init__(self, path: Path) -> None:
        """Take hold of them: other processes cannot. Call `load` next.

        Args:
            path: the first file; the second has ``.copy`` after its name.

        Raises:
            OSError: the folder cannot be used, or another process has them (BlockingIOError).
        """
        self.paths = (path, path.with_name(path.name + ".copy"))
        self.is_broken = True
        """Whether the files have to be written anew before more can be added."""
        self.count = 0
        """Records in the files."""
        self._files: list[RecordFile] = []
        self._generation = 0
        self._guard = threading.Lock()
        """Of the files while they are exchanged or grow."""
        lock = path.with_name(path.name + ".lock")
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def free(self) -> int:
        """[bytes] of room in both files."""
        return min((file.free for file in self._files), default=0)

    @property
    def used(self) -> int:
        """[bytes] of records in a file."""
        return max((file.used for file in self._files), default=0)

    def load(self) -> Found:
        """Read what is there; where nothing is wrong, the files are ready for more.

        Raises:
            OSError: they cannot be read.
            ForeignFileError: they are not ours.
        """
        scans = [scan(path.read_bytes()) if path.exists() else None for path in self.paths]
        there = [each for each in scans if each is not None]
        if not there or (len(there) == 1 and not there[0].size):
            return Found()
        if len(there) == 1 and not there[0].records:
            raise ForeignFileError("it is no mission journal")
        found = merge(there)
        self._generation = max(each.generation for each in there)
        self._check_version(found)
        for path, each in zip(self.paths, scans, strict=True):
            if each is None:
                found.damage.append(f"{path} is missing")
            elif not each.is_whole:
                found.damage.append(f"{path} is damaged, it is kept as {keep_aside(path)}")
        if not found.damage and there[0].records.keys() == there[1].records.keys():
            self._files = [
                RecordFile(path, each.end) for path, each in zip(self.paths, there, strict=True)
            ]
            self.count = len(there[0].records)
            self.is_broken = False
        return found

    def rewrite(self, payloads: Sequence[bytes], room: int) -> None:
        """Write both files anew, with these records and so much room [bytes].

        Raises:
            OSError: it failed; what was there is there still, or `is_broken`.
        """
        generation = self._generation + 1
        header = json.dumps({"journal": VERSION, "rows": len(payloads)}).encode()
        lines = b"".join(
            line(Place(generation, number), payload)
            for number, payload in enumerate([header, *payloads])
        )
        files: list[RecordFile] = []
        try:
            for path in self.paths:
                files.append(replace(path, lines, room))
                # From here on the files are not the same.
                self.is_broken = True
                self._generation = generation
        except OSError:
            for file in files:
                file.close()
            raise
        with self._guard:
            self._close_files()
            self._files = files
        self.count, self.is_broken = len(payloads) + 1, False

    def append(self, payloads: Sequence[bytes]) -> None:
        """Add records; when this returns, a power cut cannot lose them.

        Raises:
            OSError: it is not known what is written, and `is_broken`.
        """
        lines = b"".join(
            line(Place(self._generation, number), payload)
            for number, payload in enumerate(payloads, self.count)
        )
        try:
            for file in self._files:
                file.append(lines)
        except OSError:
            self.is_broken = True
            raise
        self.count += len(payloads)

    def grow(self, room: int) -> None:
        """See to so much room [bytes], or to as much as the disk has."""
        with self._guard, contextlib.suppress(OSError):
            while self._files and self.free < room:
                for file in sorted(self._files, key=lambda file: file.free):
                    file.grow(_GRAIN)

    def close(self) -> None:
        """Let go of the files."""
        self._close_files()
        os.close(self._lock)

    def _close_files(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    def _check_version(self, found: Found) -> None:
        for place, payload in found.records:
            version = json.loads(payload)["journal"] if place.number == 0 else VERSION
            if version != VERSION:
                raise ForeignFileError(f"it has version {version}, this program knows {VERSION}")


def merge(scans: Sequence[Scan]) -> Found:
    """Put together what is good, and find out what is missing."""
    every = {place: payload for each in scans for place, payload in each.records.items()}
    newest = max((place.generation for place in every), default=-1)
    numbers = {place.number for place in every if place.generation == newest}
    header = every.get(Place(newest, 0))
    last = max(max(numbers, default=0), json.loads(header).get("rows", 0) if header else 0)
    missing = set(range(1, last + 1)) - numbers
    found = Found(lost=len(missing), lost_up_to=Place(newest, max(missing, default=-1)))
    ends = [each.sound_end for each in scans if each.generation == newest]
    if not any(ends):
        found.lost_up_to = Place(newest + 1, 0)
    complete = any(ends) and not missing
    found.records = sorted(
        (place, payload)
        for place, payload in every.items()
        if place.generation == newest or not complete
    )
    return found


def keep_aside(path: Path) -> Path:
    """Give a file a second name, as long as its first one is needed."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}-{time.time_ns() % 10**9:09d}")
    try:
        os.link(path, aside)
    except OSError:  # no second names here, or no room for one
        with contextlib.suppress(OSError):
            shutil.copyfile(path, aside)
    return aside
