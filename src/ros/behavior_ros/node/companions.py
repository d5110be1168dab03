# SPDX-License-Identifier: Apache-2.0
"""Nodes that a node made for its own use: they spin and end together with it."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.node import Node

from behavior_ros.node.node_parts import node_parts


def register_companion(node: Node, companion: Node) -> None:
    """Have a second node spun by whoever spins the first, and destroyed with it."""
    node_parts(node).companions.append(companion)


def with_companions(nodes: Iterable[Node]) -> list[Node]:
    """The nodes, each followed by its companions."""
    return [
        each for node in nodes for each in (node, *with_companions(node_parts(node).companions))
    ]
