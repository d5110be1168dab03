# SPDX-License-Identifier: Apache-2.0
"""XML from what is in memory: the model of all node types, and a built tree.

Both are what Groot2 reads. Ports keep the order of their declaration, so that a file written twice
does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from behavior_tree.basic_types import NodeType, PortDirection
from behavior_tree.blackboard.conversion import type_name
from behavior_tree.blackboard.ports import PortInfo
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.xml.escape import escape

_PORT_TAGS = {
    PortDirection.INPUT: "input_port",
    PortDirection.OUTPUT: "output_port",
    PortDirection.INOUT: "inout_port",
}
_QUOTES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


def write_tree_nodes_model_xml(
    manifests: Iterable[TreeNodeManifest], *, include_builtin: bool = False
) -> str:
    """A document with a ``<TreeNodesModel>`` of node types, sorted by ID.

    Args:
        manifests: for example ``factory.manifests().values()``
        include_builtin: also write the types that every factory knows
    """
    lines = ['<root BTCPP_format="4">', *_model(manifests, include_builtin), "</root>", ""]
    return "\n".join(lines)


def write_tree_to_xml(
    tree: Tree,
    manifests: Iterable[TreeNodeManifest] = (),
    *,
    metadata: bool = True,
    include_builtin: bool = False,
) -> str:
    """A document with one ``<BehaviorTree>`` for each instance of a tree.

    Args:
        tree: the tree
        manifests: node types for the ``<TreeNodesModel>`` at the end
        metadata: write the ``_uid`` of each node, which Groot2 needs to follow a running tree
        include_builtin: also describe the types that every factory knows
    """
    lines = ['<root BTCPP_format="4">']
    instances = {subtree.instance_name for subtree in tree.subtrees}
    for subtree in tree.subtrees:
        attributes = _attribute("ID", subtree.tree_id) + _attribute(
            "_fullpath", subtree.instance_name
        )
        lines.append(f"    <BehaviorTree{attributes}>")
        lines.extend(_node(subtree.nodes[0], instances, metadata, 2))
        lines.append("    </BehaviorTree>")
    return "\n".join([*lines, *_model(manifests, include_builtin), "</root>", ""])


def _node(node: TreeNode, instances: Set[str], metadata: bool, depth: int) -> list[str]:
    config = node.config()
    subtree = node.type() is NodeType.SUBTREE
    if subtree:
        tag = "SubTree"
        text = _attribute("ID", config.registration_id) + _attribute("_fullpath", config.path)
        # One that is named like its tree has that name in its tree's path, not in its own.
        if node.name() != config.registration_id or config.path not in instances:
            text += _attribute("name", node.name())
    else:
        tag, text = config.registration_id, _attribute("name", node.name())
    if metadata:
        text += _attribute("_uid", str(config.uid))
    ports = {**config.input_ports, **config.output_ports}
    if subtree and node.children and node.children[0].config().blackboard.autoremapping:
        ports["_autoremap"] = "true"
    for name, value in {
        **ports,
        **config.condition_attributes,
        **_kept(config.other_attributes),
    }.items():
        text += _attribute(name, value)
    indent = "    " * depth
    if subtree or isinstance(node, LeafNode) or not node.children:
        return [f"{indent}<{tag}{text}/>"]
    lines = [f"{indent}<{tag}{text}>"]
    for child in node.children:
        lines.extend(_node(child, instances, metadata, depth + 1))
    return [*lines, f"{indent}</{tag}>"]


def _kept(attributes: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in attributes.items() if name not in ("_uid", "_fullpath")}


def _model(manifests: Iterable[TreeNodeManifest], include_builtin: bool) -> list[str]:
    lines = ["    <TreeNodesModel>"]
    for manifest in sorted(manifests, key=lambda each: each.registration_id):
        if include_builtin or not manifest.builtin:
            lines.extend(manifest_lines(manifest))
    return [*lines, "    </TreeNodesModel>"]


def manifest_lines(manifest: TreeNodeManifest) -> list[str]:
    """The element of one node type in a ``<TreeNodesModel>``."""
    tag, head = manifest.type.tag, _attribute("ID", manifest.registration_id)
    body = [_port(port) for port in manifest.ports.values()]
    metadata = list(manifest.metadata)
    if manifest.description and all(key != "description" for key, _ in metadata):
        metadata.insert(0, ("description", manifest.description))
    if metadata:
        body.append("            <MetadataFields>")
        for key, value in metadata:
            body.append(f"                <Metadata{_attribute(key, value)}/>")
        body.append("            </MetadataFields>")
    if not body:
        return [f"        <{tag}{head}/>"]
    return [f"        <{tag}{head}>", *body, f"        </{tag}>"]


def _port(port: PortInfo) -> str:
    tag, text = _PORT_TAGS[port.direction], _attribute("name", port.name)
    text += _attribute("type", type_name(port.type))
    if port.default_text is not None:
        text += _attribute("default", port.default_text)
    if port.description:
        return f"            <{tag}{text}>{escape(port.description)}</{tag}>"
    return f"            <{tag}{text}/>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value, _QUOTES)}"'
