# SPDX-License-Identifier: Apache-2.0
"""Fallback, AsyncFallback: children in order, until one succeeds."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.base import ControlNode
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig, TreeNode

__all__ = ["AsyncFallback", "Fallback"]


class Fallback(ControlNode):
    """Tick children in order, from the running one on. SUCCESS at the first success, FAILURE when
    all have failed, SKIPPED if all were skipped.
    """

    __slots__ = ("_index", "_skipped")

    memory: ClassVar[bool] = True  # what py_trees calls it
    _goes_on: ClassVar[NodeStatus] = FAILURE
    restorable = ("_index", "_skipped")

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._index = 0
        self._skipped = 0

    def tick(self) -> NodeStatus:
        if self.status is IDLE:
            self._skipped = 0
        self._start()
        children = self.children
        count = len(children)
        while self._index < count:
            child = children[self._index]
            run = child._run
            status = run(child)
            if status is FAILURE:
                self._index += 1
            elif status is RUNNING:
                return status
            elif status is SUCCESS:
                return self._end()
            elif status is SKIPPED:
                self._index += 1
                self._skipped += 1
            else:
                raise self._bad_child()
        return self._finish(count)

    def _end(self) -> NodeStatus:
        self._index = 0
        self.reset_children()
        return SUCCESS

    def failed_children(self) -> list[TreeNode]:
        """All of them, except those that were skipped."""
        return self._all_failed_children()

    def _finish(self, count: int) -> NodeStatus:
        skipped = self._skipped
        if skipped:
            self._note_failures()
        self._index = 0
        self._skipped = 0
        self.reset_children()
        return SKIPPED if skipped == count else FAILURE

    def halt(self) -> None:
        self._index = 0
        self._skipped = 0
        super().halt()


class AsyncFallback(Fallback):
    """Fallback that returns RUNNING after each child that fails at once, so that others get a
    turn.
    """

    def tick(self) -> NodeStatus:
        if self.status is IDLE:
            self._skipped = 0
        self._start()
        children = self.children
        count = len(children)
        while self._index < count:
            child = children[self._index]
            before = child.status
            run = child._run
            status = run(child)
            if status is FAILURE:
                self._index += 1
                if before is IDLE and self._index < count:
                    self.emit_wake_up()
                    return RUNNING
            elif status is RUNNING:
                return status
            elif status is SUCCESS:
                return self._end()
            elif status is SKIPPED:
                self._index += 1
                self._skipped += 1
            else:
                raise self._bad_child()
        return self._finish(count)
