# SPDX-License-Identifier: Apache-2.0
"""The greatest uid that Groot2's protocol and file format can hold."""

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.tree import Tree

LARGEST_UID = 0xFFFF
"""Uids have 16 bits there; a tree itself may have more nodes."""


def check_uids(tree: Tree, user: str) -> None:
    """Refuse a tree that is too large.

    Args:
        tree: the tree
        user: what cannot follow it, for the message

    Raises:
        BehaviorTreeError: a uid is greater than `LARGEST_UID`
    """
    last = max(tree.nodes(), key=lambda node: node.uid())
    if last.uid() > LARGEST_UID:
        raise BehaviorTreeError(
            f"{user}: node '{last.full_path()}' has uid {last.uid()}, the Groot2 format holds at "
            f"most {LARGEST_UID}: split the tree, or use SqliteLogger, which has no such limit"
        )
