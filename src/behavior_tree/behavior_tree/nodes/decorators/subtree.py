# SPDX-License-Identifier: Apache-2.0
"""SubTree: the node in the parent tree that stands for another tree."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SUCCESS,
    NodeConfig,
    stores_status,
)
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

    @stores_status
    def tick(self, given: NodeStatus | None = None) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        child, status = self._child, given
        if given is not None:
            before, stores = RUNNING, True
        elif before is IDLE:
            self._start()
        elif self._waits is not None:
            status = self._resumed()
        if status is None:
            run = child._run
            status = run(child)
        if status is SUCCESS or status is FAILURE:
            self._reset(child)
        elif status is RUNNING and stores:
            return self._wait_for(child)
        return self._store(before, status) if stores else status
