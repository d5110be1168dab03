# SPDX-License-Identifier: Apache-2.0
"""The suite's own tree nodes, as `behavior tree` knows them: their ports, without what they do."""

from __future__ import annotations

import sys

from behavior_tree import BehaviorTreeFactory, TreeNodeManifest, register_placeholders


def register_suite_nodes(factory: BehaviorTreeFactory) -> None:
    """Register a stand-in for every node that the executor has and the factory does not know.

    Where ROS or the suite's interfaces are not installed, nothing is registered: tree files
    describe the nodes that they use.
    """
    try:
        manifests = _manifests()
    except ImportError:
        return
    register_placeholders(factory, manifests)


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


def _manifests() -> list[TreeNodeManifest]:
    from behavior_executor.node.tree_nodes import (
        NodeContext,
        package_node_models,
        register_package_nodes,
    )
    from behavior_executor.scene.scene_manager import register_scene_nodes
    from behavior_executor.scene.scene_nodes import UnseenScene
    from behavior_ros import ros_node_manifests

    executor, scene = BehaviorTreeFactory(), UnseenScene()
    register_scene_nodes(executor, scene)
    register_package_nodes(executor, NodeContext(node=None, scene=scene), _complain)
    own = [each for each in executor.manifests().values() if not each.builtin]
    files = package_node_models(executor.manifests(), _complain)
    return [*own, *(each for models in files for each in ros_node_manifests(models))]
