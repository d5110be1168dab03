# SPDX-License-Identifier: Apache-2.0
"""`ControlNode`, the base of nodes with several children."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, TreeNode
from behavior_tree.nodes.parent import ParentNode


class ControlNode(ParentNode):
    """Ticks its children in some order. A subclass defines ``tick()`` and ticks child ``i`` by
    `tick_child`.
    """

    node_type = NodeType.CONTROL
    min_children = 1
    max_children: int | None = None
    _failed_together: tuple[int, list[TreeNode]] = (0, [])
    """Tick in which children failed together, and these."""

    def add_child(self, child: TreeNode) -> None:
        """Append a child."""
        child.parent = child._up = self
        self.children.append(child)

    def tick_child(self, index: int) -> NodeStatus:
        """Tick one child."""
        child = self.children[index]
        run = child._run
        return run(child)

    def halt_child(self, index: int) -> None:
        """Halt a child if it runs, and make it IDLE."""
        self._reset(self.children[index])

    def reset_children(self, start: int = 0) -> None:
        """`halt_child` for all children from ``start`` on."""
        record = self._rt.record
        for child in self.children[start:] if start else self.children:
            status = child.status
            if status is RUNNING:
                self._reset(child)
            elif status is not IDLE:
                child.status = IDLE
                if record is not None:
                    record += (0, child, status, IDLE)

    def _note_failures(self) -> None:
        """Remember, before they are reset, which children have failed, for `failed_children`."""
        failed = [child for child in self.children if child.status is FAILURE]
        self._failed_together = (self._rt.ticks, failed)
        self._failed_child = failed[-1] if failed else None

    def restore_failure(self, reason: str, failed: list[TreeNode]) -> None:
        super().restore_failure(reason, failed)
        self._failed_together = (self._rt.ticks, failed)

    def _all_failed_children(self) -> list[TreeNode]:
        """`failed_children` of a node that fails when all fail, and notes only exceptions."""
        if self._failed_child is None:
            return []
        tick, failed = self._failed_together
        return list(failed if tick == self._rt.ticks else self.children)

    def halt(self) -> None:
        self.reset_children()
        self.reset_status()
