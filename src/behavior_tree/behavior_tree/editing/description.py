# SPDX-License-Identifier: Apache-2.0
"""XML elements of live nodes, so that an edit is checked by the validator that checks files."""

from __future__ import annotations

from collections.abc import Mapping

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import TreeNode
from behavior_tree.xml.document import Element, Source

_LIVE = Source("<live tree>", b"")

Children = Mapping[TreeNode, list["TreeNode | Element"]]


def element(tag: str, attributes: dict[str, str], children: list[Element]) -> Element:
    """Element without a place in a file."""
    return Element(tag, attributes, _LIVE, 0, 0, 0, children)


def describe(
    node: TreeNode | Element,
    children: Children,
    attributes: Mapping[TreeNode, dict[str, str]] | None = None,
) -> Element:
    """Element of a node and all below it, down to SubTrees.

    Args:
        node: an element stands for itself
        children: children of some nodes that differ from those they have
        attributes: attributes of some nodes that differ from those they have
    """
    if isinstance(node, Element):
        return node
    changes = (attributes or {}).get(node, {})
    subtree = node.type() is NodeType.SUBTREE
    inside = [] if subtree or isinstance(node, LeafNode) else list(node.children)
    below = children.get(node, inside)  # also for a leaf, which the validator then refuses
    return element(
        "SubTree" if subtree else node.registration_id(),
        {**_attributes(node), **changes},
        [describe(child, children, attributes) for child in below],
    )


def _attributes(node: TreeNode) -> dict[str, str]:
    config = node.config()
    found = {"name": node.name()}
    if node.type() is NodeType.SUBTREE:
        found["ID"] = config.registration_id
        if node.children and node.children[0].config().blackboard.autoremapping:
            found["_autoremap"] = "true"
    return {
        **found,
        **config.input_ports,
        **config.output_ports,
        **config.condition_attributes,
        **config.other_attributes,
    }
