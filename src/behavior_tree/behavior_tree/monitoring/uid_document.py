# SPDX-License-Identifier: Apache-2.0
"""A tree as it was loaded, as XML whose nodes bear the numbers that statuses name.

The form is the one that Groot2 is given: one ``BehaviorTree`` per instance of a subtree, found by
``_fullpath``, and ``_uid`` on every node.
"""

from __future__ import annotations

from xml.etree import ElementTree

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree

__all__ = ["uid_document"]


def uid_document(tree: Tree, tree_id: str) -> str:
    """XML of a tree.

    Args:
        tree: loaded tree.
        tree_id: ID of its main tree.
    """
    root = ElementTree.Element("root", BTCPP_format="4", main_tree_to_execute=tree_id)
    waiting = [
        (ElementTree.SubElement(root, "BehaviorTree", ID=tree_id, _fullpath=""), [tree.root_node()])
    ]
    while waiting:
        parent, nodes = waiting.pop(0)
        for node in nodes:
            element = ElementTree.SubElement(parent, *_tag_and_attributes(node))
            if node.type() is NodeType.SUBTREE:
                subtree = ElementTree.SubElement(
                    root, "BehaviorTree", ID=node.registration_id(), _fullpath=node.full_path()
                )
                waiting.append((subtree, node.children))
            else:
                waiting.append((element, node.children))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _tag_and_attributes(node: TreeNode) -> tuple[str, dict[str, str]]:
    config = node.config()
    attributes = {"name": str(node.name), "_uid": str(node.uid())}
    for texts in (config.input_ports, config.output_ports, config.condition_attributes):
        attributes.update(texts)
    if node.type() is not NodeType.SUBTREE:
        return node.registration_id(), attributes
    return "SubTree", {"ID": node.registration_id(), **attributes, "_fullpath": node.full_path()}
