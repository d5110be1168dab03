# SPDX-License-Identifier: Apache-2.0
"""`BlackBox`: the last minutes, always there, and kept when something went wrong.

Messages go into short files, one after the other; the oldest are deleted when they are too old or
all together too large. Each begins with all that is needed to understand it alone: what is told
once and for all, such as the robot's description, and the state of the tree. To keep what there is
means to merge the files into one, which a thread does while new ones are written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from behavior_recording.errors import RecordingError
from behavior_recording.mcap_file import McapFile, Safe
from behavior_recording.recording import RecordedMessage, Recording
from behavior_recording.torn_file import lock

SEGMENTS = 8
"""Files in which the time that is kept is cut."""
_BEGUN = "begun"
_NUMBER = "[0-9]" * 20
"""A time [ns] in names of files; others may lie beside them."""
_SEGMENT = f"segment-{_NUMBER}.mcap"
_KEPT = f"{_NUMBER}-*.mcap"

Prologue = Callable[[McapFile, int], None]
"""Writes what a file begins with, with times up to the given one [ns]."""


@dataclass(frozen=True)
class Limits:
    """How much a black box holds."""

    seconds: float = 600.0
    """[s] at least, as long as the size allows it."""
    bytes: int = 256 << 20
    """[bytes] of the ring at most."""
    kept: int = 10
    """Recordings that are kept; the oldest is deleted for a newer one."""


class FolderTaken(RecordingError):
    """Another black box is kept in this folder just now."""


class BlackBox:
    """A ring of files in a folder, which it has for itself until it is finished or abandoned.

    Args:
        folder: for the ring, ``kept`` below it for what is kept; what an earlier one left of its
            ring is there still, and part of what is kept next
        limits: sizes
        warn: is given what went wrong while something was kept

    Raises:
        FolderTaken: another one is kept there
        RecordingError: the folder cannot be written
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.prologue: Prologue | None = None
        """Writes what each file begins with."""
        self._limits = limits
        self._warn = warn
        self._lock: int | None = None
        """Descriptor of the folder, which nobody else can lock meanwhile."""
        self._file: McapFile | None = None
        self._begun = self._last = 0
        self._segment_size = limits.bytes / SEGMENTS
        """[bytes] that a file has at least, unless it is ended before for its age."""
        self._messages = 0
        self._keeper: threading.Thread | None = None
        try:
            (folder / "kept").mkdir(parents=True, exist_ok=True)
            self._own(folder)
            for left in folder.glob("keeping-*"):  # by one that was killed
                shutil.rmtree(left, ignore_errors=True)
            for left in folder.glob("kept/*.part"):
                left.unlink()
        except OSError as error:
            self._let_go()
            raise RecordingError(f"{folder} cannot be made: {error.strerror}") from error

    def _own(self, folder: Path) -> None:
        self._lock = os.open(folder, os.O_RDONLY)
        if not lock(self._lock):
            self._let_go()
            raise FolderTaken(f"another black box is kept in {folder}: end it first")

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def add(
        self, topic: str, message_type: str, data: bytes, *, log_time: int, publish_time: int = 0
    ) -> None:
        """Add a message; see `McapFile.add`."""
        file = self._file
        if file is None or self._is_full(file, log_time):
            file = self._next(log_time)
        file.add(topic, message_type, data, log_time=log_time, publish_time=publish_time)
        self._last = log_time
        self._messages += 1

    def secure(self) -> Safe:
        """Put everything that was added on the disk; see `McapFile.secure`."""
        if self._file is None:
            return Safe()
        return Safe(self._messages, self._file.secure().bytes)

    def finish(self) -> None:
        """Complete the file that is being written, and wait for what is being kept.

        Raises:
            RecordingError: it cannot be completed
        """
        file, self._file = self._file, None
        try:
            if file is not None:
                file.finish()
        finally:
            self.wait()
            self._let_go()

    def wait(self) -> None:
        """Wait for what is being kept."""
        if self._keeper is not None:
            self._keeper.join()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        if self._file is not None:
            self._file.abandon()
            self._file = None
        self._let_go()

    def keep(self, name: str) -> Path | None:
        """Keep what there is, merged into one file, by a thread.

        Args:
            name: of the file, without its suffix; the time is put before it

        Returns:
            The file that is being made; None while another one is.

        Raises:
            RecordingError: that is not possible; the ring goes on
        """
        if self._keeper is not None and self._keeper.is_alive():
            return None
        file, self._file = self._file, None
        if file is not None:
            file.finish()
        held = self._hold()
        # What is kept last has the highest number, also where clocks were set back since.
        newest = max((int(each.name[:20]) for each in self._kept()), default=0)
        number = max(self._last, newest + 1)
        target = self.folder / "kept" / f"{number:020d}-{name}.mcap"
        self._keeper = threading.Thread(target=self._merge, args=(held, target), name="keeper")
        self._keeper.start()
        return target

    def _hold(self) -> Path:
        """Give the files of the ring other names, by which they stay when the ring goes on."""
        held = None
        try:
            held = Path(tempfile.mkdtemp(prefix="keeping-", dir=self.folder))
            for segment in self._segments():
                os.link(segment, held / segment.name)
        except OSError as error:
            if held is not None:
                shutil.rmtree(held, ignore_errors=True)
            raise RecordingError(
                f"the black box in {self.folder} cannot be kept: {error.strerror}; it needs room,"
                " and a file system with hard links"
            ) from error
        return held

    def _merge(self, held: Path, target: Path) -> None:
        try:
            merge(sorted(held.glob(_SEGMENT)), target)
            for old in self._kept()[: -self._limits.kept]:
                old.unlink(missing_ok=True)
        except (RecordingError, OSError) as error:
            self._warn(f"the black box could not be kept: {error}")
        finally:
            shutil.rmtree(held, ignore_errors=True)

    def _is_full(self, file: McapFile, time: int) -> bool:
        return (
            time - self._begun >= 1e9 * self._limits.seconds / SEGMENTS
            or file.size >= self._segment_size
        )

    def _next(self, time: int) -> McapFile:
        if self._file is not None:
            self._file.finish()
        try:
            self._drop_old(time)
        except OSError as error:
            raise RecordingError(f"{self.folder} cannot be used: {error.strerror}") from error
        self._begun = time
        path = self.folder / f"segment-{time:020d}.mcap"
        self._file = McapFile(path, {_BEGUN: str(time)})
        if self.prologue is not None:
            self.prologue(self._file, time - 1)
            # However much that is, as much of what is new has room behind it.
            repeated = self._file.secure().bytes
            self._segment_size = max(self._limits.bytes / SEGMENTS, 2 * repeated)
        return self._file

    def _drop_old(self, time: int) -> None:
        """Delete what is older than the time that is kept, and then what is too much."""
        segments = []
        for segment in self._without_those_to_come(time):
            with suppress(FileNotFoundError):  # somebody has deleted it, see `forget`
                segments.append((segment, _begun(segment), segment.stat()))
        oldest = time - 1e9 * self._limits.seconds
        room = self._limits.bytes - self._segment_size
        follows = [begun for _, begun, _ in segments[1:]] + [time]
        size = sum(state.st_size for _, _, state in segments)
        for (segment, _, state), following in zip(segments, follows, strict=False):
            # The last one of an earlier box ended when that did, long before this one's first.
            ends = min(following, state.st_mtime_ns)
            if ends < oldest or size > room:
                segment.unlink(missing_ok=True)
            size -= state.st_size

    def _without_those_to_come(self, time: int) -> list[Path]:
        """The files of the ring, without those of a clock that has been set back since: nothing
        can be put in order with them, and they would never be too old.
        """
        segments = self._segments()
        to_come = [each for each in segments if _begun(each) >= time]
        for each in to_come:
            each.unlink(missing_ok=True)
        if to_come:
            self._warn(
                f"the clock was set back: {len(to_come)} files in {self.folder}, of a time to come,"
                " are deleted"
            )
        return [each for each in segments if each not in to_come]

    def _segments(self) -> list[Path]:
        return sorted(self.folder.glob(_SEGMENT))

    def _kept(self) -> list[Path]:
        """What is kept, the oldest first."""
        return sorted(self.folder.glob(f"kept/{_KEPT}"))


