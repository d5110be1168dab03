# SPDX-License-Identifier: Apache-2.0
"""`RecordSource`: a recording as the source of all channels, at any moment of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from behavior_console.channels import Channels
from behavior_console.records.record_index import RecordIndex
from behavior_console.source import SourceError, show_state
from behavior_recording import RecordingError

_STEP = 10.0
"""[s] of the recording that is read before pages are given what was found."""
_LOOK = 0.05
"""[s] between two looks at whether a moment is known by now."""


class RecordSource:
    """A recording that pages look at, while it is read and afterwards.

    Args:
        path: of an MCAP file.
        on_change: is called whenever pages may be sent something new, in any thread.

    Raises:
        SourceError: it cannot be read.
    """

    def __init__(self, path: Path, *, on_change: Callable[[], None] = lambda: None) -> None:
        self.name = path.name
        try:
            self._index = RecordIndex(path)
        except RecordingError as error:
            raise SourceError(str(error)) from error
        except Exception as error:  # whatever the file holds
            raise SourceError(f"{path.name} cannot be shown: {error}") from error
        self.channels = self._index.channels
        self.channels.on_change = on_change
        self._showing = asyncio.Lock()
        self._damage = ""
        self._closed = threading.Event()
        self._reader: threading.Thread | None = None
        self.channels.set("stack", self._stack())

    def start(self) -> None:
        """Read it in a thread of its own."""
        self._reader = threading.Thread(target=self.read, name="record_reader", daemon=True)
        self._reader.start()

    def read(self) -> None:
        """Read it to its end, or as far as it is whole."""
        while not (self._index.complete or self._damage or self._closed.is_set()):
            try:
                self._index.read(_STEP)
            except Exception as error:  # what lies before can be shown
                self._damage = f"{self.name} is damaged: {error}"
            self.channels.set("stack", self._stack())

    def close(self) -> None:
        """Let go of the file."""
        self._closed.set()
        if self._reader is not None:
            self._reader.join()
        self._index.close()

    def now(self) -> float:
        """[s] the executor's clock where the reading has come to: at last the recording's end."""
        return self._index.time

    def span(self) -> tuple[float, float]:
        """[s] the executor's clock at its beginning and at what is read of it."""
        return self._index.clock.begin, self.now()

    async def show(self, moment: Channels, time: float) -> None:
        """Fill the channels of the moment with what was at a time [s]; beyond the ends, with those.

        Raises:
            SourceError: the file is damaged there.
        """
        while time > self.now() and not (self._index.complete or self._damage):
            await asyncio.sleep(_LOOK)
        begin, end = self.span()
        within = min(max(time, begin), end)
        async with self._showing:
            try:
                state = await asyncio.to_thread(self._index.moment, within)
            except Exception as error:  # whatever a damaged file holds, other moments can be shown
                raise SourceError(f"{self.name} is damaged at this moment: {error}") from error
        show_state(moment, {**state, "stack": self._stack()})

    def _stack(self) -> dict[str, Any]:
        return {
            "namespace": self._index.about.get("namespace", ""),
            "world": self.name,
            "up": {},
            "empty": self._why_empty(),
        }

    def _why_empty(self) -> dict[str, str] | None:
        if self._damage:
            return {
                "text": self._damage,
                "remedy": "what lies before can be looked at: choose a moment in the timeline",
            }
        if not self._index.complete:
            share = (self._index.known - self._index.start) / (self._index.end - self._index.start)
            return {
                "text": f"the recording is being read: {max(0.0, share):.0%}",
                "remedy": "what is in the timeline can be looked at already",
            }
        if self.channels.value("tree") is None:
            return {
                "text": "this recording has no tree",
                "remedy": "record a stack that runs one: behavior record",
            }
        return None
