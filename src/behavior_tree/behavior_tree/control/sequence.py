# SPDX-License-Identifier: Apache-2.0
"""Sequence, AsyncSequence, SequenceWithMemory: all children in order, until one fails."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.base import ControlNode
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig

__all__ = ["AsyncSequence", "Sequence", "SequenceWithMemory"]


class Sequence(ControlNode):
    """Tick children in order, from the running one on. SUCCESS when all are done, FAILURE at the
    first failure, SKIPPED if all were skipped.
    """

    __slots__ = ("_index", "_skipped")

    memory: ClassVar[bool] = True  # what py_trees calls it
    _goes_on: ClassVar[NodeStatus] = SUCCESS
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
            if status is SUCCESS:
                self._index += 1
            elif status is RUNNING:
                return status
            elif status is FAILURE:
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
        return FAILURE

    def _finish(self, count: int) -> NodeStatus:
        skipped = self._skipped
        self._index = 0
        self._skipped = 0
        self.reset_children()
        return SKIPPED if skipped == count else SUCCESS

    def halt(self) -> None:
        self._index = 0
        self._skipped = 0
        super().halt()


class AsyncSequence(Sequence):
    """Sequence that returns RUNNING after each child that succeeds at once, so that others get a
    turn.
    """

    def tick(self) -> NodeStatus:
        status = self.status
        if status is IDLE:
            self._skipped = 0
        self._start()
        children = self.children
        count = len(children)
        while self._index < count:
            child = children[self._index]
            before = child.status
            run = child._run
            status = run(child)
            if status is SUCCESS:
                self._index += 1
                if before is IDLE and self._index < count:
                    self.emit_wake_up()
                    return RUNNING
            elif status is RUNNING:
                return status
            elif status is FAILURE:
                return self._end()
            elif status is SKIPPED:
                self._index += 1
                self._skipped += 1
            else:
                raise self._bad_child()
        return self._finish(count)


class SequenceWithMemory(AsyncSequence):
    """AsyncSequence that, after a failure or a halt, goes on at the child it had reached."""

    def _end(self) -> NodeStatus:
        self.reset_children(self._index)
        return FAILURE

    def halt(self) -> None:
        self.reset_children()
        self.reset_status()
