# SPDX-License-Identifier: Apache-2.0
"""The client's side of many goals at once: answers wait until they are taken.

rclpy's own client keeps the ten newest answers. All clients of a server hear all of its answers and
look for theirs among them, so ten are soon too few where many clients ask at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from behavior_ros.topics.qos import QOS_REQUESTS


class BurstActionClient(ActionClient):  # type: ignore[misc] # rclpy has no type information
    """A client of an action that loses no answer, and tells of goals whatever becomes of answers.

    Args:
        node: the client's node
        action_type: type of the action
        name: of the action
    """

    def __init__(self, node: Node, action_type: Any, name: str) -> None:
        super().__init__(
            node,
            action_type,
            name,
            goal_service_qos_profile=QOS_REQUESTS,
            result_service_qos_profile=QOS_REQUESTS,
            cancel_service_qos_profile=QOS_REQUESTS,
            feedback_sub_qos_profile=QOS_REQUESTS,
        )
        self.on_status: dict[bytes, Callable[[int], None]] = {}
        """By identifier of a goal: is called with each status that the server tells of it."""

    def handle_of(self, identifier: UUID) -> ClientGoalHandle:
        """Return a handle to ask with for a goal, be it acknowledged or not."""
        return ClientGoalHandle(self, identifier, None)

    def forget(self, identifier: UUID) -> None:
        """Hand on nothing more of a goal.

        rclpy's keeps who hears of one that was rejected, or whose result never came, for good.
        """
        key = bytes(identifier.uuid)
        self.on_status.pop(key, None)
        self._feedback_callbacks.pop(key, None)

    async def execute(self, taken_data: Any) -> None:
        """Hand on what came, as rclpy does, and each goal's status."""
        await super().execute(taken_data)
        listed = taken_data["status"].status_list if "status" in taken_data else ()
        for entry in listed if self.on_status else ():
            callback = self.on_status.get(bytes(entry.goal_info.goal_id.uuid))
            if callback is not None:
                callback(entry.status)
