# SPDX-License-Identifier: Apache-2.0
"""A subscription that lasts as long as a goal."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from behavior_ros import QOS_SENSOR


class GoalListener:
    """The newest message of a topic; used in a worker's thread, see `skill_server.Listener`."""

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self.newest: Any = None
        self.name = node.resolve_topic_name(topic)
        self._node, self._kind, self._topic = node, kind, topic
        self._subscription: Any = None
        self._closed = False
        self._in_executor(self._open)

    def publishers(self) -> int:
        """How many publish there."""
        return int(self._node.count_publishers(self.name))

    def close(self) -> None:
        """Listen no more."""
        self._closed = True
        self._in_executor(self._end)

    def _in_executor(self, function: Any) -> None:
        if self._node.executor is not None:
            self._node.executor.create_task(function)

    def _open(self) -> None:
        if not self._closed:
            self._subscription = self._node.create_subscription(
                self._kind, self._topic, self._keep, QOS_SENSOR
            )

    def _keep(self, message: Any) -> None:
        self.newest = message

    def _end(self) -> None:
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
