# SPDX-License-Identifier: Apache-2.0
"""The client's side of many goals at once: answers wait until they are taken.

rclpy's own client keeps the ten newest answers. All clients of a server hear all of its answers and
look for theirs among them, so ten are soon too few where many clients ask at once.
"""

from __future__ import annotations

from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from behavior_ros.qos import QOS_REQUESTS


def burst_action_client(node: Node, action_type: Any, name: str) -> ActionClient:
    """Return a client of an action that loses no answer.

    Args:
        node: the client's node
        action_type: type of the action
        name: of the action
    """
    return ActionClient(
        node,
        action_type,
        name,
        goal_service_qos_profile=QOS_REQUESTS,
        result_service_qos_profile=QOS_REQUESTS,
        cancel_service_qos_profile=QOS_REQUESTS,
        feedback_sub_qos_profile=QOS_REQUESTS,
    )
