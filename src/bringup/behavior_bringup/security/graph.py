# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a running stack use, read from the ROS graph, by process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node

from behavior_bringup.security.policy import Profile
from behavior_bringup.stacks.description import Process

_PREFIX = 12
"""Bytes of an endpoint's identifier that name its participant: the process."""
_EVERY_NODE = "/parameter_events"
"""Topic that every node of rclpy and rclcpp publishes."""


def nodes_by_process(observer: Node, processes: Iterable[Process]) -> dict[str, set[str]]:
    """The fully qualified names of the nodes in each process, also of those that it makes itself.

    Nodes of a process share a participant. Only nodes that publish parameter events are found.

    Args:
        observer: sees the graph.
        processes: of the stack; a process is known by the nodes that its description names.
    """
    participants: dict[bytes, set[str]] = {}
    for endpoint in observer.get_publishers_info_by_topic(_EVERY_NODE):
        name = f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"
        participants.setdefault(bytes(endpoint.endpoint_gid[:_PREFIX]), set()).add(name)
    found: dict[str, set[str]] = {}
    for process in processes:
        own = {f"/{node.name}" for node in process.nodes} or {f"/{process.name}"}
        for names in participants.values():
            if own & names:
                found.setdefault(process.name, set()).update(names)
    return found


def profile_of(observer: Node, node: str) -> Profile:
    """What a node uses now."""
    namespace, _, name = node.rpartition("/")
    where = (name, namespace or "/")

    def names(pairs: Iterable[tuple[str, list[str]]]) -> set[str]:
        return {each for each, _ in pairs if "/_action/" not in each}

    return Profile(
        publish=names(observer.get_publisher_names_and_types_by_node(*where)),
        subscribe=names(observer.get_subscriber_names_and_types_by_node(*where)),
        reply=names(observer.get_service_names_and_types_by_node(*where)),
        request=names(observer.get_client_names_and_types_by_node(*where)),
        execute=names(get_action_server_names_and_types_by_node(observer, *where)),
        call=names(get_action_client_names_and_types_by_node(observer, *where)),
    )


def profiles(observer: Node, processes: Iterable[Process]) -> dict[str, dict[str, Profile]]:
    """What all nodes of a running stack use now, by process and fully qualified name."""
    found: Mapping[str, set[str]] = nodes_by_process(observer, processes)
    return {
        process: {node: profile_of(observer, node) for node in nodes}
        for process, nodes in found.items()
    }
