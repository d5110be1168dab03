# SPDX-License-Identifier: Apache-2.0
"""What has to end before a node may go: goals to finish, goals to cancel elsewhere.

When a process is told to stop, :func:`behavior_ros.run` begins the closing of everything that was
registered here, and goes on spinning for a moment so that cancellations get out and their answers
in. Only then nodes are destroyed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node

from behavior_ros.node.node_parts import node_parts


class Closable(Protocol):
    """Something of a node that needs a moment to end."""

    def begin_close(self) -> None:
        """Start to end, without blocking; called once or more, in the executor's thread."""

    def closed(self) -> bool:
        """Tell whether it has ended."""


def register_closable(node: Node, closable: Closable) -> None:
    """Have something closed before its node is destroyed."""
    node_parts(node).closables.append(closable)


def unregister_closable(node: Node, closable: Closable) -> None:
    """Forget something that was closed already."""
    registered = node_parts(node).closables
    if closable in registered:
        registered.remove(closable)


def closables(nodes: Iterable[Node]) -> list[Closable]:
    """Return everything registered for some nodes."""
    return [closable for node in nodes for closable in node_parts(node).closables]


def destroy_node(node: Node) -> None:
    """Destroy a node, and what rclpy's own method forgets: its actions, its lifecycle's states.

    What is left of them keeps the node and its participant until Python's collector comes by, at
    any moment: also when another participant is being discovered, for which Fast DDS then waits in
    vain, with the interpreter locked. And from then on a new node of the same name is not heard on
    /rosout, since rcl takes the name off its list.
    """
    node.destroy_node()
    for waitable in list(node.waitables):
        if isinstance(waitable, ActionServer | ActionClient):
            waitable.destroy()
    if isinstance(node, LifecycleNode):
        node._state_machine.destroy_when_not_in_use()
