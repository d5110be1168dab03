# SPDX-License-Identifier: Apache-2.0
"""The node that a manager has for itself, in the executor's process.

It has its own name, parameters, topics and diagnostics, but lives on the executor's clock: a clock
of its own would cost a callback per ``/clock`` message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from behavior_msgs.msg import Metrics
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_executor.conversion import metrics_message
from behavior_executor.managers.manager import BehaviorManager, shared
from behavior_executor.missions.statistics import Distribution, Metric
from behavior_ros import (
    OK,
    QOS_EVENT_LOG,
    QOS_SENSOR,
    WARN,
    AgeSince,
    DiagnosticsPublisher,
    MessageCache,
    ParameterSpec,
    TransformBuffer,
    create_transform_buffer,
    declare_all,
    read_only,
    register_companion,
)


class ManagerNode(Node):  # type: ignore[misc]
    """A node on the clock of another one."""

    def __init__(self, name: str, host: Node) -> None:
        """Make the node and have it spun with its host.

        Args:
            name: of the node; parameters given to the process count by this name.
            host: the executor's node.
        """
        self._host_clock: Clock | None = None
        super().__init__(name, namespace=host.get_namespace())
        self._host_clock = host.get_clock()
        register_companion(host, self)

    def get_clock(self) -> Clock:
        """The host's clock."""
        return self._host_clock or super().get_clock()

    def create_timer(self, period: float, callback: Any, **options: Any) -> Any:
        """As of any node, but on the host's clock unless told otherwise."""
        options.setdefault("clock", self.get_clock())
        return super().create_timer(period, callback, **options)


class NodeManager(BehaviorManager):
    """Base of the managers that have a node of their own.

    Once a second of steady time it publishes the manager's metrics and diagnostics.
    """

    def __init__(self, node: Node, parameters: Iterable[ParameterSpec] = ()) -> None:
        """Make the manager's node and declare its parameters.

        Args:
            node: the executor's node.
            parameters: of the manager's node.
        """
        super().__init__(node)
        self.manager_node = ManagerNode(self.name, node)
        self.values: dict[str, Any] = declare_all(self.manager_node, parameters)
        self._take_short_names()
        self.inputs: dict[str, MessageCache[Any]] = {}
        self._diagnostics = DiagnosticsPublisher(self.manager_node, "manager")
        self._metrics = self.manager_node.create_publisher(
            Metrics, "behavior/metrics", QOS_EVENT_LOG
        )
        self.steady_timer(1.0, self._report)

    def health(self) -> tuple[bytes, str]:
        """Level and sentence for the diagnostics: a warning while there is a problem."""
        problem = self.problem()
        return (WARN, problem) if problem else (OK, "works")

    def wake(self, *_: object) -> None:
        """Have a running tree see news at once; of use as a callback for any of them."""
        self.wake_tree()

    def input(
        self,
        name: str,
        message_type: Any,
        *,
        age_since: AgeSince = AgeSince.STAMP,
        qos: Any = QOS_SENSOR,
        callback: Callable[[Any], None] | None = None,
        wakes: bool = True,
    ) -> MessageCache[Any]:
        """A cache for an input that was declared by :func:`input_parameters`.

        Args:
            name: of the input.
            message_type: of its topic.
            age_since: what the age of a message counts from.
            qos: quality of service.
            callback: called with every message.
            wakes: every message has a running tree ticked at once; not for what comes in each cycle
                of a controller.
        """
        cache: MessageCache[Any] = MessageCache(
            self.manager_node,
            message_type,
            self.values[f"{name}.rx_message"],
            max_age=self.values[f"{name}.max_timeout"],
            qos=qos,
            callback=callback,
            age_since=age_since,
        )
        if wakes:
            cache.add_callback(self.wake)
        self.inputs[name] = cache
        return cache

    def input_metrics(self) -> list[Metric]:
        """For each input: messages taken in and left out, and the age of the newest one."""
        metrics = []
        for name, cache in self.inputs.items():
            age = cache.age()
            metrics += [
                Metric(f"{name}_messages", "", float(cache.sequence), is_counter=True),
                Metric(f"{name}_late", "", float(cache.late), is_counter=True),
                Metric(f"{name}_duplicates", "", float(cache.duplicates), is_counter=True),
                Metric(f"{name}_age", "s", age if math.isfinite(age) else -1.0),
            ]
        return metrics

    def metrics(self) -> list[Metric]:
        """Those of the inputs."""
        return self.input_metrics()

    def steady_timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Call something every `period` seconds of steady time, node time standing still or not."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        return self.manager_node.create_timer(period, callback, clock=steady)

    def stamp(self) -> Any:
        """Node time now, as a message."""
        return self.manager_node.get_clock().now().to_msg()

    def _take_short_names(self) -> None:
        """A manager with a single input may be given ``rx_message`` and ``max_timeout`` for it."""
        inputs = [name for name in self.values if name.endswith(".rx_message")]
        if len(inputs) != 1:
            return
        prefix = inputs[0].removesuffix("rx_message")
        given = declare_all(self.manager_node, _short_names(prefix))
        if given["rx_message"]:
            self.values[f"{prefix}rx_message"] = given["rx_message"]
        if given["max_timeout"] > 0.0:
            self.values[f"{prefix}max_timeout"] = given["max_timeout"]

    def _report(self) -> None:
        metrics = self.metrics()
        message = metrics_message(self.manager_node.get_name(), metrics)
        message.header.stamp = self.stamp()
        self._metrics.publish(message)
        level, text = self.health()
        figures = {m.name: m.value for m in metrics if not isinstance(m.value, Distribution)}
        self._diagnostics.set(level, text, **figures)


def input_parameters(
    name: str, topic: str, max_timeout: float, what: str
) -> tuple[ParameterSpec, ParameterSpec]:
    """Parameters of an input: its topic, and for how long a message of it counts.

    Args:
        name: of the input, prefix of both parameters.
        topic: default of ``rx_message``.
        max_timeout: default [s].
        what: a noun for the descriptions, like "verdicts of the localizer".
    """
    return (
        read_only(f"{name}.rx_message", topic, f"topic of {what}"),
        read_only(
            f"{name}.max_timeout",
            max_timeout,
            f"[s] age up to which {what} count; .inf: always",
            range=(1e-3, math.inf),
        ),
    )


def _short_names(prefix: str) -> tuple[ParameterSpec, ParameterSpec]:
    """The parameters of a manager's only input, without the name of that."""
    return (
        read_only("rx_message", "", f"the same as {prefix}rx_message; empty: as that says"),
        read_only(
            "max_timeout",
            0.0,
            f"the same as {prefix}max_timeout [s]; 0: as that says",
            range=(0.0, math.inf),
        ),
    )


def pose_tree_parameter() -> ParameterSpec:
    """The parameter ``pose_tree`` of every manager that looks up transforms."""
    return read_only(
        "pose_tree", "/tf", "topic of moving transforms; static ones come on <pose_tree>_static"
    )


class _PoseTrees(dict[str, TransformBuffer]):
    """Transform buffers by topic."""


def pose_tree(node: Node, topic: str) -> TransformBuffer:
    """The transforms of an executor: one buffer for all managers that name the same topic.

    Args:
        node: the executor's node.
        topic: value of the parameter ``pose_tree``.
    """
    trees = shared(node, _PoseTrees)
    if topic not in trees:
        trees[topic] = create_transform_buffer(node, topic)
    return trees[topic]
