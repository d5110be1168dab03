# SPDX-License-Identifier: Apache-2.0
"""The newest snapshot on a topic of objects, read when somebody asks for it.

Ten come in a simulated second, and whoever follows a mission asks for a few of all.
"""

from __future__ import annotations

from behavior_msgs.msg import SceneObjectArray
from rclpy.serialization import deserialize_message

from behavior_bringup.conversion import world_objects
from behavior_ros.messages.wire import reading
from behavior_sim.judging import WorldObject


class NewestSnapshot:
    """Of serialized `behavior_msgs/SceneObjectArray`; empty before the first one."""

    def __init__(self) -> None:
        self._data = b""
        self._message: SceneObjectArray | None = None
        self._objects: dict[str, WorldObject] | None = None

    def take(self, data: bytes) -> None:
        """Take in a message."""
        self._data, self._message, self._objects = data, None, None

    @property
    def time(self) -> float:
        """Its stamp [s]; -1: there is none."""
        if not self._data:
            return -1.0
        with reading(self._data, "behavior_msgs/SceneObjectArray") as wire:
            return wire.stamp() / 1e9

    @property
    def message(self) -> SceneObjectArray | None:
        """All of it."""
        if self._message is None and self._data:
            self._message = deserialize_message(self._data, SceneObjectArray)
        return self._message

    @property
    def objects(self) -> dict[str, WorldObject]:
        """Its objects by name."""
        if self._objects is None:
            self._objects = {} if self.message is None else world_objects(self.message)
        return self._objects
