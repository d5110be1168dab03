# SPDX-License-Identifier: Apache-2.0
"""The topic ``/mission/action``. Each request is measured before it is read.

Reading a message into Python takes milliseconds for each hundred kilobytes, in which no tree is
ticked. So messages are taken as they came from the network; one that is too large is refused by its
size.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from behavior_msgs.msg import MissionAction
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from behavior_ros import QOS_REQUESTS
from behavior_ros.messages.limits import LONGEST_NAME, size_problem


class MissionTopic:
    """Takes missions from the topic."""

    def __init__(
        self,
        node: Node,
        *,
        take: Callable[[MissionAction], None],
        refuse: Callable[[MissionAction, str], None],
    ) -> None:
        """Subscribe.

        Args:
            node: through which.
            take: is given each mission.
            refuse: is given what is known of a message that cannot be read, and why.
        """
        self._node = node
        self._take = take
        self._refuse = refuse
        self._subscription = node.create_subscription(
            MissionAction, "mission/action", self._receive, QOS_REQUESTS, raw=True
        )

    def destroy(self) -> None:
        """Take no more."""
        self._node.destroy_subscription(self._subscription)

    def _receive(self, data: bytes) -> None:
        problem = size_problem(len(data))
        if not problem:
            try:
                message = deserialize_message(data, MissionAction)
            except RuntimeError as error:
                problem = f"it cannot be read: {error}"
        if problem:
            self._refuse(MissionAction(action_id=_action_id(data)), problem)
        else:
            self._take(message)


def _action_id(data: bytes) -> str:
    """The identifier of a serialized mission (CDR: header, then action_id); empty: not readable."""
    order = "<" if data[1:2] == b"\x01" else ">"
    body = memoryview(data)[4:]
    try:
        (frame_length,) = struct.unpack_from(f"{order}I", body, 8)
        place = 12 + frame_length + -frame_length % 4
        (length,) = struct.unpack_from(f"{order}I", body, place)
    except struct.error:
        return ""
    found = bytes(body[place + 4 : place + 3 + min(length, 4 * LONGEST_NAME)])
    return found.decode("utf-8", "replace")
