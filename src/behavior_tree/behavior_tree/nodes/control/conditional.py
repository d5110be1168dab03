# SPDX-License-Identifier: Apache-2.0
"""IfThenElse, WhileDoElse: the first child chooses between the others."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.nodes.control.base import ControlNode


class _Conditional(ControlNode):
    min_children = 2
    max_children = 3

    def _check_children(self) -> None:
        if len(self.children) not in (2, 3):
            raise LogicError(
                f"{self.registration_id()} must have either 2 or 3 children (condition, then, "
                f"else), "
                f"it has {len(self.children)}"
            )

    def _skipped_condition(self) -> NodeStatus:
        if self._rt.quirks.if_then_else_strict:
            if isinstance(self, WhileDoElse):
                self.reset_children()
            raise LogicError(
                f"Something unexpected happened in {self.registration_id()}: condition SKIPPED"
            )
        self.reset_children()
        return SKIPPED


class IfThenElse(_Conditional):
    """Condition once, then the second child on SUCCESS or the third on FAILURE, to its end."""

    restorable = ("_branch",)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._branch = 0

    def tick(self) -> NodeStatus:
        self._check_children()
        self._start()
        if self._branch == 0:
            status = self.tick_child(0)
            if status is RUNNING:
                return status
            if status is SUCCESS:
                self._branch = 1
            elif status is FAILURE and len(self.children) == 3:
                self._branch = 2
            elif status is FAILURE:
                if not self._rt.quirks.if_then_else_strict:
                    self.reset_children()
                return status
            else:
                return self._skipped_condition()
        status = self.tick_child(self._branch)
        if status is not RUNNING:
            self.reset_children()
            self._branch = 0
        return status

    def halt(self) -> None:
        self._branch = 0
        super().halt()


class WhileDoElse(_Conditional):
    """Condition in every tick; the second child while it is SUCCESS, the third while it is
    FAILURE. A branch is halted before the other starts.
    """

    def tick(self) -> NodeStatus:
        self._check_children()
        self._start()
        condition = self.tick_child(0)
        if condition is RUNNING:
            return condition
        three = len(self.children) == 3
        if condition is SUCCESS:
            if three:
                self.halt_child(2)
            status = self.tick_child(1)
        elif condition is FAILURE and three:
            self.halt_child(1)
            status = self.tick_child(2)
        elif condition is FAILURE:
            status = FAILURE
        else:
            return self._skipped_condition()
        if status is not RUNNING:
            self.reset_children()
        return status
