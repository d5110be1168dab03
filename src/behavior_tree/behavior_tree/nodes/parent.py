# SPDX-License-Identifier: Apache-2.0
"""`ParentNode`: what nodes with children have in common, one child or several."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig, TreeNode


class ParentNode(TreeNode):
    """Base of `ControlNode` and `DecoratorNode`."""

    __slots__ = ("children",)

    ticking_functions = (
        *TreeNode.ticking_functions,
        *("_tick", "_start", "_store", "_reset", "reset_children"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self.children: list[TreeNode] = []

    def _start(self) -> None:
        """Become RUNNING, as most nodes with children do first thing in a tick."""
        before = self.status
        if before is not RUNNING:
            self.status = RUNNING
            record = self._rt.record
            if record is not None:
                record += (0, self, before, RUNNING)

    def _reset(self, child: TreeNode) -> None:
        """Halt a child if it runs, and make it IDLE."""
        if child.status is RUNNING:
            child.halt_node()
        status = child.status
        if status is not IDLE:
            child.status = IDLE
            record = self._rt.record
            if record is not None:
                record += (0, child, status, IDLE)

    def _store(self, before: NodeStatus, status: NodeStatus) -> NodeStatus:
        """End of a tick of a node that stores its status itself, see `stores_status`."""
        if status is SUCCESS or status is FAILURE:
            current = self.status
            self.status = status
            record = self._rt.record
            if record is not None:
                record += (0, self, current, status)
            if status is FAILURE and self._up is not None:
                self._up._failed_child = self
            return status
        return self._not_stored(before, status)

    def _bad_child(self) -> LogicError:
        return LogicError(f"[{self.name}]: A children should not return IDLE")
