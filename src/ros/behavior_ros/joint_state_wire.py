# SPDX-License-Identifier: Apache-2.0
"""Reads a serialized ``sensor_msgs/JointState`` without making a message of it.

Joint states come 50 to 1000 times a second; rclpy looks at each of their numbers twice. The layout
is that of :mod:`behavior_ros.transform_wire`: plain CDR.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_HEADER = 4


class WireJointState(NamedTuple):
    """Fields of the message by their names; any of the three lists may be empty."""

    stamp: int
    """[ns]"""
    name: tuple[str, ...]
    position: NDArray[np.float64]
    """[rad] or [m]"""
    velocity: NDArray[np.float64]
    """[rad/s] or [m/s]"""
    effort: NDArray[np.float64]
    """[Nm] or [N]"""


def read_joint_state(data: bytes) -> WireJointState:
    """The joint state of a message.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    if data[:2] not in (b"\0\0", b"\0\1"):
        raise ValueError("these bytes are not in plain CDR")
    try:
        order = "<" if data[1] else ">"
        length_of = struct.Struct(f"{order}I").unpack_from
        sec, nanosec, size = struct.unpack_from(f"{order}iII", data, _HEADER)
        at = _HEADER + 12 + size
        at += -at % 4
        (count,) = length_of(data, at)
        at += 4
        names = []
        for _ in range(count):
            at += -at % 4
            (size,) = length_of(data, at)
            at += 4
            names.append(data[at : at + size - 1].decode())
            at += size
        lists = []
        for _ in range(3):
            at += -at % 4
            (count,) = length_of(data, at)
            at += 4
            if count:
                at += -(at - _HEADER) % 8
            numbers = np.frombuffer(data, f"{order}f8", count, at).astype(np.float64)
            at += 8 * count
            lists.append(numbers)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{len(data)} bytes are no sensor_msgs/JointState: {error}") from error
    return WireJointState(sec * 1_000_000_000 + nanosec, tuple(names), *lists)
