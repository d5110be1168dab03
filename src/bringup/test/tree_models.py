# SPDX-License-Identifier: Apache-2.0
"""Keeps the node models in the tree files true, so that Groot2 knows every node's ports.

``python test/tree_models.py`` rewrites what stands after the marker in each ``TreeNodesModel``; a
test compares.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import rclpy
from rclpy.node import Node

from behavior_executor.managers.manager import load_manager_class
from behavior_executor.node.tree_nodes import (
    NodeContext,
    package_node_models,
    register_package_nodes,
)
from behavior_executor.scene.scene_manager import SceneManager
from behavior_ros import register_ros_nodes
from behavior_ros.testing import own_domain
from behavior_tree import BehaviorTreeFactory, TreeNodeManifest
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.decider import register_decider_nodes

ROOT = Path(__file__).parents[3]
TREE_FILES = sorted((ROOT / "trees").rglob("*.xml"))
MARKER = "    <!-- Nodes used here, as their code declares them; written by tree_models.py. -->\n"
END = "  </TreeNodesModel>\n"


MANAGERS = (
    "system_health",
    "autonomy_level",
    "map",
    "entity",
    "action",
    "planner",
    "loco_manipulation",
)
MODULES = ["--ros-args", "-p", "entity:managed_entities:=[egm, rpp, sdm, tp]"]


@contextmanager
def real_factory() -> Iterator[BehaviorTreeFactory]:
    """A factory with all nodes that the executor has, whatever its stack."""
    os.environ["ROS_DOMAIN_ID"] = str(own_domain())
    rclpy.init(args=MODULES)
    node = Node("loader")
    factory = BehaviorTreeFactory()
    register_decider_nodes(factory)
    register_authoring_nodes(factory)
    scene = SceneManager(node)
    for manager in (scene, *(load_manager_class(name)(node) for name in MANAGERS)):
        manager.register_nodes(factory)
    problems: list[str] = []
    register_package_nodes(factory, NodeContext(node=node, scene=scene), problems.append)
    for models in package_node_models(factory.manifests(), problems.append):
        register_ros_nodes(factory, node, models)
    assert not problems
    yield factory
    node.destroy_node()
    rclpy.try_shutdown()


def updated(text: str, factory: BehaviorTreeFactory) -> str:
    """The text of a tree file with true node models."""
    root = ElementTree.fromstring(text)
    used = {element.tag for tree in root.iterfind("BehaviorTree") for element in tree.iter()}
    manifests = factory.manifests()
    own = [manifests[tag] for tag in sorted(used & set(manifests)) if not manifests[tag].builtin]
    before, _, rest = text.partition(MARKER)
    if not rest:
        before, _, rest = text.partition(END)
        rest = END + rest
    after = rest[rest.index(END) :]
    return before + MARKER + "".join(map(_model, own)) + after


def _model(manifest: TreeNodeManifest) -> str:
    tag = manifest.type.tag
    lines = [f"    <{tag} ID={quoteattr(manifest.registration_id)}>\n"]
    for port in manifest.ports.values():
        kind = f"{port.direction.name.lower()}_port"
        text = f"      <{kind} name={quoteattr(port.name)} type={quoteattr(type_name(port.type))}"
        if port.default_text is not None:
            text += f" default={quoteattr(port.default_text)}"
        text += f">{escape(port.description)}</{kind}>\n" if port.description else "/>\n"
        lines.append(text)
    return "".join([*lines, f"    </{tag}>\n"])


if __name__ == "__main__":
    with real_factory() as REAL:
        for path in TREE_FILES:
            path.write_text(updated(path.read_text(), REAL))
