# SPDX-License-Identifier: Apache-2.0
"""What has to end before a node may go: goals to finish, goals to cancel elsewhere.

When a process is told to stop, :func:`behavior_ros.run` begins the closing of everything that was
registered here, and goes on spinning for a moment so that cancellations get out and their answers
in. Only then nodes are destroyed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rclpy.node import Node


class Closable(Protocol):
    """Something of a node that needs a moment to end."""

    def begin_close(self) -> None:
        """Start to end, without blocking; called once or more, in the executor's thread."""

    def closed(self) -> bool:
        """Tell whether it has ended."""


def register_closable(node: Node, closable: Closable) -> None:
    """Have something closed before its node is destroyed."""
    _of(node).append(closable)


def unregister_closable(node: Node, closable: Closable) -> None:
    """Forget something that was closed already."""
    if closable in _of(node):
        _of(node).remove(closable)


def closables(nodes: Iterable[Node]) -> list[Closable]:
    """Return everything registered for some nodes."""
    return [closable for node in nodes for closable in _of(node)]


def _of(node: Node) -> list[Closable]:
    # Kept in the node itself: what is registered refers to its node, and both shall go together.
    entries: list[Closable] = vars(node).setdefault("_behavior_ros_closables", [])
    return entries
