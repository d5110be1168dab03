# SPDX-License-Identifier: Apache-2.0
"""The programs that follow a simulation, as a node hears of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from std_msgs.msg import Header

from behavior_ros import ParameterSpec
from behavior_ros.messages.wire import reading
from behavior_ros.process.clock_follower import followed_topic
from behavior_ros.topics.background import create_background_subscription
from behavior_sim.node.followers import Followers

BUSY_SPEED = ParameterSpec(
    "busy_speed",
    0.0,
    "The same, but at most, while a program that tells on /clock/followed how far it has come"
    " still computes: so that planning takes no more simulated time than it does on a robot;"
    " 0: speed counts.",
    range=(0.0, 1000.0),
)
"""Parameter of a simulation, beside `speed`: the `pace` of `Followers`."""


class HeardFollowers(Followers):
    """Followers that tell on ``/clock/followed`` how far they have come.

    They are waited for where time may go faster than `busy_speed`; else nobody needs to tell.

    Args:
        node: of the simulation.
        values: its parameters ``speed`` and `BUSY_SPEED`.
        on_news: called when one has come further, in any thread.
    """

    def __init__(self, node: Node, values: Mapping[str, Any], on_news: Callable[[], None]) -> None:
        super().__init__(0.0)
        self._node, self._on_news = node, on_news
        self._subscription: Subscription | None = None
        self._speed, self._busy_speed = 1.0, 0.0
        self.take(values)

    def take(self, values: Mapping[str, Any]) -> None:
        """Those of the node's parameters that have changed."""
        self._speed = values.get("speed", self._speed)
        self._busy_speed = values.get("busy_speed", self._busy_speed)
        faster = self._speed == 0.0 or self._speed > self._busy_speed
        self.pace = self._busy_speed if faster else 0.0
        if self.pace > 0.0 and self._subscription is None:
            topic = followed_topic(self._node)
            self._subscription = create_background_subscription(
                self._node, Header, topic, self._hear, QoSProfile(depth=100)
            )
        elif self.pace <= 0.0 and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def count(self) -> None:
        """See how many there are; to be called now and then."""
        self.expected = max(1, self._node.count_publishers(followed_topic(self._node)))

    def _hear(self, data: bytes) -> None:
        with reading(data, "std_msgs/Header") as wire:
            stamp, name = wire.stamp(), wire.text()
        self.follow(name, 1e-9 * stamp)
        self._on_news()
