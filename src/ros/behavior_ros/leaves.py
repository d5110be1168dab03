# SPDX-License-Identifier: Apache-2.0
"""Registers tree nodes made from ROS interfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rclpy.node import Node

from behavior_ros.node_models import NodeModel, NodeModelError
from behavior_ros.transforms import TransformBuffer

if TYPE_CHECKING:
    from behavior_tree import BehaviorTreeFactory


def register_ros_nodes(
    factory: BehaviorTreeFactory,
    node: Node,
    models: Iterable[NodeModel],
    *,
    transform_buffer: TransformBuffer | None = None,
) -> None:
    """Register one tree node per model, and LookUpFrame if there is a transform buffer.

    Call it in the thread of the node's executor, where trees are ticked and halted too. Leaves of
    several factories share their clients.

    Args:
        factory: gets the tree nodes
        node: through which they talk
        models: from :func:`load_node_models`
        transform_buffer: for LookUpFrame

    Raises:
        NodeModelError: listing every model that fits no interface
    """
    # Imported here: nodes without a tree need no tree engine.
    from behavior_ros.action_leaf import action_leaf
    from behavior_ros.leaf_hub import LeafHub, leaf_hub
    from behavior_ros.service_leaf import service_leaf
    from behavior_ros.topic_leaves import publisher_leaf, subscriber_leaf
    from behavior_ros.transform_leaf import LookUpFrame
    from behavior_tree import BehaviorTreeError

    makers: dict[str, Callable[[LeafHub, NodeModel], Any]] = {
        "action": action_leaf,
        "service": service_leaf,
        "publisher": publisher_leaf,
        "subscriber": subscriber_leaf,
    }
    hub = leaf_hub(node)
    problems: list[str] = []
    for model in models:
        try:
            factory.register_node_type(makers[model.kind](hub, model), model.node)
        except (ValueError, BehaviorTreeError) as error:
            problems.append(f"node {model.node}: {error}")
    if problems:
        raise NodeModelError("\n".join(problems))
    if transform_buffer is not None:
        factory.register_node_type(LookUpFrame, "LookUpFrame", transform_buffer)
