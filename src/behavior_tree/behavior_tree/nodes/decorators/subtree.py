# SPDX-License-Identifier: Apache-2.0
"""SubTree: the node in the parent tree that stands for another tree."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.decorators.base import SelfResettingDecorator


class SubTreeNode(SelfResettingDecorator):
    """Passes its child's result through. Its conditions see the parent's blackboard."""

    __slots__ = ("_tree_id",)

    node_type = NodeType.SUBTREE

    ports = {}

    def __init__(self, name: str, config: NodeConfig | None = None, tree_id: str = "") -> None:
        super().__init__(name, config)
        self._tree_id = tree_id

    def subtree_id(self) -> str:
        """ID of the tree it stands for."""
        return self._tree_id

    def tick(self) -> NodeStatus:
        if self.status is IDLE:
            self.set_status(RUNNING)
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self.reset_child()
        return status
