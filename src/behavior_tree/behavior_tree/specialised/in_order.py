# SPDX-License-Identifier: Apache-2.0
"""Specialised ticks of Sequence and Fallback for any number of children."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.fallback import Fallback
from behavior_tree.control.sequence import Sequence
from behavior_tree.errors import NodeExecutionError
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, TreeNode

__all__ = ["InOrder", "in_order", "lost_tick", "odd_result", "place_of"]

InOrder = Sequence | Fallback


def in_order(self: InOrder) -> NodeStatus:
    """One tick."""
    before = self.status
    if before is not RUNNING:
        self.status = RUNNING
        if before is IDLE:
            self._skipped = 0
    return _go_on(self, before)


def _go_on(self: InOrder, before: NodeStatus) -> NodeStatus:
    """Tick the children from ``_index`` on; the node had status ``before``."""
    children, goes_on, index = self.children, self._goes_on, self._index
    child = None
    try:
        for child in children[index:] if index else children:
            run = child._run
            status = run(child)
            if status is goes_on:
                continue
            if status is SKIPPED:
                self._skipped += 1
                continue
            if status is RUNNING:
                self._index = place_of(child, children, index)
                if self.status is IDLE:  # a leaf has halted the tree
                    self._index = 0
                    self.status = status
                return status
            if status is IDLE:
                raise self._bad_child()
            self.reset_children()
            break
        else:
            status = goes_on
            if self._skipped:  # a skipped child may have been left RUNNING
                if self._skipped == len(children):
                    status = SKIPPED
                elif status is FAILURE:
                    self._note_failures()
                self._skipped = 0
                self.reset_children()
            else:
                for child in children:
                    child.status = IDLE
    except Exception as error:
        if child is not None:
            self._index = place_of(child, children, index)  # where the next tick goes on
        if isinstance(error, NodeExecutionError):
            raise
        raise self._execution_error(error) from error
    self._index = 0
    if status is SKIPPED:
        return self._not_stored(before, SKIPPED)
    self.status = status
    if status is FAILURE and self._up is not None:
        self._up._failed_child = self
    return status


def odd_result(self: InOrder, index: int, status: NodeStatus) -> NodeStatus:
    """Go on after a child's result that is neither SUCCESS nor FAILURE; all before it went on."""
    self._index = index
    if status is RUNNING:
        if self.status is IDLE:  # a leaf has halted the tree
            self._index = 0
            self.status = status
        return status
    if status is not SKIPPED:
        raise self._bad_child()
    self._skipped = 1
    self._index = index + 1
    return _go_on(self, IDLE)


def lost_tick(self: InOrder, error: Exception) -> NodeExecutionError:
    """What to raise after an error in a tick that began with the first child."""
    if self._index == 0:  # not yet set by _go_on
        done = [child.status is self._goes_on for child in self.children]
        index = done.index(False) if False in done else len(done)
        before = self.children[index - 1]
        if index and isinstance(error, NodeExecutionError) and error.path == before.full_path():
            index -= 1  # its post-condition raised
        self._index = min(index, len(done) - 1)
    if isinstance(error, NodeExecutionError):
        return error
    lost = self._execution_error(error)
    lost.__cause__ = error
    return lost


def place_of(child: TreeNode, children: list[TreeNode], start: int) -> int:
    """Position of a child, at ``start`` or behind; by identity, as a node may define equality."""
    while children[start] is not child:
        start += 1
    return start
