# SPDX-License-Identifier: Apache-2.0
"""Files whose writer was killed: read as far as they are whole, and completed.

Such a file has no index at its end. Its chunks tell what they are, so the index is made anew from
their heads, without reading what is in them; only the last one is tried, since a machine that lost
its power may have left anything in it.
"""

from __future__ import annotations

import fcntl
import io
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import SeekingReader
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    Message,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)
from mcap.stream_reader import breakup_chunk
from mcap.summary import Summary
from mcap.writer import Writer
from zstandard import ZstdError

from behavior_recording.chunks import Chunks
from behavior_recording.errors import RecordingError

MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")
_LARGEST_RECORD = 1 << 30
BROKEN = (
    McapError,
    ZstdError,
    ValueError,
    MemoryError,
    OSError,
    OverflowError,
    struct.error,
    zlib.error,
)
"""What a damaged part of a file leads to: a size or place that is damaged may be more than there is
room for, or than files can have."""


@dataclass
class _Found:
    """What a scan has found."""

    summary: Summary = field(default_factory=Summary)
    end: int = len(MAGIC)
    """[bytes] up to which the file is whole."""


class TornReader(SeekingReader):
    """Reads a file that has no index.

    Args:
        stream: of the file
        decoder_factories: as `mcap.reader.make_reader` takes them
    """

    def __init__(self, stream: IO[bytes], decoder_factories: Any = ()) -> None:
        super().__init__(stream, decoder_factories=decoder_factories)
        self._found = scan(stream).summary

    def get_summary(self) -> Summary:
        """What the file would hold at its end, had it been completed."""
        return self._found


def is_whole(stream: IO[bytes]) -> bool:
    """Whether a file was completed.

    Raises:
        RecordingError: it is no MCAP file
    """
    stream.seek(0)
    if stream.read(len(MAGIC)) != MAGIC:
        raise RecordingError(f"{getattr(stream, 'name', 'the file')} is no MCAP file")
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - len(MAGIC), len(MAGIC)))
    whole = stream.read(len(MAGIC)) == MAGIC and size > 2 * len(MAGIC)
    stream.seek(0)
    return whole


def scan(stream: IO[bytes]) -> _Found:
    """Make the index of a file anew, of all that is whole in it."""
    found = _Found()
    size = stream.seek(0, io.SEEK_END)
    last: ChunkIndex | None = None
    for opcode, start, length in _records(stream, size):
        if opcode in (Opcode.DATA_END, Opcode.FOOTER):
            break
        try:
            last = _take(stream, found.summary, (opcode, start, length), last)
        except BROKEN:
            break
        found.end = start + _HEAD.size + length
    _drop_broken_end(stream, found)
    _collect_channels(stream, found.summary)
    return found


def complete(path: Path) -> int:
    """Complete a file in its place; one that is whole, or cannot be completed, stays as it is.

    Returns:
        How many messages are in it.

    Raises:
        RecordingError: it is no MCAP file, holds nothing, is damaged before its end, is still being
            written, or cannot be written
    """
    fresh = path.with_name(f".{path.name}.completed")
    try:
        with path.open("rb") as stream:
            if is_whole(stream):
                summary = SeekingReader(stream).get_summary()
                counted = summary.statistics if summary else None
                return counted.message_count if counted else 0
            if not lock(stream):
                raise RecordingError(f"{path} is still being written: end its recorder first")
            try:
                count = _rewrite(stream, fresh)
                os.replace(fresh, path)
            finally:
                fresh.unlink(missing_ok=True)
    except OSError as error:
        raise RecordingError(f"{path} cannot be completed: {error.strerror}") from error
    except BROKEN as error:
        raise RecordingError(f"{path} is damaged: {error}; it stays as it is") from error
    return count


def lock(opened: IO[bytes] | int) -> bool:
    """Keep others from what one writes to, a file or a folder; whoever dies lets go of it.

    Returns:
        False: somebody else has it. Where files cannot be locked, nobody has.
    """
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _rewrite(stream: IO[bytes], target: Path) -> int:
    """Write what is whole of a file into another one, completed; returns the messages."""
    reader = TornReader(stream)
    summary = reader.get_summary()
    if not summary.chunk_indexes:
        raise RecordingError(f"{stream.name} holds no messages")
    count = 0
    channels: dict[int, int] = {}
    schemas: dict[int, int] = {}
    with target.open("wb") as output:
        writer: Any = Writer(output)
        header = reader.get_header()
        writer.start(profile=header.profile, library=header.library)
        for metadata in reader.iter_metadata():
            writer.add_metadata(metadata.name, metadata.metadata)
        for schema, channel, message in Chunks(stream, summary).messages():
            if channel.id not in channels:
                if schema is not None and schema.id not in schemas:
                    schemas[schema.id] = writer.register_schema(
                        schema.name, schema.encoding, schema.data
                    )
                channels[channel.id] = writer.register_channel(
                    channel.topic,
                    channel.message_encoding,
                    schemas.get(channel.schema_id, 0),
                    channel.metadata,
                )
            writer.add_message(
                channels[channel.id],
                message.log_time,
                message.data,
                message.publish_time,
                message.sequence,
            )
            count += 1
        writer.finish()
        output.flush()
        os.fsync(output.fileno())
    return count


