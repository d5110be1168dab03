# SPDX-License-Identifier: Apache-2.0
"""Nodes that a node made for its own use: they spin and end together with it."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node


def register_companion(node: Node, companion: Node) -> None:
    """Have a second node spun by whoever spins the first, and destroyed with it."""
    _of(node).append(companion)


def with_companions(nodes: Iterable[Node]) -> list[Node]:
    """The nodes, each followed by its companions."""
    return [each for node in nodes for each in (node, *with_companions(_of(node)))]


def _of(node: Node) -> list[Node]:
    # Kept in the node itself, as in behavior_ros.closing.
    entries: list[Node] = vars(node).setdefault("_behavior_ros_companions", [])
    return entries