def forget(folder: Path, before: int) -> None:
    """Delete what earlier black boxes left in a folder, whether or not another is kept there now.

    Args:
        folder: of the black box
        before: wall time since 1970 [ns]; what was begun later stays

    Raises:
        OSError: it cannot be deleted
    """
    for segment in folder.glob(_SEGMENT):
        if _begun(segment) < before:
            segment.unlink(missing_ok=True)


def _begun(segment: Path) -> int:
    return int(segment.stem.partition("-")[2])


def merge(segments: Iterable[Path], target: Path) -> int:
    """Merge the files of a ring into one; what each repeats at its beginning is left out.

    Args:
        segments: in the order of their times
        target: a file that is not there yet

    Returns:
        How many messages are in it.

    Raises:
        RecordingError: it cannot be written, or there is nothing to merge
    """
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    file = McapFile(part)
    try:
        for each in _merged(segments):
            file.add(
                each.topic,
                each.type,
                each.data,
                log_time=each.time,
                publish_time=each.publish_time,
                definition=each.definition,
            )
        if not file.messages:
            raise RecordingError("the black box is empty: nothing was recorded yet")
        file.finish()
        os.replace(part, target)
    finally:
        file.abandon()
        part.unlink(missing_ok=True)
    return file.messages


def _merged(segments: Iterable[Path]) -> Iterator[RecordedMessage]:
    first = True
    for segment in segments:
        try:
            with Recording(segment) as recording:
                begun = 0 if first else int(recording.about.get(_BEGUN, "0"))
                first = False
                yield from recording.messages(start=begun)
        except RecordingError:
            continue  # it was killed before anything in it was safe, or is damaged from here on