def _records(stream: IO[bytes], size: int) -> Iterator[tuple[int, int, int]]:
    """Opcode, place and length of every whole record outside of chunks."""
    at = len(MAGIC)
    while at + _HEAD.size <= size:
        stream.seek(at)
        opcode, length = _HEAD.unpack(stream.read(_HEAD.size))
        if not opcode or length > _LARGEST_RECORD or at + _HEAD.size + length > size:
            return
        yield opcode, at, length
        at += _HEAD.size + length


def _take(
    stream: IO[bytes], summary: Summary, record: tuple[int, int, int], last: ChunkIndex | None
) -> ChunkIndex | None:
    """Enter one record into the index; returns the chunk that message indexes belong to."""
    opcode, start, length = record
    stream.seek(start + _HEAD.size)
    if opcode == Opcode.CHUNK:
        return _take_chunk(stream, summary, start, length)
    data = ReadDataStream(stream)
    if opcode == Opcode.MESSAGE_INDEX and last is not None:
        index = MessageIndex.read(data)
        last.message_index_offsets[index.channel_id] = start
        last.message_index_length += _HEAD.size + length
        return last
    if opcode == Opcode.METADATA:
        metadata = Metadata.read(data)
        summary.metadata_indexes.append(
            MetadataIndex(offset=start, length=_HEAD.size + length, name=metadata.name)
        )
    elif opcode == Opcode.SCHEMA:
        schema = Schema.read(data)
        summary.schemas[schema.id] = schema
    elif opcode == Opcode.CHANNEL:
        channel = Channel.read(data)
        summary.channels[channel.id] = channel
    return None


def _take_chunk(stream: IO[bytes], summary: Summary, start: int, length: int) -> ChunkIndex:
    data = ReadDataStream(stream)
    first, final, size = data.read8(), data.read8(), data.read8()
    data.read4()
    compression = data.read_prefixed_string()
    index = ChunkIndex(
        chunk_length=_HEAD.size + length,
        chunk_start_offset=start,
        compression=compression,
        compressed_size=data.read8(),
        message_end_time=final,
        message_index_length=0,
        message_index_offsets={},
        message_start_time=first,
        uncompressed_size=size,
    )
    summary.chunk_indexes.append(index)
    return index


def _drop_broken_end(stream: IO[bytes], found: _Found) -> None:
    """Leave chunks at the end out that cannot be read."""
    chunks = found.summary.chunk_indexes
    while chunks:
        try:
            _chunk_records(stream, chunks[-1])
        except BROKEN:
            found.end = chunks.pop().chunk_start_offset
        else:
            # Which channels it holds may have been cut off behind it.
            chunks[-1].message_index_offsets.clear()
            return


def _collect_channels(stream: IO[bytes], summary: Summary) -> None:
    """Read schemas and channels, which are in the first chunks that use them, and count.

    What is damaged is passed over here: whoever reads the messages of a chunk is told.
    """
    statistics = Statistics(
        attachment_count=0,
        channel_count=0,
        channel_message_counts={},
        chunk_count=len(summary.chunk_indexes),
        message_count=0,
        metadata_count=len(summary.metadata_indexes),
        message_start_time=min((c.message_start_time for c in summary.chunk_indexes), default=0),
        message_end_time=max((c.message_end_time for c in summary.chunk_indexes), default=0),
        schema_count=0,
    )
    for index in summary.chunk_indexes:
        known = index.message_index_offsets.keys() <= summary.channels.keys()
        if known and index.message_index_offsets:
            _count_by_index(stream, index, statistics)
            continue
        for message in _take_definitions(stream, summary, index):
            _count(statistics, message.channel_id, 1)
    if any(c.message_index_offsets.keys() - summary.channels.keys() for c in summary.chunk_indexes):
        # A channel may stand in the chunk before its first message.
        for index in summary.chunk_indexes:
            _take_definitions(stream, summary, index)
    statistics.channel_count = len(summary.channels)
    statistics.schema_count = len(summary.schemas)
    summary.statistics = statistics


def _take_definitions(stream: IO[bytes], summary: Summary, index: ChunkIndex) -> list[Message]:
    """Enter the schemas and channels of a chunk; returns its messages."""
    messages = []
    with suppress(*BROKEN):
        for record in _chunk_records(stream, index):
            if isinstance(record, Schema):
                summary.schemas[record.id] = record
            elif isinstance(record, Channel):
                summary.channels[record.id] = record
            else:
                messages.append(record)
    return messages


def _count_by_index(stream: IO[bytes], index: ChunkIndex, statistics: Statistics) -> None:
    for channel, offset in index.message_index_offsets.items():
        stream.seek(offset + _HEAD.size)
        with suppress(*BROKEN):
            _count(statistics, channel, len(MessageIndex.read(ReadDataStream(stream)).records))


def _count(statistics: Statistics, channel: int, messages: int) -> None:
    counts = statistics.channel_message_counts
    counts[channel] = counts.get(channel, 0) + messages
    statistics.message_count += messages


def _chunk_records(stream: IO[bytes], index: ChunkIndex) -> list[Any]:
    stream.seek(index.chunk_start_offset + _HEAD.size)
    chunk = Chunk.read(ReadDataStream(stream))
    if len(chunk.data) != index.compressed_size:
        raise ValueError("the chunk is cut off")
    return breakup_chunk(chunk, validate_crc=True)
