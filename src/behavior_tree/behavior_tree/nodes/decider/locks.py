# SPDX-License-Identifier: Apache-2.0
"""Which nodes hold a lock, and whom they keep from deciding.

A node that holds a lock keeps all that decide above it on the way they have taken: they tick the
child that runs, and ask nothing. Everything below it stays reactive. The most distal lock of a path
is the one that counts. Monitors, halts, Timeouts and stock reactive nodes do not know of locks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from behavior_tree.basic_types import NodeType
from behavior_tree.kernel.node import RUNNING, TreeNode

if TYPE_CHECKING:
    from behavior_tree.kernel.tree import Tree


def add(node: TreeNode, *, local: bool) -> None:
    """Note that a node holds a lock; ``local``: up to the next network around it only."""
    node._rt.locks[node] = local


def drop(node: TreeNode) -> None:
    """Note that a node holds no lock."""
    node._rt.locks.pop(node, None)


def holders(tree: Tree) -> list[TreeNode]:
    """Nodes of a tree that hold a lock, in the order in which they took it."""
    return list(tree.runtime.locks)


def force_unlock(tree: Tree) -> list[TreeNode]:
    """Release all locks of a tree, for an emergency stop; what runs goes on, unprotected.

    Returns:
        the nodes that held one
    """
    held = holders(tree)
    for node in held:
        node.unlock()  # only sessions take locks
    return held


def is_held(node: TreeNode, *, nearest_root_wins: bool = False) -> bool:
    """True if a node must not decide, because one below it on its running path holds a lock.

    Args:
        node: asks before it decides
        nearest_root_wins: the defect D3 of the reference: below a lock, others do not count
    """
    locks = node._rt.locks
    if not locks:
        return False
    if not any(_reaches(holder, node, local) for holder, local in locks.items()):
        return False
    return not (nearest_root_wins and _below_lock(node))


def _reaches(holder: TreeNode, node: TreeNode, local: bool) -> bool:
    """True if a lock lies below ``node``, all between them is running, and it reaches so far."""
    if holder is node or holder.status is not RUNNING:
        return False
    up = holder._up
    while up is not None:
        if local and (up.node_type is NodeType.SUBTREE or getattr(up, "bounds_locks", False)):
            return False
        if up is node:
            return True
        if up.status is not RUNNING:
            return False
        up = up._up
    return False


def _below_lock(node: TreeNode) -> bool:
    locks, up = node._rt.locks, node
    while up is not None:
        if up in locks:
            return True
        up = up._up  # type: ignore[assignment]
    return False
