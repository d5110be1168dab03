# SPDX-License-Identifier: Apache-2.0
"""What a tree's leaf needs of other nodes: actions and services that are offered, topics that are
published.

A leaf tells by a method ``ros_needs``, which whoever starts a tree asks before its first tick::

    def ros_needs(self) -> list[Need]:
        return [action_need(self._action, offered_by="skills")]

A name that is known at run time only, such as one from the blackboard, is no need: leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from behavior_ros.actions.remote_action import RemoteAction


@dataclass(frozen=True)
class Need:
    """One action, service or topic."""

    what: str
    """Kind, resolved name and type: ``action /pick (behavior_msgs/action/Pick)``."""
    ready: Callable[[], bool]
    """Whether it is there now; cheap."""
    offered_by: str = ""
    """Name of the node that offers it, as far as somebody knows."""
    other_types: Callable[[], Sequence[str]] = tuple
    """Types other than the wanted one under which the name is there now."""


def needs_of(leaf: object) -> Sequence[Need]:
    """What a leaf needs, as far as that is known before its first tick; nothing of one that does
    not tell.
    """
    tell: Callable[[], Sequence[Need]] = getattr(leaf, "ros_needs", tuple)
    return tell()


def action_need(action: RemoteAction, *, offered_by: str = "") -> Need:
    """The need of an action's server."""
    node, wanted = action.node, type_name(action.type)
    name = action.name

    def other_types() -> list[str]:
        types = _published_types(node, f"{name}/_action/feedback")
        return sorted({each.removesuffix("_FeedbackMessage") for each in types} - {wanted})

    return Need(f"action {name} ({wanted})", action.ready, offered_by, other_types)


def service_need(node: Node, client: Any, *, offered_by: str = "") -> Need:
    """The need of a service's server, by rclpy's client of it."""
    what = f"service {client.service_name} ({type_name(client.srv_type)})"
    return Need(what, client.service_is_ready, offered_by)


def topic_need(node: Node, message_type: Any, topic: str, *, offered_by: str = "") -> Need:
    """The need of somebody who publishes on a topic."""
    name, wanted = node.resolve_topic_name(topic), type_name(message_type)
    return Need(
        f"topic {name} ({wanted})",
        lambda: wanted in _published_types(node, name),
        offered_by,
        lambda: sorted(set(_published_types(node, name)) - {wanted}),
    )


def type_name(interface: Any) -> str:
    """Name of an interface by its class: ``behavior_msgs/action/Pick``."""
    package, kind = interface.__module__.split(".")[:2]
    return f"{package}/{kind}/{interface.__name__}"


def _published_types(node: Node, topic: str) -> list[str]:
    return [each.topic_type for each in node.get_publishers_info_by_topic(topic)]
