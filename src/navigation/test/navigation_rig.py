# SPDX-License-Identifier: Apache-2.0
"""One manager on a host node in simulated time that the test sets; a world that talks to it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from behavior_navigation.manager import NavigationManager
from behavior_ros import QOS_COMMAND, QOS_LATCHED, to_time, with_companions
from behavior_ros.testing import Spinner, own_domain, until
from behavior_tree import BehaviorTreeFactory, NodeStatus

T = TypeVar("T", bound=NavigationManager)


class World(Node):
    """Publishes what the test says, and keeps what the nodes under test publish."""

    def __init__(self) -> None:
        super().__init__("world")
        self.heard: dict[str, list[Any]] = {}
        self._publishers_of: dict[str, Any] = {}
        self._clock_publisher = self.create_publisher(Clock, "/clock", 10)

    def hear(self, message_type: type, topic: str, qos: QoSProfile = QOS_LATCHED) -> list[Any]:
        if topic not in self.heard:
            self.heard[topic] = []
            self.create_subscription(message_type, topic, self.heard[topic].append, qos)
        return self.heard[topic]

    def say(self, topic: str, message: Any, qos: QoSProfile = QOS_COMMAND) -> None:
        """Publish, once somebody listens."""
        publisher = self._publishers_of.get(topic)
        if publisher is None:
            publisher = self.create_publisher(type(message), topic, qos)
            self._publishers_of[topic] = publisher
        until(lambda: publisher.get_subscription_count() > 0, 90.0, f"a listener of {topic}")
        publisher.publish(message)

    def tell_time(self, now: float) -> None:
        self._clock_publisher.publish(Clock(clock=to_time(now)))


class Rig(Generic[T]):
    """The manager, its host and the world in one thread."""

    def __init__(self, spinner: Spinner, manager_class: type[T], now: float) -> None:
        self.spinner = spinner
        simulated = Parameter("use_sim_time", value=True)
        self.host = Node("host", parameter_overrides=[simulated])
        self.manager = manager_class(self.host)
        self.world = World()
        self.factory = BehaviorTreeFactory()
        self.manager.register_nodes(self.factory)
        self.state = self.manager.state
        spinner.start(*with_companions([self.host]), self.world)
        self.now = now
        self.set_time(now)

    def set_time(self, now: float) -> None:
        self.now = now
        clock = self.host.get_clock()

        def there() -> bool:
            self.world.tell_time(now)
            return bool(abs(clock.now().nanoseconds * 1e-9 - now) < 1e-6)

        until(there, 90.0, f"node time {now}")

    def wait(self, seconds: float) -> None:
        """Let node time pass, then tick."""
        self.set_time(self.now + seconds)
        self.tick()

    def tick(self) -> None:
        self.do(self.manager.pre_tick, self.now)

    def do(self, function: Callable, *args: Any) -> Any:
        return self.spinner.do(function, *args)

    def tree(self, xml: str) -> Any:
        text = f'<root BTCPP_format="4"><BehaviorTree ID="t">{xml}</BehaviorTree></root>'
        return self.factory.create_tree_from_text(text)

    def run(self, tree: Any) -> NodeStatus:
        """One tick of the manager and the tree."""
        self.tick()
        status: NodeStatus = self.do(tree.tick_exactly_once)
        return status

    def ask(self, condition: str) -> bool:
        """What a condition node answers now."""
        return self.run(self.tree(f"<{condition}/>")) is NodeStatus.SUCCESS


@contextmanager
def rig(manager_class: type[T], *parameters: str, now: float = 100.0) -> Iterator[Rig[T]]:
    """A rig whose nodes get these parameters, written as for ``-p``."""
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    words = [word for text in parameters for word in ("-p", text)]
    rclpy.init(args=["--ros-args", *words] if words else None)
    try:
        spinner = Spinner()
        made = Rig(spinner, manager_class, now)
        try:
            yield made
        finally:
            spinner.stop()
    finally:
        rclpy.try_shutdown()
