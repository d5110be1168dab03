# SPDX-License-Identifier: Apache-2.0
"""Reads the transforms of a serialized ``tf2_msgs/TFMessage``, and writes such a message.

Every process that looks up frames receives all of them all the time, and hardly ever looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from geometry_msgs.msg import TransformStamped

from behavior_ros.messages.rotations import Quaternion, Vector
from behavior_ros.messages.wire import WireWriter, reading


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


def write_transforms(transforms: Sequence[TransformStamped]) -> bytes:
    """The message that holds these transforms, in order."""
    wire = WireWriter()
    wire.numbers("I", len(transforms))
    for each in transforms:
        wire.stamp(each.header.stamp)
        wire.text(each.header.frame_id)
        wire.text(each.child_frame_id)
        p, r = each.transform.translation, each.transform.rotation
        wire.numbers("7d", p.x, p.y, p.z, r.x, r.y, r.z, r.w)
    return wire.message()
