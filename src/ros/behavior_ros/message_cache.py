# SPDX-License-Identifier: Apache-2.0
"""The newest message of a topic, as long as it is fresh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from rclpy.node import Node
from rclpy.qos import QoSProfile

from behavior_ros.qos import QOS_SENSOR

M = TypeVar("M")


class MessageCache(Generic[M]):
    """Keep the newest message of a topic.

    Args:
        node: receives the messages; its clock measures their age
        message_type: type of the topic's messages
        topic: name of the topic
        max_age: [s] after its arrival for which a message counts as fresh; infinite by default
        qos: quality of service; sensor data by default
        callback: called with every message after it was stored

    Age counts from arrival at this node: that needs no stamp in the message and no agreement of
    clocks. Where the age of the measurement matters, compare its own stamp.
    """

    def __init__(
        self,
        node: Node,
        message_type: type[M],
        topic: str,
        *,
        max_age: float = float("inf"),
        qos: QoSProfile | int = QOS_SENSOR,
        callback: Callable[[M], None] | None = None,
    ) -> None:
        if not max_age > 0:
            raise ValueError(f"max_age of {topic} is {max_age} s: give a positive number")
        self.max_age = max_age
        self.topic = topic
        self._node = node
        self._clock = node.get_clock()
        self._callback = callback
        self._sequence = 0
        self._consumed = 0
        # One tuple, so that readers in other threads see message and arrival together.
        self._entry: tuple[M, int] | None = None
        self._subscription = node.create_subscription(message_type, topic, self._receive, qos)

    def _receive(self, message: M) -> None:
        self._entry = (message, self._clock.now().nanoseconds)
        self._sequence += 1
        if self._callback is not None:
            self._callback(message)

    @property
    def sequence(self) -> int:
        """Number of messages received so far."""
        return self._sequence

    def newest(self) -> M | None:
        """Return the newest message however old, None before the first."""
        entry = self._entry
        return None if entry is None else entry[0]

    def age(self) -> float:
        """Return the seconds since the newest message arrived, infinite before the first."""
        entry = self._entry
        if entry is None:
            return float("inf")
        # Simulated time may jump back on a restart of the simulation: never negative.
        elapsed: int = self._clock.now().nanoseconds - entry[1]
        return max(0.0, elapsed * 1e-9)

    def fresh(self) -> bool:
        """Tell whether there is a message no older than max_age."""
        return self._entry is not None and self.age() <= self.max_age

    def latest(self) -> M | None:
        """Return the newest message if it is fresh, otherwise None."""
        return self.newest() if self.fresh() else None

    def consume_new(self) -> M | None:
        """Return the newest message once, and None until another arrives."""
        sequence = self._sequence
        if sequence == self._consumed:
            return None
        self._consumed = sequence
        return self.newest()

    def clear(self) -> None:
        """Forget the message, as after a reset of the world."""
        self._entry = None
        self._consumed = self._sequence

    def destroy(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)
