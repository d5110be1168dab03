# SPDX-License-Identifier: Apache-2.0
"""Inverter, ForceSuccess, ForceFailure, KeepRunningUntilFailure, RunOnce: the result is changed."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.base import SelfResettingDecorator
from behavior_tree.errors import PortError
from behavior_tree.node import FAILURE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.ports import InputPort, PortInfo, ports_list

__all__ = ["ForceFailure", "ForceSuccess", "Inverter", "KeepRunningUntilFailure", "RunOnce"]


class _ResultChanger(SelfResettingDecorator):
    _on_success: ClassVar[NodeStatus]
    _on_failure: ClassVar[NodeStatus]

    def tick(self) -> NodeStatus:
        self._start()
        status = self._tick_child()
        if status is SUCCESS:
            self.reset_child()
            self._failed_child = None
            return self._on_success
        if status is FAILURE:
            self.reset_child()
            return self._on_failure
        return status


class Inverter(_ResultChanger):
    """SUCCESS becomes FAILURE and the reverse."""

    _on_success = FAILURE
    _on_failure = SUCCESS

    def failure_reason(self) -> str:
        return f"inverted SUCCESS of '{self.child.full_path()}'"


class ForceSuccess(_ResultChanger):
    """SUCCESS whenever the child completes."""

    _on_success = SUCCESS
    _on_failure = SUCCESS


class ForceFailure(_ResultChanger):
    """FAILURE whenever the child completes."""

    _on_success = FAILURE
    _on_failure = FAILURE

    def failure_reason(self) -> str:
        return f"forced FAILURE, '{self.child.full_path()}' had succeeded"


class KeepRunningUntilFailure(SelfResettingDecorator):
    """RUNNING until the child fails."""

    def tick(self) -> NodeStatus:
        self._start()
        status = self._tick_child()
        if status is FAILURE:
            self.reset_child()
            return FAILURE
        if status is SUCCESS:
            self.reset_child()
        return RUNNING


class RunOnce(SelfResettingDecorator):
    """The child runs to its end once in the lifetime of the node; afterwards SKIPPED, or with
    ``then_skip="false"`` the result it had.
    """

    restorable = ("_result",)

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("then_skip", bool, True, "after the run: SKIPPED, else the result it had")
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._result: NodeStatus | None = None

    def tick(self) -> NodeStatus:
        skip = self._then_skip()
        if self._result is not None:
            if skip:
                return SKIPPED
            self._failed_child = None
            return self._result
        self._start()
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._result = status
            self.reset_child()
        return status

    def _then_skip(self) -> bool:
        try:
            return bool(self.get_input("then_skip"))
        except PortError:
            if self._rt.quirks.unreadable_ports_ignored:
                return True
            raise

    def failure_reason(self) -> str:
        return "its one run failed"
