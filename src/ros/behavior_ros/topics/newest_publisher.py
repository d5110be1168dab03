# SPDX-License-Identifier: Apache-2.0
"""A publisher that tells whoever comes late the newest message.

Middleware keeps messages for subscriptions with transient local durability only, and then as many
as the publisher's depth: a topic whose messages are events with a deep history would tell all of
them, the oldest first. So here the newest message is published once more when a subscription has
come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile

_PAUSE = 0.3
"""[s] steady time from the news of a subscription to the message: it must have heard of us too."""


class NewestPublisher:
    """Publishes on one topic; use it in the executor's thread.

    Args:
        node: publishes
        message_type: of the topic
        topic: its name
        qos: quality of service
        newest: returns the newest message for who comes late, None if there is none; by default it
            is what was published last
    """

    def __init__(
        self,
        node: Node,
        message_type: Any,
        topic: str,
        qos: QoSProfile,
        *,
        newest: Callable[[], Any] | None = None,
    ) -> None:
        self._node = node
        self._last: Any = None
        self._reached = 0
        """Subscriptions that have heard the newest message."""
        self._newest = newest or (lambda: self._last)
        self._timer = node.create_timer(
            _PAUSE, self._publish_newest, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()
        self._publisher = node.create_publisher(
            message_type,
            topic,
            qos,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )

    @property
    def listeners(self) -> int:
        """How many subscriptions there are."""
        return int(self._publisher.get_subscription_count())

    def publish(self, message: Any) -> None:
        """Publish a message."""
        self._last, self._reached = message, self.listeners
        self._publisher.publish(message)

    def destroy(self) -> None:
        """Publish no more."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _on_matched(self, change: Any) -> None:
        one_for_another = change.total_count_change > max(0, change.current_count_change)
        self._reached = 0 if one_for_another else min(self._reached, change.current_count)
        if change.current_count > self._reached:
            self._timer.reset()

    def _publish_newest(self) -> None:
        self._timer.cancel()
        message = self._newest() if self.listeners > self._reached else None
        if message is not None:
            self._reached = self.listeners
            self._publisher.publish(message)
