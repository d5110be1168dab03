# SPDX-License-Identifier: Apache-2.0
"""Registers tree nodes made from ROS interfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rclpy.node import Node

from behavior_ros.leaves.node_models import NodeModel, NodeModelError
from behavior_ros.messages.interfaces import NotInstalledError

if TYPE_CHECKING:
    from behavior_tree import BehaviorTreeFactory, TreeNodeManifest


def register_ros_nodes(
    factory: BehaviorTreeFactory,
    node: Node,
    models: Iterable[NodeModel],
    *,
    barriers: Mapping[str, Callable[[Any], bool]] = MappingProxyType({}),
) -> None:
    """Register one tree node per model.

    Call it in the thread of the node's executor, where trees are ticked and halted too. Leaves of
    several factories share their clients. What is left out as its type is not installed
    (`NodeModel.if_installed`), the node's log names.

    Args:
        factory: gets the tree nodes
        node: through which they talk
        models: from :func:`load_node_models`
        barriers: by name; each tells of an action's result whether its effect can be seen already.
            A model with a barrier that nobody provides does not wait

    Raises:
        NodeModelError: listing every model that fits no interface
    """
    # Imported here: nodes without a tree need no tree engine.
    from behavior_ros.leaves.leaf_hub import leaf_hub

    hub = leaf_hub(node)
    hub.barriers.update(barriers)
    left_out = _for_each(
        models, lambda model, make: factory.register_node_type(make(hub, model), model.node)
    )
    if left_out:
        names = ", ".join(f"{model.node} ({model.type})" for model in left_out)
        node.get_logger().warning(f"tree nodes left out, their types are not installed: {names}")


def ros_node_manifests(models: Iterable[NodeModel]) -> list[TreeNodeManifest]:
    """Return what a factory would know of the nodes, without a ROS node: for checkers and editors.
    Models whose type is not installed are left out if they may be (`NodeModel.if_installed`).

    Args:
        models: from :func:`load_node_models`

    Raises:
        NodeModelError: listing every model that fits no interface
    """
    from behavior_tree import TreeNodeManifest

    found: list[TreeNodeManifest] = []
    _for_each(
        models,
        lambda model, make: found.append(
            TreeNodeManifest.of_class(make(_Unconnected(), model), model.node)
        ),
    )
    return found


class _Unconnected:
    """Stands in for the hub of classes that will have no instances."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_arguments, **_options: None


def _for_each(
    models: Iterable[NodeModel], use: Callable[[NodeModel, Callable[[Any, NodeModel], Any]], object]
) -> list[NodeModel]:
    """Call with each model and the function that makes its class; raises NodeModelError.

    Returns:
        the models that are left out, as their types are not installed
    """
    from behavior_ros.leaves.action_leaf import action_leaf
    from behavior_ros.leaves.cancel_leaf import cancel_leaf
    from behavior_ros.leaves.service_leaf import service_leaf
    from behavior_ros.leaves.topic_leaves import publisher_leaf, subscriber_leaf
    from behavior_tree import BehaviorTreeError

    makers: dict[str, Callable[[Any, NodeModel], Any]] = {
        "action": action_leaf,
        "service": service_leaf,
        "publisher": publisher_leaf,
        "subscriber": subscriber_leaf,
        "cancel": cancel_leaf,
    }

    def make(hub: Any, model: NodeModel) -> Any:
        node_class = makers[model.kind](hub, model)
        node_class.commands = model.commands
        return node_class

    problems: list[str] = []
    left_out: list[NodeModel] = []
    for model in models:
        try:
            use(model, make)
        except NotInstalledError as error:
            if model.if_installed:
                left_out.append(model)
            else:
                problems.append(f"node {model.node}: {error}")
        except (ValueError, BehaviorTreeError) as error:
            problems.append(f"node {model.node}: {error}")
    if problems:
        raise NodeModelError("\n".join(problems))
    return left_out
