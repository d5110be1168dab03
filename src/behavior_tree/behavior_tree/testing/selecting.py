# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a tree a case means, and what they are called there."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.shown_text import named, visible
from behavior_tree.testing.parts import Part, near_names

Address = tuple[str, object]
"""Path and XML element of a node: the same whenever the tree is built."""


def address(node: TreeNode) -> Address:
    """What tells a node from all others, and is the same in the next tree built."""
    config = node.config()
    return config.path, config.element


def select(tree: Tree, selector: str, part: Part) -> list[TreeNode]:
    """The nodes that a text means: by path, name or type, by the end of the path, or by a pattern
    of the path with ``*``. Where it means leaves and others, the leaves.

    Raises:
        LoadError: there is none; the message names those that are near
    """
    found = [node for node in tree.nodes() if _means(selector, node)]
    if not found:
        nodes = tree.nodes()
        names = {name for node in nodes for name in (str(node.name), node.full_path())}
        part.fail(
            f"no node '{visible(selector)}' in the tree '{visible(tree.subtrees[0].tree_id)}'",
            near_names(selector, names),
        )
    return [node for node in found if isinstance(node, LeafNode)] or found


def select_leaves(tree: Tree, selector: str, part: Part) -> list[TreeNode]:
    """The leaves that a text means.

    Raises:
        LoadError: there is no such node, or it has children, and only leaves begin
    """
    found = select(tree, selector, part)
    if not isinstance(found[0], LeafNode):
        inside = [leaf.full_path() for leaf in leaves_below(found)]
        part.fail(
            f"'{visible(selector)}' has children, and only leaves begin",
            f"name leaves below it: {named(inside, 5)}",
        )
    return found


def leaves_below(nodes: Iterable[TreeNode]) -> list[TreeNode]:
    """The leaves of these subtrees; a leaf among them is one."""
    found: list[TreeNode] = []
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, LeafNode):
            found.append(node)
        elif node.has_nodes:
            stack.extend(node.children)
    return found


def means(tree: Tree, selector: str) -> bool:
    """True if a text means a node of a tree."""
    return any(_means(selector, node) for node in tree.nodes())


def _means(selector: str, node: TreeNode) -> bool:
    path = node.full_path()
    if selector in (node.name, path, node.registration_id()) or path.endswith(f"/{selector}"):
        return True
    if "*" not in selector:
        return False
    return fnmatchcase(path, selector.replace("[", "[[]").replace("?", "[?]"))
