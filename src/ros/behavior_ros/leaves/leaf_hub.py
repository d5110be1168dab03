# SPDX-License-Identifier: Apache-2.0
"""What the leaves of one node share: clocks, clients, publishers and newest messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from behavior_ros.actions.remote_action import RemoteAction, remote_actions
from behavior_ros.leaves.needs import Need, action_need, service_need, topic_need
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.node.node_parts import node_parts
from behavior_ros.topics.message_cache import MessageCache
from behavior_ros.topics.qos import QOS_COMMAND, QOS_LATCHED, QOS_REQUESTS, QOS_SENSOR


class LeafHub:
    """Shared by the leaves of one node; get it from :func:`leaf_hub`.

    Used in the executor's thread only.

    Args:
        node: the node whose leaves these are
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._clock = node.get_clock()
        self._clients: dict[tuple[str, str, Any], Any] = {}
        self.barriers: dict[str, Callable[[Any], bool]] = {}
        """Tell of a result whether its effect can be seen here, by the name of the barrier."""

    def now(self) -> float:
        """Return the node's time in seconds: for what robots do."""
        return float(self._clock.now().nanoseconds) * 1e-9

    def wall(self) -> float:
        """Return wall time in seconds: for whether processes are there."""
        return time.monotonic()

    def action(self, action_type: Any, name: str) -> RemoteAction:
        """Return an action of another node."""
        return remote_actions(self.node).action(action_type, name)

    def service_client(self, service_type: Any, name: str) -> Any:
        """Return the client of a service, one for all leaves."""
        return self._shared(
            "service",
            name,
            service_type,
            lambda: self.node.create_client(service_type, name, qos_profile=QOS_REQUESTS),
        )

    def publisher(self, message_type: Any, topic: str, *, latched: bool) -> Any:
        """Return the publisher of a topic, one for all leaves."""
        qos = QOS_LATCHED if latched else QOS_COMMAND
        return self._shared(
            "publisher",
            topic,
            message_type,
            lambda: self.node.create_publisher(message_type, topic, qos),
        )

    def message_cache(self, message_type: Any, topic: str, *, latched: bool) -> MessageCache[Any]:
        """Return the newest message of a topic, one cache for all leaves."""
        qos = QOS_LATCHED if latched else QOS_SENSOR
        cache: MessageCache[Any] = self._shared(
            "subscriber",
            topic,
            message_type,
            lambda: MessageCache(self.node, message_type, topic, qos=qos),
        )
        return cache

    def needs(self, model: NodeModel, interface: Any) -> list[Need]:
        """Return what a leaf of a model needs of other nodes.

        Args:
            model: of an action, a service, or a topic to listen to, or to cancel an action
            interface: its class
        """
        who = model.offered_by
        if model.optional:
            return []
        if model.kind in ("action", "cancel"):
            return [action_need(self.action(interface, model.name), offered_by=who)]
        if model.kind == "service":
            client = self.service_client(interface, model.name)
            return [service_need(self.node, client, offered_by=who)]
        return [topic_need(self.node, interface, model.name, offered_by=who)]

    def _shared(self, kind: str, name: str, interface: Any, make: Callable[[], Any]) -> Any:
        key = (kind, name, interface)
        if key not in self._clients:
            self._clients[key] = make()
        return self._clients[key]


def leaf_hub(node: Node) -> LeafHub:
    """Return the node's hub: one, however many factories register leaves."""
    return node_parts(node).shared(LeafHub, lambda: LeafHub(node))
