# SPDX-License-Identifier: Apache-2.0
"""`RecordShelf`: recordings that pages may open. What a page names is looked up, never a path."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from behavior_console.records.record_source import RecordSource
from behavior_console.records.recorded_robot import recorded_robot
from behavior_console.robot_files import RobotFiles
from behavior_console.source import SourceError
from behavior_recording import RecordingError

_MOST_OPEN = 3
_MOST_LISTED = 500


class RecordShelf:
    """Recordings in some folders and those below them, opened when a page asks for one.

    Args:
        folders: with MCAP files; they need not be there.
        on_change: is called whenever pages may be sent something new, in any thread.
    """

    def __init__(
        self, folders: Sequence[Path], *, on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._folders, self._on_change = tuple(folders), on_change
        self._open: OrderedDict[str, RecordSource] = OrderedDict()
        self._robots: OrderedDict[str, RobotFiles] = OrderedDict()
        self._opening = asyncio.Lock()

    def rows(self) -> list[dict[str, Any]]:
        """What there is, the newest first: id, size [bytes], modified [s since 1970]."""
        found = [(path.stat(), record) for record, path in self._files().items()]
        found.sort(key=lambda each: -each[0].st_mtime)
        return [
            {"id": record, "size": stat.st_size, "modified": stat.st_mtime}
            for stat, record in found[:_MOST_LISTED]
        ]

    async def source(self, record: str) -> RecordSource:
        """The recording of an id; those that nobody has looked at for longest are let go.

        Raises:
            SourceError: there is none, or it cannot be read.
        """
        async with self._opening:
            source = self._open.get(record)
            if source is None:
                path = await self._path(record)
                source = await asyncio.to_thread(RecordSource, path, on_change=self._on_change)
                source.start()
                self._open[record] = source
            self._open.move_to_end(record)
            while len(self._open) > _MOST_OPEN:
                # Its file closes when the last page that shows it is gone.
                self._open.popitem(last=False)
            return source

    async def robot(self, record: str) -> RobotFiles:
        """The robot of a recording, of the last few that pages asked for.

        Raises:
            SourceError: there is none, or it cannot be read.
        """
        async with self._opening:
            if record not in self._robots:
                path = await self._path(record)
                try:
                    found = await asyncio.to_thread(recorded_robot, path, record=record)
                except RecordingError as error:
                    raise SourceError(str(error)) from error
                self._robots[record] = found
            self._robots.move_to_end(record)
            while len(self._robots) > _MOST_OPEN:
                self._robots.popitem(last=False)
            return self._robots[record]

    async def _path(self, record: str) -> Path:
        path = (await asyncio.to_thread(self._files)).get(record)
        if path is None:
            raise SourceError(f"there is no recording '{record[:100]}'")
        return path

    def _files(self) -> dict[str, Path]:
        """By id; links out of the folders are left out."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            root = folder.resolve()
            for path in sorted(root.rglob("*.mcap")) if root.is_dir() else ():
                if path.is_file() and path.resolve().is_relative_to(root):
                    found.setdefault(path.relative_to(root).as_posix(), path)
        return found
