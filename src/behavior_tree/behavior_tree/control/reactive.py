# SPDX-License-Identifier: Apache-2.0
"""ReactiveSequence, ReactiveFallback: start from the first child in every tick."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.base import ControlNode
from behavior_tree.node import FAILURE, RUNNING, SKIPPED, SUCCESS, TreeNode

__all__ = ["ReactiveFallback", "ReactiveSequence"]


class _Reactive(ControlNode):
    memory: ClassVar[bool] = False  # what py_trees calls it
    _goes_on: ClassVar[NodeStatus]
    _ends: ClassVar[NodeStatus]

    def tick(self) -> NodeStatus:
        self._start()
        goes_on, ends = self._goes_on, self._ends
        all_skipped, any_skipped = True, False
        for index, child in enumerate(self.children):
            run = child._run
            status = run(child)
            if status is goes_on:
                all_skipped = False
            elif status is RUNNING:
                self._halt_others(index)
                return RUNNING
            elif status is ends:
                self.reset_children()
                return ends
            elif status is SKIPPED:
                any_skipped = True
                self.halt_child(index)
            else:
                raise self._bad_child()
        if any_skipped and goes_on is FAILURE:
            self._note_failures()
        self.reset_children()
        return SKIPPED if all_skipped else goes_on

    def _halt_others(self, running: int) -> None:
        for index in range(len(self.children)):
            if index != running:
                self.halt_child(index)


class ReactiveSequence(_Reactive):
    """Conditions that are checked again and again before an action. FAILURE at the first failure;
    a running child halts all others.
    """

    _goes_on = SUCCESS
    _ends = FAILURE


class ReactiveFallback(_Reactive):
    """Like ReactiveSequence with SUCCESS and FAILURE exchanged."""

    _goes_on = FAILURE
    _ends = SUCCESS

    def failed_children(self) -> list[TreeNode]:
        """All of them, except those that were skipped."""
        return self._all_failed_children()
