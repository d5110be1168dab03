# SPDX-License-Identifier: Apache-2.0
"""A tree as it was loaded, as XML whose nodes bear the numbers that statuses name.

The form is the one that Groot2 is given: one ``BehaviorTree`` per instance of a subtree, found by
``_fullpath``, and ``_uid`` on every node; then the models of the node types that it uses, so that
it can be built again where their programs are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.xml.writer import manifest_lines


def uid_document(tree: Tree, tree_id: str) -> str:
    """XML of a tree.

    Args:
        tree: loaded tree.
        tree_id: ID of its main tree.
    """
    return _Writer(tree, tree_id, {}).text()


class UidDocument:
    """XML of a tree that is edited: after an edit only what has changed is described anew.

    Args:
        tree: loaded tree.
        tree_id: ID of its main tree.
    """

    def __init__(self, tree: Tree, tree_id: str) -> None:
        self._tree, self._tree_id = tree, tree_id
        self._tags: dict[TreeNode, str] = {}
        tree.subscribe_structure_change(self._forget)

    def text(self) -> str:
        """XML of the tree as it is now."""
        return _Writer(self._tree, self._tree_id, self._tags).text()

    def _forget(self, change: StructureChange) -> None:
        if change.added or change.removed or any(map(_is_subtree, change.changed)):
            self._tags.clear()  # SubTrees name others
        for node in change.changed:
            self._tags.pop(node, None)


class _Writer:
    """Writes one document.

    Args:
        tree: to be written
        tree_id: ID of its main tree
        tags: of nodes, without what closes them; completed by those that are not known
    """

    def __init__(self, tree: Tree, tree_id: str, tags: dict[TreeNode, str]) -> None:
        self._tree, self._tree_id, self._tags = tree, tree_id, tags
        self._instances = {subtree.instance_name for subtree in tree.subtrees}

    def text(self) -> str:
        """The whole document."""
        main = _attributes({"main_tree_to_execute": self._tree_id})
        lines = [f'<root BTCPP_format="4"{main}>']
        start = _attributes({"ID": self._tree_id, "_fullpath": ""})
        trees = [(start, self._tree.root_node())]
        for start, root in trees:  # which grows
            lines.append(f"  <BehaviorTree{start}>")
            for node in self._write(root, "    ", lines):
                named = {"ID": node.registration_id(), "_fullpath": node.full_path()}
                trees.append((_attributes(named), node.children[0]))
            lines.append("  </BehaviorTree>")
        return "\n".join([*lines, *_models(self._tree), "</root>"])

    def _write(self, node: TreeNode, indent: str, lines: list[str]) -> Iterator[TreeNode]:
        """A node and all in it; gives the SubTrees, whose trees are written elsewhere."""
        tag = self._tags.get(node)
        if tag is None:
            tag = self._tags[node] = _tag(node, self._instances)
        if _is_subtree(node):
            yield node
        elif node.has_nodes and node.children:
            lines.append(f"{indent}<{tag}>")
            for child in node.children:
                yield from self._write(child, indent + "  ", lines)
            lines.append(f"{indent}</{node.registration_id()}>")
            return
        lines.append(f"{indent}<{tag} />")


def _is_subtree(node: TreeNode) -> bool:
    return node.type() is NodeType.SUBTREE


def _tag(node: TreeNode, instances: Set[str]) -> str:
    """What stands in the tag of a node."""
    config = node.config()
    attributes = {"name": str(node.name), "_uid": str(node.uid())}
    for texts in (config.input_ports, config.output_ports, config.condition_attributes):
        attributes.update(texts)
    if not _is_subtree(node):
        return node.registration_id() + _attributes(attributes)
    if node.children and node.children[0].config().blackboard.autoremapping:
        attributes["_autoremap"] = "true"
    # One that is named like its tree has that name in the paths below it, another one its uid too.
    if node.name == node.registration_id() and node.full_path() in instances:
        del attributes["name"]
    named = {"ID": node.registration_id(), **attributes, "_fullpath": node.full_path()}
    return "SubTree" + _attributes(named)


_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    | {"\n": "&#10;", "\r": "&#13;", "\t": "&#09;"}
)


def _attributes(texts: dict[str, str]) -> str:
    return "".join([f' {name}="{text.translate(_ESCAPED)}"' for name, text in texts.items()])


def _models(tree: Tree) -> list[str]:
    """What the node types are that the tree uses and not everybody knows."""
    used = {node.registration_id() for node in tree.nodes()}
    manifests = (each for type_id, each in sorted(tree.manifests.items()) if type_id in used)
    lines = [line for each in manifests if not each.builtin for line in manifest_lines(each)]
    return ["  <TreeNodesModel>", *lines, "  </TreeNodesModel>"] if lines else []
