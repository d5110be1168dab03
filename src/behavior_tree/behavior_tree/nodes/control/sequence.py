# SPDX-License-Identifier: Apache-2.0
"""Sequence, AsyncSequence, SequenceWithMemory: all children in order, until one fails."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import SUCCESS
from behavior_tree.nodes.control.in_order import AsyncInOrder, InOrder


class Sequence(InOrder):
    """Tick children in order, from the running one on. SUCCESS when all are done, FAILURE at the
    first failure, SKIPPED if all were skipped.
    """

    __slots__ = ()
    passes = SUCCESS


class AsyncSequence(AsyncInOrder, Sequence):
    """Sequence that returns RUNNING after each child that succeeds at once, so that others get a
    turn.
    """

    __slots__ = ()


class SequenceWithMemory(AsyncSequence):
    """AsyncSequence that, after a failure or a halt, goes on at the child it had reached."""

    __slots__ = ()

    def _ended_by(self, status: NodeStatus) -> NodeStatus:
        self.reset_children(self._index)
        return status

    def halt(self) -> None:
        self.reset_children()
        self.reset_status()
