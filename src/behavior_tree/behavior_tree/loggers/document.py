# SPDX-License-Identifier: Apache-2.0
"""The XML by which monitors and logs describe a running tree."""

from __future__ import annotations

from dataclasses import replace

from behavior_tree.basic_types import NodeType, PortDirection
from behavior_tree.builtin_nodes import BUILTIN_NODES
from behavior_tree.manifest import TreeNodeManifest
from behavior_tree.ports import PortInfo
from behavior_tree.tree import Tree
from behavior_tree.xml.writer import write_tree_to_xml

__all__ = ["tree_document"]

_AUTOREMAP = PortInfo(
    "_autoremap", PortDirection.INPUT, bool, "false", "all keys of the same name are shared"
)
"""The only attribute of a SubTree that looks like a port to an editor."""


def tree_document(tree: Tree) -> str:
    """Nodes with their uids, and models of all node types that the tree's factory knows."""
    manifests = {
        type_id: replace(TreeNodeManifest.of_class(node_class, type_id), description="")
        for type_id, node_class in BUILTIN_NODES.items()
    }
    manifests["SubTree"] = TreeNodeManifest(
        "SubTree", NodeType.SUBTREE, {_AUTOREMAP.name: _AUTOREMAP}
    )
    for type_id, manifest in tree.manifests.items():
        manifests.setdefault(type_id, replace(manifest, description=""))
    for node in tree.nodes():  # a tree that was changed may have newer ones
        type_id = node.registration_id()
        if type_id not in manifests and node.type() is not NodeType.SUBTREE:
            manifests[type_id] = TreeNodeManifest(type_id, node.type(), node.config().ports)
    return write_tree_to_xml(tree, manifests.values(), include_builtin=True)
