# SPDX-License-Identifier: Apache-2.0
"""Sequence, AsyncSequence, SequenceWithMemory: all children in order, until one fails."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.base import ControlNode
from behavior_tree.errors import NodeExecutionError
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig

__all__ = ["AsyncSequence", "Sequence", "SequenceWithMemory"]


class Sequence(ControlNode):
    """Tick children in order, from the running one on. SUCCESS when all are done, FAILURE at the
    first failure, SKIPPED if all were skipped.
    """

    memory: ClassVar[bool] = True  # what py_trees calls it
    can_fuse = True

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._index = 0
        self._skipped = 0

    def tick(self) -> NodeStatus:
        runs = self._runs
        before = self.status
        if before is not RUNNING:
            if before is IDLE:
                self._skipped = 0
            self.status = RUNNING
            if self._watch is not None:
                self._watch(self, before, RUNNING)
        index = self._index
        result = SUCCESS
        try:
            for run in runs[index:] if index else runs:
                status = run()
                if status is SUCCESS:
                    index += 1
                elif status is RUNNING:
                    self._index = index
                    return status
                elif status is FAILURE:
                    result = status
                    break
                elif status is SKIPPED:
                    index += 1
                    self._skipped += 1
                else:
                    raise self._execution_error(self._bad_child())
        except NodeExecutionError:
            self._index = index  # the next tick begins at the child that raised
            raise
        if self._skipped and result is SUCCESS:
            if self._skipped == len(runs):
                result = SKIPPED
            self._skipped = 0
        self._index = 0
        for child in self.children:  # reset_children(), inlined: these are the hottest lines of all
            status = child.status
            if status is not IDLE:
                if status is RUNNING:
                    child.halt_node()
                    child.reset_status()
                else:
                    child.status = IDLE
                    if child._watch is not None:
                        child._watch(child, status, IDLE)
        if self._fused:
            if result is SKIPPED:
                return self._not_stored(before, SKIPPED)
            self.status = result
            if self._watch is not None:
                self._watch(self, RUNNING, result)
            if result is FAILURE and self._up is not None:
                self._up._failed_child = self
        return result

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

    can_fuse = False

    def tick(self) -> NodeStatus:
        status = self.status
        if status is IDLE:
            self._skipped = 0
        self._start()
        runs = self._runs
        count = len(runs)
        while self._index < count:
            before = self.children[self._index].status
            status = runs[self._index]()
            if status is SUCCESS:
                self._index += 1
                if before is IDLE and self._index < count:
                    self.emit_wake_up()
                    return RUNNING
            elif status is RUNNING:
                return status
            elif status is FAILURE:
                return self._failed()
            elif status is SKIPPED:
                self._index += 1
                self._skipped += 1
            else:
                raise self._bad_child()
        return self._finish(count)

    def _failed(self) -> NodeStatus:
        self._index = 0
        self.reset_children()
        return FAILURE


class SequenceWithMemory(AsyncSequence):
    """AsyncSequence that, after a failure or a halt, goes on at the child it had reached."""

    def _failed(self) -> NodeStatus:
        self.reset_children(self._index)
        return FAILURE

    def halt(self) -> None:
        self.reset_children()
        self.reset_status()
