# SPDX-License-Identifier: Apache-2.0
"""Reads serialized messages field by field, for topics of which all is received and little used.

rclpy makes Python objects of all parts of a message, and of most of them twice. The layout is that
of OMG CDR (XCDR1, plain): a header of four bytes, then the fields in their order, each at a
multiple of its size from the end of the header; a text is its length with the final zero, and its
bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

_HEADER = 4
_SECOND = 1_000_000_000


class WireReader:
    """The fields of one message, one after the other.

    Its methods raise what :func:`reading` makes one sentence of.
    """

    def __init__(self, data: bytes) -> None:
        if data[:2] not in (b"\0\0", b"\0\1"):
            raise ValueError("they are not in plain CDR")
        self._data = data
        self._order = "<" if data[1] else ">"
        self._at = _HEADER

    def _align(self, size: int) -> int:
        self._at += -(self._at - _HEADER) % size
        return self._at

    def count(self) -> int:
        """An unsigned number of 32 bits, such as the length of what follows."""
        (value,) = struct.unpack_from(f"{self._order}I", self._data, self._align(4))
        self._at += 4
        return int(value)

    def stamp(self) -> int:
        """A time, in nanoseconds."""
        second, nanosecond = struct.unpack_from(f"{self._order}iI", self._data, self._align(4))
        self._at += 8
        return int(second * _SECOND + nanosecond)

    def text(self) -> str:
        """A text."""
        size = self.count()
        begin, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise ValueError("they are cut off")
        return self._data[begin : self._at - 1].decode()

    def doubles(self, count: int) -> tuple[float, ...]:
        """So many floating point numbers of 64 bits."""
        if not count:
            return ()
        at = self._align(8)
        self._at += 8 * count
        if self._at > len(self._data):
            raise ValueError("they are cut off")
        return struct.unpack_from(f"{self._order}{count}d", self._data, at)


@contextmanager
def reading(data: bytes, message_type: str) -> Iterator[WireReader]:
    """A reader of a message.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    try:
        yield WireReader(data)
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{len(data)} bytes are no {message_type}: {error}") from error
