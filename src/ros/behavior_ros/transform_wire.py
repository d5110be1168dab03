# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms of a serialized ``tf2_msgs/TFMessage`` without making messages of them.

Every process that looks up frames receives all of them all the time, and hardly ever looks. rclpy
makes eight Python objects for each transform; what is needed of it are two names, a time and seven
numbers. The layout is that of OMG CDR (XCDR1, plain): a header of four bytes, then the fields in
their order, each at a multiple of its size from the end of the header; a string is its length with
the final zero, and its bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from behavior_ros.rotations import Quaternion, Vector

_HEADER = 4
_LITTLE, _BIG = (
    tuple(struct.Struct(f"{order}{fields}").unpack_from for fields in ("iII", "I", "7d"))
    for order in "<>"
)
"""Read a time and the length of what follows, a length, position and rotation."""


class WireTransform(NamedTuple):
    """``parent_T_child`` at a time."""

    parent: str
    child: str
    stamp: int
    """[ns]"""
    position: Vector
    """[m]"""
    rotation: Quaternion
    """x, y, z, w"""


def read_transforms(data: bytes) -> Iterator[WireTransform]:
    """The transforms of a message, in order.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    if data[:2] not in (b"\0\0", b"\0\1"):
        raise ValueError("these bytes are not in plain CDR")
    try:
        stamp_of, length_of, numbers_of = _LITTLE if data[1] else _BIG
        (count,) = length_of(data, _HEADER)
        at = 8
        for _ in range(count):
            at += -at % 4
            sec, nanosec, size = stamp_of(data, at)
            at += 12
            parent = data[at : at + size - 1].decode()
            at += size
            at += -at % 4
            (size,) = length_of(data, at)
            at += 4
            child = data[at : at + size - 1].decode()
            at += size
            at += -(at - _HEADER) % 8
            x, y, z, i, j, k, w = numbers_of(data, at)
            at += 56
            yield WireTransform(
                parent, child, sec * 1_000_000_000 + nanosec, (x, y, z), (i, j, k, w)
            )
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{len(data)} bytes are no tf2_msgs/TFMessage: {error}") from error
