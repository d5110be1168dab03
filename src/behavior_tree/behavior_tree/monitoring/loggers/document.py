# SPDX-License-Identifier: Apache-2.0
"""The XML by which monitors and logs describe a running tree, byte for byte BehaviorTree.CPP's.

It holds every instance of a tree with the uids of its nodes, then the models of all node types.
Attributes stand in the order of upstream's hash tables (`hash_order`), the built-in types are
described in its words (`upstream_models`). Types newer than 4.8.2 are described only if the tree
uses them, so that a tree that 4.8.2 can load gives the document that 4.8.2 gives.
"""

from __future__ import annotations

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.hash_order import text_order
from behavior_tree.monitoring.loggers.upstream_models import UPSTREAM_MODELS, UpstreamPort
from behavior_tree.xml.escape import escape
from behavior_tree.xml.writer import manifest_lines

_QUOTES = {'"': "&quot;", "'": "&apos;"}


def tree_document(tree: Tree) -> str:
    """Nodes with their uids, and the models of all node types that the tree's factory knew."""
    lines = ['<root BTCPP_format="4">']
    for subtree in tree.subtrees:
        place = _attribute("ID", subtree.tree_id) + _attribute("_fullpath", subtree.instance_name)
        lines.append(f"    <BehaviorTree{place}>")
        lines.extend(_node(subtree.nodes[0], 2))
        lines.append("    </BehaviorTree>")
    return "\n".join([*lines, *_models(tree), "</root>", ""])


# -- nodes ----------------------------------------------------------------------------------------


def _node(node: TreeNode, depth: int) -> list[str]:
    config = node.config()
    subtree = node.type() is NodeType.SUBTREE
    if subtree:
        tag = "SubTree"
        text = _attribute("ID", config.registration_id) + _attribute("_fullpath", config.path)
    else:
        tag, text = config.registration_id, _attribute("name", node.name())
    text += _attribute("_uid", str(config.uid))
    for name, value in [
        *(_given_to_subtree(config) if subtree else _port_texts(config)),
        *config.condition_attributes.items(),
    ]:
        text += _attribute(name, value)
    indent = "    " * depth
    if subtree or isinstance(node, LeafNode) or not node.children:
        return [f"{indent}<{tag}{text}/>"]
    lines = [f"{indent}<{tag}{text}>"]
    for child in node.children:
        lines.extend(_node(child, depth + 1))
    return [*lines, f"{indent}</{tag}>"]


def _given_to_subtree(config: NodeConfig) -> list[tuple[str, str]]:
    """What the XML gives to a SubTree; upstream leaves out the defaults of its model."""
    return [(name, config.given_ports[name]) for name in text_order(config.given_ports)]


def _port_texts(config: NodeConfig) -> list[tuple[str, str]]:
    """Inputs, then those outputs that are not inputs too.

    Upstream copies what the XML gives from one table to the next, then adds the defaults.
    """
    given = [name for name in text_order(config.given_ports) if name in config.ports]
    model = UPSTREAM_MODELS.get(config.registration_id)
    declared = [port.name for port in model] if model is not None else text_order(config.ports)
    all_ports = dict.fromkeys([*given, *declared, *config.ports])
    texts: list[tuple[str, str]] = []
    for table, others in ((config.input_ports, {}), (config.output_ports, config.input_ports)):
        order = text_order(name for name in all_ports if name in table)
        texts.extend((name, table[name]) for name in order if name not in others)
    return texts


# -- models ---------------------------------------------------------------------------------------


def _models(tree: Tree) -> list[str]:
    types = {**tree.manifests, "SubTree": TreeNodeManifest("SubTree", NodeType.SUBTREE)}
    used = set()
    for node in tree.nodes():
        type_id = node.registration_id()
        if node.type() is not NodeType.SUBTREE:
            used.add(type_id)
            if type_id not in types:  # inserted into the live tree, or of a tree made by hand
                types[type_id] = TreeNodeManifest(type_id, node.type(), node.config().ports)
    lines = ["    <TreeNodesModel>"]
    for type_id, manifest in sorted(types.items()):
        if type_id in UPSTREAM_MODELS:
            lines.extend(_upstream_model(manifest, UPSTREAM_MODELS[type_id]))
        elif not manifest.builtin or type_id in used:
            lines.extend(manifest_lines(manifest))
    return [*lines, "    </TreeNodesModel>"]


def _upstream_model(manifest: TreeNodeManifest, ports: tuple[UpstreamPort, ...]) -> list[str]:
    tag, head = manifest.type.tag, _attribute("ID", manifest.registration_id)
    if not ports:
        return [f"        <{tag}{head}/>"]
    return [f"        <{tag}{head}>", *map(_upstream_port, ports), f"        </{tag}>"]


def _upstream_port(port: UpstreamPort) -> str:
    text = _attribute("name", port.name) + _attribute("type", port.type)
    if port.default:
        text += _attribute("default", port.default)
    if port.description:
        return f"            <{port.tag}{text}>{escape(port.description)}</{port.tag}>"
    return f"            <{port.tag}{text}/>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value, _QUOTES)}"'
