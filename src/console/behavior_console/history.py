# SPDX-License-Identifier: Apache-2.0
"""`History`: what the channels of a running stack held, for as long back as its memory allows.

It hears the channels as a page does, so that a moment costs what a frame costs. Frames lie in
segments that begin with the whole, and are compressed once they are full; the oldest go first.
"""

from __future__ import annotations

import threading
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgpack

from behavior_console.channels import Channels, Reader, pack
from behavior_console.source import OF_THE_MOMENT

MOST_BYTES = 64 * 1024 * 1024
SEGMENT = 10.0
"""[s]."""
_SET_BACK = 5.0
"""[s] A clock that goes back by more began anew, and the past is of another run."""
_LARGE = 10_000
"""[bytes] A value of more, such as a map, is kept once for all segments in which it is the same."""
_OVERHEAD = 300
"""[bytes] of a frame beside what is in it."""

_Parts = dict[str, bytes]


@dataclass
class _Segment:
    """Some seconds."""

    begin: float
    large: _Parts
    """Values by channel when it began."""
    frames: list[tuple[float, _Parts, _Parts]] = field(default_factory=list)
    """Time [s], channels that were set, and patched; empty once it is compressed."""
    compressed: bytes = b""
    size: int = 0
    """[bytes]."""

    def compress(self) -> None:
        """Make it small; nothing more comes."""
        self.compressed = zlib.compress(pack(self.frames), 1)
        self.frames = []
        self.size = len(self.compressed) + _OVERHEAD

    def read(self) -> list[tuple[float, _Parts, _Parts]]:
        """All frames."""
        if self.frames:
            return self.frames
        unpacked: list[Any] = msgpack.unpackb(zlib.decompress(self.compressed))
        return [(time, changed, patched) for time, changed, patched in unpacked]


class History:
    """Keeps the channels of the moment. Threads may share it.

    Args:
        channels: are heard.
        most_bytes: that it keeps; of more the oldest go.
    """

    def __init__(self, channels: Channels, *, most_bytes: int = MOST_BYTES) -> None:
        self._channels, self._most = channels, most_bytes
        self._reader = Reader()
        self._segments: deque[_Segment] = deque()
        self._large: _Parts = {}
        self._last = float("-inf")
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """[bytes] that it keeps, values that several segments share counted once."""
        with self._lock:
            return self._size()

    def span(self) -> tuple[float, float] | None:
        """[s] the first and the last time that is known; None: nothing is."""
        with self._lock:
            return (self._segments[0].begin, self._last) if self._segments else None

    def note(self, time: float) -> None:
        """Keep what the channels hold now.

        Args:
            time: [s] the executor's clock.
        """
        with self._lock:
            if time < self._last - _SET_BACK:
                self._segments.clear()
            elif time < self._last:
                self._go_back(time)
            self._last = time
            segment = self._segments[-1] if self._segments else None
            if segment is None or self._last >= segment.begin + SEGMENT:
                segment = self._begin()
            news = self._channels.news(self._reader)
            if news:
                changed = self._without_large(news.set, segment)
                segment.frames.append((self._last, changed, news.patch))
                sizes = (len(part) for parts in (changed, news.patch) for part in parts.values())
                segment.size += sum(sizes) + _OVERHEAD
            while len(self._segments) > 1 and self._size() > self._most:
                self._segments.popleft()

    @property
    def last(self) -> float:
        """[s] when something was kept last."""
        return self._last

    def state(self, time: float) -> dict[str, Any] | None:
        """What the channels held at a time [s]; None: that is too long ago."""
        with self._lock:
            segments = list(self._segments)
            index = bisect_right(segments, time, key=lambda each: each.begin) - 1
            if index < 0:
                return None
            large, frames = segments[index].large, segments[index].read()
        parts: dict[str, list[bytes]] = {name: [value] for name, value in large.items()}
        for at, changed, patched in frames:
            if at > time:
                break
            for name, value in changed.items():
                parts[name] = [value]
            for name, value in patched.items():
                parts[name].append(value)
        return {name: _merged(each) for name, each in parts.items()}

    # -- within ----------------------------------------------------------------------------------

    def _go_back(self, time: float) -> None:
        """What comes now is a little older than what was kept last, which counts as of now too."""
        segment = self._segments[-1]
        segment.begin = min(segment.begin, time)
        for index, (at, changed, patched) in enumerate(segment.frames):
            if at > time:
                segment.frames[index] = (time, changed, patched)

    def _begin(self) -> _Segment:
        if self._segments:
            self._segments[-1].compress()
        self._reader = Reader()
        self._reader.subscribe(OF_THE_MOMENT)
        segment = _Segment(self._last, {})
        self._segments.append(segment)
        return segment

    def _without_large(self, parts: Mapping[str, bytes], segment: _Segment) -> _Parts:
        """What is small; large values with which a segment begins are kept beside it."""
        small: _Parts = {}
        for name, value in parts.items():
            if len(value) < _LARGE or segment.frames:
                small[name] = value
                continue
            if self._large.get(name) != value:
                self._large[name] = value
            segment.large[name] = self._large[name]
        return small

    def _size(self) -> int:
        shared = {id(value): len(value) for each in self._segments for value in each.large.values()}
        return sum(shared.values()) + sum(each.size for each in self._segments)


def _merged(parts: list[bytes]) -> Any:
    """A value, or a map with its changes."""
    first, *changes = (msgpack.unpackb(part, strict_map_key=False) for part in parts)
    for change in changes:
        first.update(change)
    if changes:
        return {key: value for key, value in first.items() if value is not None}
    return first
