# SPDX-License-Identifier: Apache-2.0
"""Tree nodes that packages bring.

A package offers them in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    tree_nodes: [my_jobs.tree_nodes:register]   # functions that register nodes
    nodes: [config/nodes.yaml]                  # nodes made from ROS interfaces

A function registers as many as it likes::

    def register(factory: BehaviorTreeFactory, context: NodeContext) -> None:
        factory.register_node_type(Greet, "Greet")
        if context.scene is not None:
            factory.register_node_type(Sort, "Sort", context.scene)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node

from behavior_executor.scene.scene_nodes import Scene
from behavior_packages import Offer, PackageError, ambiguity, packages
from behavior_ros.leaves.node_models import NodeModel, NodeModelError, load_node_models
from behavior_tree import BehaviorTreeFactory, NodeTypeTakenError


@dataclass(frozen=True, kw_only=True)
class NodeContext:
    """What tree nodes may use of the executor that they run in."""

    node: Node | None
    """The executor's node; None where only the nodes' ports are asked for."""
    scene: Scene | None
    """Where nodes look at the detection scene; None: this executor has no scene manager."""


def register_package_nodes(
    factory: BehaviorTreeFactory, context: NodeContext, warn: Callable[[str], None]
) -> dict[str, str]:
    """Register what the functions of all packages register.

    Args:
        factory: gets the nodes.
        context: what they may use.
        warn: is given what is wrong with a package; the others' nodes are registered all the same.

    Returns:
        The package of each node.
    """
    brought: dict[str, Offer] = {}
    for offer in packages().offers("tree_nodes"):
        before = set(factory.manifests())
        try:
            offer.load()(factory, context)
        except PackageError as error:
            warn(str(error))
        except NodeTypeTakenError as error:
            first = brought.get(error.registration_id)
            both = [(each.package, each.place) for each in (first, offer) if each is not None]
            warn(ambiguity("tree node", error.registration_id, both))
        except Exception as error:  # a package may raise anything; the others shall be there
            warn(str(offer.failure(error)))
        brought |= dict.fromkeys(factory.manifests().keys() - before, offer)
    return {name: offer.package for name, offer in brought.items()}


def package_node_models(
    known: Collection[str], warn: Callable[[str], None]
) -> list[list[NodeModel]]:
    """Tree nodes made from ROS interfaces that packages offer, file by file.

    Args:
        known: names of nodes that are registered already.
        warn: is given what is wrong with a file; the others count all the same.
    """
    owners: dict[str, Offer] = {}
    files = []
    for offer in packages().offers("nodes"):
        try:
            found = load_node_models(Path(offer.value))
        except NodeModelError as error:
            warn(f"{offer.package}: {error}")
            continue
        for model in found:
            if model.node in owners:
                both = [(o.package, o.value) for o in (owners[model.node], offer)]
                warn(ambiguity("tree node", model.node, both))
            elif model.node in known:
                warn(f"{offer.value}: there is a tree node {model.node} already, this one is not")
        files.append([m for m in found if m.node not in owners and m.node not in known])
        owners |= {model.node: offer for model in files[-1]}
    return files
