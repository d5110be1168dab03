# SPDX-License-Identifier: Apache-2.0
"""`Subtree`: one instance of a tree inside a whole tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.kernel.node import TreeNode


@dataclass(eq=False)
class Subtree:
    """One instance of a tree inside the whole tree."""

    instance_name: str
    """Path of the SubTree node; empty for the main tree."""
    tree_id: str
    blackboard: Blackboard
    nodes: list[TreeNode] = field(default_factory=list)
    """Nodes of this instance, without those of SubTrees below."""
    definition: Any = None
    """The ``<BehaviorTree>`` element that it was built from."""
