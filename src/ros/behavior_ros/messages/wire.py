# SPDX-License-Identifier: Apache-2.0
"""Reads and writes serialized messages field by field, for topics that carry many messages.

rclpy makes Python objects of all parts of a message, and of most of them twice; and to send one it
looks each part up by its name. The layout is that
of OMG CDR (XCDR1, plain): a header of four bytes, then the fields in their order, each at a
multiple of its size from the end of the header; a text is its length with the final zero, and its
bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = 4
SECOND = 1_000_000_000
"""[ns]"""


class WireReader:
    """The fields of one message, one after the other.

    Its methods raise what :func:`reading` makes one sentence of.
    """

    def __init__(self, data: bytes) -> None:
        if data[:2] not in (b"\0\0", b"\0\1"):
            raise ValueError("they are not in plain CDR")
        self._data = data
        self.order = "<" if data[1] else ">"
        """Of the bytes of a number, as `struct` writes it."""
        self._at = _HEADER

    def _align(self, size: int) -> int:
        self._at += -(self._at - _HEADER) % size
        return self._at

    def count(self) -> int:
        """An unsigned number of 32 bits, such as the length of what follows."""
        (value,) = struct.unpack_from(f"{self.order}I", self._data, self._align(4))
        self._at += 4
        return int(value)

    def stamp(self) -> int:
        """A time, in nanoseconds."""
        second, nanosecond = struct.unpack_from(f"{self.order}iI", self._data, self._align(4))
        self._at += 8
        return int(second * SECOND + nanosecond)

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
        return struct.unpack_from(f"{self.order}{count}d", self._data, self._at_doubles(count))

    def array(self, count: int) -> NDArray[np.float64]:
        """The same as an array, of which nothing can be changed."""
        if not count:
            return np.empty(0)
        found = np.frombuffer(self._data, f"{self.order}f8", count, self._at_doubles(count))
        return found if found.dtype.isnative else found.astype(np.float64)

    def _at_doubles(self, count: int) -> int:
        """Where so many of them begin, which are passed by."""
        at = self._align(8)
        self._at += 8 * count
        if self._at > len(self._data):
            raise ValueError("they are cut off")
        return at

    def skip(self, block: bytes) -> bool:
        """Pass by these very bytes; False: others come here."""
        if not self._data.startswith(block, self._at):
            return False
        self._at += len(block)
        return True

    def since(self, begin: int) -> bytes:
        """The bytes from a place, `at` of an earlier moment, to here."""
        return self._data[begin : self._at]

    @property
    def at(self) -> int:
        """The place of the next field, before padding."""
        return self._at


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


@lru_cache(maxsize=256)
def _form(form: str) -> tuple[struct.Struct, int]:
    """Numbers of a form, and the size of each."""
    return struct.Struct(f"<{form}"), struct.calcsize(f"<{form[-1]}")


class WireWriter:
    """The fields of one message, one after the other, in plain CDR of little-endian order."""

    def __init__(self) -> None:
        self._data = bytearray(b"\0\1\0\0")

    def numbers(self, form: str, *values: float) -> None:
        """Numbers of one size, in the form of `struct`, such as ``3d`` or ``iI``."""
        numbers, size = _form(form)
        self._pad(size)
        self._data += numbers.pack(*values)

    def text(self, text: str) -> None:
        """A text."""
        data = text.encode()
        self.numbers("I", len(data) + 1)
        self._data += data + b"\0"

    def stamp(self, stamp: Any) -> None:
        """A time, of a message ``builtin_interfaces/Time``."""
        self.numbers("iI", stamp.sec, stamp.nanosec)

    def message(self) -> bytes:
        """All that was written."""
        return bytes(self._data)

    def _pad(self, size: int) -> None:
        if room := -(len(self._data) - _HEADER) % size:
            self._data += bytes(room)
