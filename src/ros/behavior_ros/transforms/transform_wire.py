# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms of a serialized ``tf2_msgs/TFMessage`` without making messages of them.

Every process that looks up frames receives all of them all the time, and hardly ever looks.
"""

from __future__ import annotations

from typing import NamedTuple

from behavior_ros.messages.rotations import Quaternion, Vector
from behavior_ros.messages.wire import reading


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


def read_transforms(data: bytes) -> list[WireTransform]:
    """The transforms of a message, in order.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    found = []
    with reading(data, "tf2_msgs/TFMessage") as wire:
        for _ in range(wire.count()):
            stamp, parent, child = wire.stamp(), wire.text(), wire.text()
            x, y, z, i, j, k, w = wire.doubles(7)
            found.append(WireTransform(parent, child, stamp, (x, y, z), (i, j, k, w)))
    return found
