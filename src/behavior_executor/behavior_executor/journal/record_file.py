# SPDX-License-Identifier: Apache-2.0
r"""One file of numbered records with checksums, and blank room after them. No ROS.

A record is a line: ``CRC32 GENERATION:NUMBER JSON``. Numbers count from 0 without a gap, so that
one which is missing is noticed. After the last record come blank lines, room that is on the disk
already: writing there cannot fail for want of space and changes no size. As there is always some
left, an end that is not blank was damaged, and so was a file that has none.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FLOOR = 64
"""[bytes] of room that are never used, by which one knows that a file was not cut."""
_BLANK = b"\n"


class Place(NamedTuple):
    """Where a record stands."""

    generation: int
    """How often the file had been written anew."""
    number: int
    """Of the record within its generation."""


def line(place: Place, payload: bytes) -> bytes:
    """A record as it is written; `payload` is JSON in one line."""
    body = b"%d:%d %s" % (*place, payload)
    return b"%08x %s\n" % (zlib.crc32(body), body)


@dataclass
class Scan:
    """What a file was found to hold."""

    records: dict[Place, bytes] = field(default_factory=dict)
    """The good ones."""
    unreadable: int = 0
    """Lines that are no good records."""
    end: int = 0
    """[bytes] Where the room begins."""
    size: int = 0
    """[bytes] Of the file."""
    sound_end: bool = False
    """Whether nothing can have stood after the last record."""

    @property
    def generation(self) -> int:
        """The newest; -1: none."""
        return max((place.generation for place in self.records), default=-1)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing or damaged."""
        numbers = {place.number for place in self.records}
        return (
            self.sound_end
            and not self.unreadable
            and len(numbers) == len(self.records) == max(numbers) + 1
        )


def scan(content: bytes) -> Scan:
    """Read whatever can be read."""
    found = Scan(size=len(content))
    position = 0
    for text in content.split(_BLANK):
        position += len(text) + 1
        if not text:
            continue
        record = _record(text)
        # What follows the last line break is not a record yet.
        if record is None or position > len(content):
            found.unreadable += 1
        else:
            found.records[record[0]] = record[1]
            found.end = position
    room = content[found.end :]
    found.sound_end = bool(found.records) and len(room) >= FLOOR and not room.strip(_BLANK)
    return found


def _record(text: bytes) -> tuple[Place, bytes] | None:
    try:
        crc, body = text.split(b" ", 1)
        place, payload = body.split(b" ", 1)
        generation, number = place.split(b":")
        good = len(crc) == 8 and int(crc, 16) == zlib.crc32(body)
        return (Place(int(generation), int(number)), payload) if good else None
    except ValueError:
        return None


class RecordFile:
    """A file that is open for writing more; one thread may call `append`, another one `grow`."""

    def __init__(self, path: Path, end: int) -> None:
        """Open a file whose room begins at `end` [bytes].

        Raises:
            OSError: it cannot be opened.
        """
        self.path = path
        self._end = end
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._size = os.fstat(self._file).st_size

    @property
    def free(self) -> int:
        """[bytes] of room."""
        return self._size - self._end - FLOOR

    @property
    def used(self) -> int:
        """[bytes] of records."""
        return self._end

    def append(self, lines: bytes) -> None:
        """Write into the room; when this returns, a power cut cannot lose it.

        Args:
            lines: at most `free` bytes.

        Raises:
            OSError: it is not known what is written.
        """
        self._require_in_place()
        _write(self._file, lines, self._end)
        os.fdatasync(self._file)
        self._end += len(lines)

    def grow(self, count: int) -> None:
        """Add so much room.

        Raises:
            OSError: there is less of it.
        """
        try:
            _write(self._file, _BLANK * count, self._size)
        finally:
            self._size = os.fstat(self._file).st_size

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)

    def _require_in_place(self) -> None:
        """Somebody may have removed or cut it: what is written then would be gone.

        Raises:
            OSError: it is not the file that has this path, or it is shorter.
        """
        size = self._size  # first, since it may grow meanwhile
        own = os.fstat(self._file)
        try:
            in_place = os.path.samestat(os.stat(self.path), own) and own.st_size >= size
        except FileNotFoundError:
            in_place = False
        if not in_place:
            raise OSError(f"{self.path} was taken away or cut")


def replace(path: Path, lines: bytes, room: int) -> RecordFile:
    """Put a new file in the place of what is there, all or nothing.

    Raises:
        OSError: what was there is still there.
    """
    new = path.with_name(path.name + ".new")
    try:
        file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            _write(file, lines + _BLANK * (room + FLOOR), 0)
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return RecordFile(path, len(lines))


def sync_folder(folder: Path) -> None:
    """Make sure that new names in a folder outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(file: int, content: bytes, position: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(file, view, position)
        view, position = view[written:], position + written
