# SPDX-License-Identifier: Apache-2.0
"""Tree nodes that other packages bring.

A package adds tree nodes by an entry point in the group ``behavior_executor.tree_nodes``::

    entry_points={"behavior_executor.tree_nodes": ["my_jobs = my_jobs.tree_nodes:register"]}

which names a function that registers them::

    def register(factory: BehaviorTreeFactory, context: NodeContext) -> None:
        factory.register_node_type(Greet, "Greet")
        if context.scene is not None:
            factory.register_node_type(Sort, "Sort", context.scene)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points

from rclpy.node import Node

from behavior_executor.scene_nodes import Scene
from behavior_tree import BehaviorTreeFactory

ENTRY_POINT_GROUP = "behavior_executor.tree_nodes"


@dataclass(frozen=True, kw_only=True)
class NodeContext:
    """What tree nodes may use of the executor that they run in."""

    node: Node | None
    """The executor's node; None where only the nodes' ports are asked for."""
    scene: Scene | None
    """Where nodes look at the detection scene; None: this executor has no scene manager."""


def register_package_nodes(
    factory: BehaviorTreeFactory, context: NodeContext, tell: Callable[[str], None]
) -> None:
    """Register the tree nodes of all packages.

    Args:
        factory: gets the nodes.
        context: what they may use.
        tell: is given what is wrong with a package; the others are registered all the same.
    """
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name):
        try:
            point.load()(factory, context)
        except Exception as error:  # a package may raise anything; the others shall be there
            tell(f"tree nodes of {point.name} ({point.value}): {type(error).__name__}: {error}")
