# SPDX-License-Identifier: Apache-2.0
"""The newest message of a topic, as long as it is fresh."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, Generic, TypeVar

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile

from behavior_ros.messages.conversions import seconds
from behavior_ros.topics.background import create_background_subscription
from behavior_ros.topics.newest_entry import JUMP_BACK, NewestEntry
from behavior_ros.topics.qos import QOS_SENSOR

M = TypeVar("M")


class AgeSince(Enum):
    """What the age of a message counts from."""

    ARRIVAL = "arrival"
    """Arrival at this node, in node time: needs no stamp and no agreement of clocks."""
    HEARTBEAT = "heartbeat"
    """Arrival at this node, in steady time: for signs of life, also while node time stands still.
    """
    STAMP = "stamp"
    """The message's ``header.stamp``, in node time: for measurements. Late, duplicated and
    out-of-order messages are left out."""


class MessageCache(Generic[M]):
    """Keep the newest message of a topic.

    Args:
        node: receives the messages; its clock measures their age
        message_type: type of the topic's messages
        topic: name of the topic
        max_age: [s] for which a message counts as fresh, inclusive; infinite by default
        qos: quality of service; sensor data by default
        callback: called with every message after it was stored; not with those left out
        age_since: what age counts from
        raw: keep messages serialized, for those of which few are looked at; they are received in
            the background, and so is `callback` called

    When the clock jumps backwards, as when a simulation starts anew, the message is forgotten.

    Raises:
        ValueError: if max_age is zero, negative or no number
    """

    def __init__(
        self,
        node: Node,
        message_type: type[Any],
        topic: str,
        *,
        max_age: float = float("inf"),
        qos: QoSProfile | int = QOS_SENSOR,
        callback: Callable[[M], None] | None = None,
        age_since: AgeSince = AgeSince.ARRIVAL,
        raw: bool = False,
    ) -> None:
        if not max_age > 0:
            raise ValueError(f"max_age of {topic} is {max_age} s: give a positive number")
        self._node = node
        self._entry: NewestEntry[M] = NewestEntry(max_age)
        self._stamped = age_since is AgeSince.STAMP
        steady = age_since is AgeSince.HEARTBEAT
        self._clock = Clock(clock_type=ClockType.STEADY_TIME) if steady else node.get_clock()
        self._callbacks = [] if callback is None else [callback]
        self._sequence = 0
        self._consumed = 0
        self._jump = None
        if not steady:
            back = Duration(seconds=-JUMP_BACK)
            threshold = JumpThreshold(min_forward=None, min_backward=back, on_clock_change=True)
            self._jump = self._clock.create_jump_callback(
                threshold, post_callback=lambda jump: self.clear()
            )
        subscribe = (
            partial(create_background_subscription, node) if raw else node.create_subscription
        )
        self._subscription = subscribe(message_type, topic, self._receive, qos)
        self.topic: str = self._subscription.topic_name
        """Resolved name."""

    def _receive(self, message: Any) -> None:
        stamp = seconds(message.header.stamp) if self._stamped else None
        if not self._entry.offer(message, self._now(), stamp):
            return
        self._sequence += 1
        for callback in self._callbacks:
            callback(message)

    def add_callback(self, callback: Callable[[M], None]) -> None:
        """Have one more function called with every message after it was stored."""
        self._callbacks.append(callback)

    def _now(self) -> float:
        return float(self._clock.now().nanoseconds) * 1e-9

    @property
    def max_age(self) -> float:
        """[s] Age up to which a message is fresh; may be set."""
        return self._entry.max_age

    @max_age.setter
    def max_age(self, value: float) -> None:
        self._entry.max_age = value

    @property
    def sequence(self) -> int:
        """Number of messages taken in so far."""
        return self._sequence

    @property
    def late(self) -> int:
        """Number of messages left out because a newer one was there already."""
        return self._entry.late

    @property
    def duplicates(self) -> int:
        """Number of messages left out because one of the same stamp was there already."""
        return self._entry.duplicates

    def newest(self) -> M | None:
        """Return the newest message however old, None before the first."""
        return self._entry.newest()

    def age(self) -> float:
        """Return the age of the newest message [s], infinite before the first."""
        return self._entry.age(self._now())

    def fresh(self) -> bool:
        """Tell whether there is a message no older than max_age."""
        return self._entry.fresh(self._now())

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
        self._entry.clear()
        self._consumed = self._sequence

    def destroy(self) -> None:
        """Unsubscribe."""
        if self._jump is not None:
            self._jump.unregister()
        self._node.destroy_subscription(self._subscription)
