# SPDX-License-Identifier: Apache-2.0
"""TryCatch: a sequence with a clean-up child."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.nodes.control.base import ControlNode


class TryCatch(ControlNode):
    """All children but the last as a Sequence; if one fails, the last runs to its end and the
    result is FAILURE. With ``catch_on_halt`` the last child is also ticked once when this node is
    halted.
    """

    min_children = 2
    restorable = ("_index", "_skipped", "_catching")

    ports = ports_list(
        InputPort("catch_on_halt", bool, False, "also tick the last child once when halted")
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._index = 0
        self._skipped = 0
        self._catching = False

    @property
    def cleans_up(self) -> bool:
        """True while the last child runs because another one has failed."""
        return self._catching

    def tick(self) -> NodeStatus:
        if len(self.children) < 2:
            raise LogicError("TryCatch must have at least 2 children: what to try, and the catch")
        if self.status is IDLE:
            self._skipped = 0
        self._start()
        if not self._catching:
            status = self._try()
            if status is not FAILURE:
                return status
            culprit = self._failed_child
            self.reset_children()
            self._catching = True
            self._failed_child = culprit
        return self._catch()

    def _try(self) -> NodeStatus:
        last = len(self.children) - 1
        while self._index < last:
            status = self.tick_child(self._index)
            if status is RUNNING or status is FAILURE:
                return status
            if status is SKIPPED:
                self._skipped += 1
            elif status is not SUCCESS:
                raise self._bad_child()
            self._index += 1
        skipped = self._skipped == last
        self._clear()
        self.reset_children()
        return SKIPPED if skipped else SUCCESS

    def _catch(self) -> NodeStatus:
        culprit = self._failed_child
        status = self.tick_child(-1)
        self._failed_child = culprit  # why the try failed matters, not how the clean-up ended
        if status is RUNNING:
            return status
        self._clear()
        self.reset_children()
        return FAILURE

    def _clear(self) -> None:
        self._index = 0
        self._skipped = 0
        self._catching = False

    def halt(self) -> None:
        if self.status is RUNNING and not self._catching and self.get_input("catch_on_halt", False):
            self.reset_children()
            if self.tick_child(-1) is RUNNING:
                self.halt_child(len(self.children) - 1)
        self._clear()
        super().halt()
