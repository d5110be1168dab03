# SPDX-License-Identifier: Apache-2.0
"""Where a failure makes the whole tree fail: there the tree may wait for an operator instead."""

from __future__ import annotations

from collections.abc import Iterator

from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes.authoring import Catch, ConcurrentSequence, Step, Try
from behavior_tree.nodes.authoring.concurrent import is_called
from behavior_tree.nodes.control.reactive import ReactiveSequence
from behavior_tree.nodes.control.sequence import Sequence
from behavior_tree.nodes.decorators import SubTreeNode

_PASSING = (Sequence, ReactiveSequence, ConcurrentSequence, SubTreeNode, Step, Catch)


def fails_when_child_fails(node: TreeNode, child: TreeNode) -> bool:
    """True if a failure of the child is one of the node, whatever else happens. A Try handles what
    is tried, and a Gosub has the failure of its routine.
    """
    if isinstance(node, Try):
        return isinstance(child, Catch)
    return isinstance(node, _PASSING) and not is_called(child)


def unhandled(node: TreeNode) -> Iterator[TreeNode]:
    """The node, and those below it whose failure makes it fail."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        if node.has_nodes:
            stack.extend(each for each in node.children if fails_when_child_fails(node, each))
