# SPDX-License-Identifier: Apache-2.0
"""`RecordSource`: a recording as the source of all channels, at any moment of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Self

from behavior_console.channels import CHANNELS, Channels, Kind
from behavior_console.records.record_index import RecordIndex
from behavior_console.source import SourceError
from behavior_recording import Recording, RecordingError

__all__ = ["RecordSource"]


class RecordSource:
    """A recording that pages look at.

    Args:
        path: of an MCAP file. It is read once, which takes some seconds for ten minutes of a run.

    Raises:
        SourceError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            self._recording = Recording(path)
        except RecordingError as error:
            raise SourceError(str(error)) from error
        try:
            self._index = RecordIndex(self._recording)
        except Exception as error:
            self._recording.close()
            raise SourceError(f"{path.name} cannot be shown: {error}") from error
        self.channels = self._index.channels
        self._reading = asyncio.Lock()
        self.channels.set("stack", self._stack())

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open one without holding up the event loop."""
        return await asyncio.to_thread(cls, path)

    def close(self) -> None:
        """Let go of the file."""
        self._recording.close()

    def now(self) -> float:
        """[s] the executor's clock at the recording's end."""
        return self._index.clock.end

    def span(self) -> tuple[float, float]:
        """[s] the executor's clock at its beginning and its end."""
        return self._index.clock.begin, self._index.clock.end

    async def show(self, moment: Channels, time: float) -> None:
        """Fill the channels of the moment with what was at a time [s]; beyond the ends, with those.

        Raises:
            SourceError: the file is damaged there.
        """
        begin, end = self.span()
        within = min(max(time, begin), end)
        async with self._reading:
            try:
                state = await asyncio.to_thread(self._index.moment, within)
            except Exception as error:  # whatever a damaged file holds, other moments can be shown
                raise SourceError(f"{self.name} is damaged at this moment: {error}") from error
        _show(moment, {**state, "stack": self._stack()})

    def _stack(self) -> dict[str, Any]:
        tree = self.channels.value("tree")
        empty = {
            "text": "this recording has no tree",
            "remedy": "record a stack that runs one: behavior record",
        }
        return {
            "namespace": self._recording.about.get("namespace", ""),
            "world": self.name,
            "up": {},
            "empty": empty if tree is None else None,
        }


def _show(moment: Channels, state: dict[str, Any]) -> None:
    """Make a page's channels hold a state; what is as before is not sent again."""
    with moment.lock:
        for name, value in state.items():
            if CHANNELS[name] is Kind.MAP:
                moment.replace(name, value)
            elif (before := moment.value(name)) is not value and before != value:
                moment.set(name, value)
