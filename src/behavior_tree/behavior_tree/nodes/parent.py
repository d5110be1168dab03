# SPDX-License-Identifier: Apache-2.0
"""`ParentNode`: what nodes with children have in common, one child or several."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError, NodeExecutionError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig, TreeNode


class ParentNode(TreeNode):
    """Base of `ControlNode` and `DecoratorNode`."""

    __slots__ = ("children",)

    ticking_functions = (
        *TreeNode.ticking_functions,
        *("_start", "_store", "_reset", "_resumed", "_wait_for", "reset_children"),
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

    def _wait_for(self, child: TreeNode) -> NodeStatus:
        """RUNNING because a child is: the last thing in a tick of a node that does nothing in its
        next ticks but tick that child until it ends, see `_resumed`.
        """
        self._waits = None
        if self.status is not RUNNING:  # a leaf has halted the tree
            self.set_status(RUNNING)
        elif self._run is self._body:  # no hooks or conditions, nobody traces or controls it
            self._waits = child
        return RUNNING

    def _resumed(self) -> NodeStatus | None:
        """What the child has come to on which this node waits; None if it does not run any more.

        Most of a running tree waits: for a line of nodes down to the first that does more, an
        action mostly. That one is ticked at once. When it has ended, the nodes above it go on with
        its result, from the lowest one up: they are ticked with it as ``given``.
        """
        node, child = self, self._waits
        if child is None or child.status is not RUNNING:
            return None
        while (below := child._waits) is not None and below.status is RUNNING:
            node, child = child, below
        try:
            run = child._run
            status = run(child)
        except NodeExecutionError:
            raise
        except Exception as error:
            raise node._execution_error(error) from error
        if status is RUNNING and node.status is RUNNING:
            return RUNNING
        while True:
            if status is RUNNING and node.status is not RUNNING:  # a leaf has halted the tree
                node._waits = None
                node.set_status(RUNNING)
            if node is self:
                return status
            if status is not RUNNING:
                body = node._body
                status = body(node, status)
            node = node._up  # type: ignore[assignment]

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
