# SPDX-License-Identifier: Apache-2.0
"""Which node of a tree is which node of a record."""

from __future__ import annotations

from difflib import SequenceMatcher

from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.rerun.recorded_tree import RecordedTree


def same_nodes(tree: Tree, recorded: RecordedTree) -> dict[TreeNode, int]:
    """Recorded uid of each node of the recorded tree itself, built again."""
    return {
        node: each.uid for node, each in zip(tree.nodes(), recorded.nodes.values(), strict=True)
    }


def match_nodes(tree: Tree, recorded: RecordedTree) -> dict[TreeNode, int]:
    """Recorded uid of each node that the record knows.

    Nodes are the same that bear the same type and name in the same order; of those that were moved,
    the ones that are alone with their type and name on both sides.
    """
    nodes, known = list(tree.nodes()), list(recorded.nodes.values())
    here = [(node.registration_id(), str(node.name)) for node in nodes]
    there = [(each.type_id, each.name) for each in known]
    found: dict[TreeNode, int] = {}
    for a, b, size in SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks():
        for index in range(size):
            found[nodes[a + index]] = known[b + index].uid
    taken = set(found.values())
    moved: dict[tuple[str, str], list[TreeNode]] = {}
    for node, key in zip(nodes, here, strict=True):
        if node not in found:
            moved.setdefault(key, []).append(node)
    left: dict[tuple[str, str], list[int]] = {}
    for each, key in zip(known, there, strict=True):
        if each.uid not in taken:
            left.setdefault(key, []).append(each.uid)
    for key, alike in moved.items():
        same = left.get(key, [])
        if len(same) == len(alike) == 1:
            found[alike[0]] = same[0]
    return found
