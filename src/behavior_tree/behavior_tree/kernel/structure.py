# SPDX-License-Identifier: Apache-2.0
"""`StructureChange`: what an edit did to a live tree, for those who show or record the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

ChangeKind = Literal["insert", "remove", "move", "replace", "set_port", "rename", "several"]


@dataclass(frozen=True)
class StructureChange:
    """One edit of a tree, told to the callbacks of `Tree.subscribe_structure_change`."""

    kind: ChangeKind
    undone: bool = False
    """True if the edit was taken back: what it had added is removed now."""
    added: tuple[TreeNode, ...] = ()
    """Nodes that are in the tree now and were not, parents before children."""
    removed: tuple[TreeNode, ...] = ()
    """Nodes that are no longer in the tree; they are halted. They come back with the same uid if
    the edit is undone."""
    changed: tuple[TreeNode, ...] = ()
    """Nodes that stayed and have another place, name, path or port text."""


StructureCallback = Callable[[StructureChange], None]
