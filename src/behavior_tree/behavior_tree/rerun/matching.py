# SPDX-License-Identifier: Apache-2.0
"""Which node of a tree is which node of a record."""

from __future__ import annotations

from difflib import SequenceMatcher

from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.rerun.recorded_tree import RecordedNode, RecordedTree


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
    there = [_key(each) for each in known]
    found: dict[TreeNode, int] = {}
    for a, b, size in SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks():
        for index in range(size):
            found[nodes[a + index]] = known[b + index].uid
    moved = [node for node in nodes if node not in found]
    left = [each for each in known if each.uid not in set(found.values())]
    for node in moved:
        key = (node.registration_id(), str(node.name))
        same = [each for each in left if _key(each) == key]
        alike = [each for each in moved if (each.registration_id(), str(each.name)) == key]
        if len(same) == len(alike) == 1:
            found[node] = same[0].uid
    return found


def _key(node: RecordedNode) -> tuple[str, str]:
    return node.type_id, node.name
