# SPDX-License-Identifier: Apache-2.0
"""Reads a serialized ``sensor_msgs/JointState``, of which 50 to 1000 come each second."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from behavior_ros.messages.wire import WireReader, reading

_MOST_SENDERS, _LARGEST = 20, 10_000
"""Whose names are kept, and the bytes of them."""
_names: dict[tuple[str, bytes], tuple[str, ...]] = {}
"""What stands between stamp and positions, by its bytes: a sender's are the same always."""


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

    @property
    def whole(self) -> bool:
        """Whether each joint has a position, and all are numbers."""
        return len(self.position) >= len(self.name) and bool(np.isfinite(self.position).all())


@lru_cache(maxsize=8)  # a process often hears the topic more than once
def read_joint_state(data: bytes) -> WireJointState:
    """The joint state of a message; it is shared, so do not change its arrays.

    Raises:
        ValueError: the bytes are no such message, or are cut off
    """
    with reading(data, "sensor_msgs/JointState") as wire:
        stamp = wire.stamp()
        names = _read_names(wire)
        lists = [wire.array(wire.count()) for _ in range(3)]
    return WireJointState(stamp, names, *lists)


def _read_names(wire: WireReader) -> tuple[str, ...]:
    for (order, block), names in list(_names.items()):
        if order == wire.order and wire.skip(block):
            return names
    begin = wire.at
    wire.text()  # the frame: joints have none
    names = tuple([wire.text() for _ in range(wire.count())])
    block = wire.since(begin)
    if len(_names) >= _MOST_SENDERS:
        _names.clear()
    if len(block) <= _LARGEST:
        _names[wire.order, block] = names
    return names
