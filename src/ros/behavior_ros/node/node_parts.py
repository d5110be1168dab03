# SPDX-License-Identifier: Apache-2.0
"""What belongs to a node beside what rclpy knows of: one object per node, and one place for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rclpy.node import Node

if TYPE_CHECKING:
    from behavior_ros.node.closing import Closable

T = TypeVar("T")


class NodeParts:
    """The parts of one node; get them from :func:`node_parts`."""

    def __init__(self) -> None:
        self.closables: list[Closable] = []
        """What has to end before the node may go."""
        self.companions: list[Node] = []
        """Nodes that spin and end together with this one."""
        self._shared: dict[type[Any], Any] = {}

    def shared(self, kind: type[T], make: Callable[[], T]) -> T:
        """The one object of a class that all users of the node share, made at the first request."""
        if kind not in self._shared:
            self._shared[kind] = make()
        found: T = self._shared[kind]
        return found


def node_parts(node: Node) -> NodeParts:
    """The parts of a node; call it first in the thread of the node's executor."""
    # Kept in the node itself: most parts refer to their node, and all shall go together.
    parts: NodeParts = vars(node).setdefault("_behavior_ros_parts", NodeParts())
    return parts
