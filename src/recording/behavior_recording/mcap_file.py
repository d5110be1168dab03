# SPDX-License-Identifier: Apache-2.0
"""`McapFile`: one MCAP file that is being written, and how much of it is safe.

Messages collect in a chunk in memory. `McapFile.secure` writes it and has the system put it on the
disk: what it counts then is *acknowledged*, and in the file whatever becomes of this process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mcap.well_known import MessageEncoding, SchemaEncoding
from mcap.writer import Writer

from behavior_recording.errors import RecordingError
from behavior_recording.schemas import schema_text
from behavior_recording.torn_file import lock

PROFILE = "ros2"
FORMAT = "1"
"""Version of the layout that docs/recording.md describes."""
METADATA = "behavior_recording"
"""Name of the metadata that hold it."""
LARGEST_CHUNK = 1 << 20
"""[bytes] of messages in memory after which they are written, if nobody secures them before."""


@dataclass(frozen=True)
class Safe:
    """What of a file is acknowledged."""

    messages: int = 0
    bytes: int = 0
    """Size of the file up to them."""


class McapFile:
    """A file that is written from its beginning to its end.

    Args:
        path: of a file that is not there yet
        about: for the metadata: what is recorded, by whom

    Raises:
        RecordingError: the file is there already, or cannot be made
    """

    def __init__(self, path: Path, about: dict[str, str] | None = None) -> None:
        self.path = path
        self.messages = 0
        """Given so far, safe or not."""
        self.safe = Safe()
        self._channels: dict[tuple[str, str, str | None], int] = {}
        self._schemas: dict[tuple[str, str | None], int] = {}
        try:
            self._stream: IO[Any] = path.open("xb")
        except FileExistsError:
            raise RecordingError(
                f"{path} is there already: name another file, or move that one away"
            ) from None
        except OSError as error:
            raise RecordingError(f"{path} cannot be written: {error.strerror}") from error
        lock(self._stream)
        self._writer: Any = Writer(self._stream, chunk_size=LARGEST_CHUNK)
        self._writer.start(profile=PROFILE, library="behavior_recording")
        self._writer.add_metadata(METADATA, {"format": FORMAT, **(about or {})})

    @property
    def size(self) -> int:
        """[bytes] written so far, without the chunk in memory."""
        return int(self._stream.tell())

    def add(
        self,
        topic: str,
        message_type: str,
        data: bytes,
        *,
        log_time: int,
        publish_time: int = 0,
        definition: str | None = None,
    ) -> None:
        """Add a message.

        Args:
            topic: absolute name
            message_type: like ``std_msgs/msg/String``
            data: in CDR
            log_time: wall time since 1970 at which it was received [ns]
            publish_time: likewise, at which it was sent; 0: not known
            definition: what its type consists of; None: as in this environment

        Raises:
            RecordingError: it cannot be written
            SchemaError: nothing is known of its type
        """
        key = topic, message_type, definition
        channel = self._channels.get(key) or self._channel(*key)
        try:
            self._writer.add_message(
                channel, log_time, data, publish_time or log_time, self.messages & 0xFFFFFFFF
            )
        except OSError as error:
            raise self._failure(error) from error
        self.messages += 1

    def secure(self) -> Safe:
        """Put everything that was added on the disk.

        Raises:
            RecordingError: that is not possible, as the disk is full
        """
        if self.messages > self.safe.messages:
            try:
                self._writer.flush()
                os.fdatasync(self._stream.fileno())
                self.safe = Safe(self.messages, self._stream.tell())
            except OSError as error:
                raise self._failure(error) from error
        return self.safe

    def finish(self) -> None:
        """Complete the file; further calls do nothing.

        Raises:
            RecordingError: that is not possible; what is safe can be read all the same
        """
        if self._stream.closed:
            return
        try:
            self._writer.finish()
            self._stream.flush()
            os.fdatasync(self._stream.fileno())
            self.safe = Safe(self.messages, self._stream.tell())
        except OSError as error:
            raise self._failure(error) from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        with suppress(OSError):  # it cannot write what it holds back: that is told already
            self._stream.close()

    def _channel(self, topic: str, message_type: str, definition: str | None) -> int:
        key = message_type, definition
        schema: int | None = self._schemas.get(key)
        if schema is None:
            text = schema_text(message_type) if definition is None else definition
            schema = self._writer.register_schema(message_type, SchemaEncoding.ROS2, text.encode())
            self._schemas[key] = schema
        channel: int = self._writer.register_channel(topic, MessageEncoding.CDR, schema)
        self._channels[topic, message_type, definition] = channel
        return channel

    def _failure(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"{self.path} cannot be written: {error.strerror}; what was safe before can be read"
        )
