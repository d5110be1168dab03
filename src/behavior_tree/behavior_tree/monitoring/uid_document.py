# SPDX-License-Identifier: Apache-2.0
"""A tree as it was loaded, as XML whose nodes bear the numbers that statuses name.

The form is the one that Groot2 is given: one ``BehaviorTree`` per instance of a subtree, found by
``_fullpath``, and ``_uid`` on every node; then the models of the node types that it uses, so that
it can be built again where their programs are not.
"""

from __future__ import annotations

from collections.abc import Set
from xml.etree import ElementTree

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.xml.writer import manifest_lines

__all__ = ["uid_document"]


def uid_document(tree: Tree, tree_id: str) -> str:
    """XML of a tree.

    Args:
        tree: loaded tree.
        tree_id: ID of its main tree.
    """
    instances = {subtree.instance_name for subtree in tree.subtrees}
    root = ElementTree.Element("root", BTCPP_format="4", main_tree_to_execute=tree_id)
    waiting = [
        (ElementTree.SubElement(root, "BehaviorTree", ID=tree_id, _fullpath=""), [tree.root_node()])
    ]
    while waiting:
        parent, nodes = waiting.pop(0)
        for node in nodes:
            element = ElementTree.SubElement(parent, *_tag_and_attributes(node, instances))
            if node.type() is NodeType.SUBTREE:
                subtree = ElementTree.SubElement(
                    root, "BehaviorTree", ID=node.registration_id(), _fullpath=node.full_path()
                )
                waiting.append((subtree, node.children))
            else:
                waiting.append((element, node.children))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.removesuffix("</root>") + "\n".join([*_models(tree), "</root>"])


def _tag_and_attributes(node: TreeNode, instances: Set[str]) -> tuple[str, dict[str, str]]:
    config = node.config()
    attributes = {"name": str(node.name), "_uid": str(node.uid())}
    for texts in (config.input_ports, config.output_ports, config.condition_attributes):
        attributes.update(texts)
    if node.type() is not NodeType.SUBTREE:
        return node.registration_id(), attributes
    if node.children and node.children[0].config().blackboard.autoremapping:
        attributes["_autoremap"] = "true"
    # One that is named like its tree has that name in the paths below it, another one its uid too.
    if node.name == node.registration_id() and node.full_path() in instances:
        del attributes["name"]
    return "SubTree", {"ID": node.registration_id(), **attributes, "_fullpath": node.full_path()}


def _models(tree: Tree) -> list[str]:
    """What the node types are that the tree uses and not everybody knows."""
    used = {node.registration_id() for node in tree.nodes()}
    manifests = (each for type_id, each in sorted(tree.manifests.items()) if type_id in used)
    lines = [line for each in manifests if not each.builtin for line in manifest_lines(each)]
    return ["  <TreeNodesModel>", *lines, "  </TreeNodesModel>"] if lines else []
