# SPDX-License-Identifier: Apache-2.0
"""Where a run begins, if not at the beginning: as if all before a node had succeeded."""

from __future__ import annotations

from collections.abc import Iterator

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.node import IDLE, SUCCESS, TreeNode
from behavior_tree.nodes.authoring import Catch, ConcurrentSequence, Step
from behavior_tree.nodes.authoring.concurrent import is_called
from behavior_tree.nodes.control import (
    AsyncFallback,
    Fallback,
    IfThenElse,
    ReactiveFallback,
    ReactiveSequence,
    Sequence,
    WhileDoElse,
)
from behavior_tree.nodes.control.in_order import InOrder
from behavior_tree.nodes.decorators import (
    ForceFailure,
    ForceSuccess,
    Inverter,
    KeepRunningUntilFailure,
    Repeat,
    RetryUntilSuccessful,
    SubTreeNode,
    Timeout,
)

_AROUND = (
    *(SubTreeNode, Step, Timeout, RetryUntilSuccessful, Repeat),
    *(ForceSuccess, ForceFailure, Inverter, KeepRunningUntilFailure),
)
"""Decorators that tick their child as soon as they begin."""
_FIRST_FIRST = (
    *(Fallback, AsyncFallback, IfThenElse),
    *(WhileDoElse, ReactiveFallback, ReactiveSequence),
)
"""Nodes that begin with their first child, and of which nothing else can be passed over."""


class EntryPoint:
    """The next run of a tree begins at a node: what is around it begins as always, conditions
    included, and what comes before it is passed over.

    Args:
        node: of a tree that does not run

    Raises:
        BehaviorTreeError: some node around it does not know what comes before; nothing has changed
    """

    def __init__(self, node: TreeNode) -> None:
        self._way = list(_way(node))
        refused = [text for around, child in self._way if (text := _refused(around, child))]
        if refused:
            raise BehaviorTreeError(f"a run cannot begin at '{node.full_path()}': {refused[-1]}")
        for around, child in self._way:
            _pass_over(around, child)

    def undo(self) -> None:
        """Let what has not begun begin at its beginning again: it was skipped, say."""
        for around, _ in self._way:
            if around.status is IDLE:
                _pass_over(around, None)


def _way(node: TreeNode) -> Iterator[tuple[TreeNode, TreeNode]]:
    """Each node around another, with the child of it that leads there."""
    while node._up is not None:
        yield node._up, node
        node = node._up


def _refused(around: TreeNode, child: TreeNode) -> str:
    """Why a run cannot begin at this child; empty if it can."""
    where = f"{around.registration_id()} '{around.full_path()}'"
    if isinstance(around, ConcurrentSequence):
        if isinstance(child, Catch):
            return f"'{child.full_path()}' is for a failure in {where}, and nothing has failed"
        if is_called(child):
            return f"only a Gosub runs '{child.full_path()}': begin at that"
        return ""
    if isinstance(around, (Sequence, *_AROUND)):
        return ""
    if isinstance(around, _FIRST_FIRST):
        if child is around.children[0]:
            return ""
        return f"what is before it in {where} does not lead to it by success"
    return f"it is not defined what comes before it in {where}"


def _pass_over(around: TreeNode, child: TreeNode | None) -> None:
    """Let a node begin at a child; at its beginning with None."""
    if isinstance(around, ConcurrentSequence):
        around.begin_at(child)
    elif isinstance(around, InOrder):
        place = 0 if child is None else around.children.index(child)
        around.reset_children()
        around.restore_state({"_index": place, "_skipped": 0})
        for passed in around.children[:place]:
            passed.set_status(SUCCESS)
