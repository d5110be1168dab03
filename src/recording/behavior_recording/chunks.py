# SPDX-License-Identifier: Apache-2.0
"""`Chunks`: the messages of an MCAP file, of which only those that are wanted are taken apart.

The library makes an object of every record in a chunk, which takes most of the time of a pass over
a file that holds far more than one looks for.
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_left
from collections.abc import Collection, Iterator
from typing import IO

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, ChunkIndex, Message, Schema
from mcap.stream_reader import get_chunk_data_stream
from mcap.summary import Summary

_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
"""Channel, sequence, log time, publish time [ns]; the data follow."""

_Found = tuple[int, int, int, Message]
"""Log time, place of the chunk, number within it: all messages in their order."""


class Chunks:
    """Reads messages chunk by chunk.

    Args:
        stream: of the file.
        summary: of the file, with an index of its chunks.
    """

    def __init__(self, stream: IO[bytes], summary: Summary) -> None:
        self._stream, self._summary = stream, summary

    def messages(
        self,
        topics: Collection[str] | None = None,
        *,
        start: int | None = None,
        end: int | None = None,
        reverse: bool = False,
    ) -> Iterator[tuple[Schema | None, Channel, Message]]:
        """Messages in the order of their times, read as one goes on.

        Args:
            topics: names; None: all.
            start: log time of the first one [ns]; None: the file's.
            end: log time of the last one, included [ns]; None: the file's.
            reverse: the last one first.

        Raises:
            McapError, ZstdError, ValueError: a chunk is damaged.
        """
        schemas, channels = self._summary.schemas, self._summary.channels
        wanted = {i for i, each in channels.items() if topics is None or each.topic in topics}
        chosen = [each for each in self._summary.chunk_indexes if self._may_hold(each, wanted)]
        first = float("-inf") if start is None else start
        last = float("inf") if end is None else end
        chosen = [c for c in chosen if c.message_end_time >= first and c.message_start_time <= last]
        for _, _, _, message in self._in_order(chosen, wanted, reverse=reverse):
            if first <= message.log_time <= last:
                channel = channels[message.channel_id]
                yield schemas.get(channel.schema_id), channel, message

    def check(self, index: ChunkIndex) -> None:
        """Look at a whole chunk.

        Raises:
            McapError, ZstdError, ValueError: it is damaged.
        """
        for _ in self._read(index, set()):
            pass

    def _in_order(
        self, chunks: list[ChunkIndex], wanted: set[int], *, reverse: bool
    ) -> Iterator[_Found]:
        """Chunks may overlap: what lies before all that follow is handed on."""
        if reverse:
            chunks.sort(key=lambda each: (each.message_end_time, each.chunk_start_offset))
        else:
            chunks.sort(key=lambda e: (e.message_start_time, e.chunk_start_offset), reverse=True)
        waiting: list[_Found] = []
        while chunks:
            waiting += self._read(chunks.pop(), wanted)
            waiting.sort()
            if reverse:
                bound = chunks[-1].message_end_time + 1 if chunks else 0
                split = bisect_left(waiting, (bound,))
                yield from reversed(waiting[split:])
                del waiting[split:]
            else:
                split = len(waiting)
                if chunks:
                    split = bisect_left(waiting, (chunks[-1].message_start_time,))
                yield from waiting[:split]
                del waiting[:split]

    def _may_hold(self, chunk: ChunkIndex, channels: set[int]) -> bool:
        """Whether a chunk may have messages of these channels; not all files tell.

        One with a channel that is not known stands beside a damaged one, where it may be any.
        """
        told = chunk.message_index_offsets.keys()
        return not (told and told <= self._summary.channels.keys()) or not channels.isdisjoint(told)

    def _read(self, index: ChunkIndex, wanted: set[int]) -> Iterator[_Found]:
        self._stream.seek(index.chunk_start_offset + _HEAD.size, io.SEEK_SET)
        chunk = Chunk.read(ReadDataStream(self._stream))
        stream, length = get_chunk_data_stream(chunk, validate_crc=True)
        data = stream.read(length)
        at = number = 0
        while at < length:
            opcode, size = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            if at + size > length:
                raise ValueError("a chunk ends within a record")
            if opcode == Opcode.MESSAGE:
                channel, sequence, log_time, publish_time = _MESSAGE.unpack_from(data, at)
                if channel in wanted:
                    content = data[at + _MESSAGE.size : at + size]
                    message = Message(channel, log_time, content, publish_time, sequence)
                    yield log_time, index.chunk_start_offset, number, message
            at += size
            number += 1
