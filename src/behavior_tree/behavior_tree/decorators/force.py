# SPDX-License-Identifier: Apache-2.0
"""Inverter, ForceSuccess, ForceFailure, KeepRunningUntilFailure, RunOnce: the result is changed."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.base import SelfResettingDecorator
from behavior_tree.node import FAILURE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.ports import InputPort, PortInfo, ports_list

__all__ = ["ForceFailure", "ForceSuccess", "Inverter", "KeepRunningUntilFailure", "RunOnce"]


class Inverter(SelfResettingDecorator):
    """SUCCESS becomes FAILURE and the reverse."""

    def tick(self) -> NodeStatus:
        status = self.status
        if status is not RUNNING:
            self.status = RUNNING
            if self._watch is not None:
                self._watch(self, status, RUNNING)
        status = self._tick_child()
        if status is SUCCESS:
            self._failed_child = None
            self.reset_child()
            return FAILURE
        if status is FAILURE:
            self.reset_child()
            return SUCCESS
        if status is RUNNING or status is SKIPPED:
            return status
        raise self._bad_child()

    def failure_reason(self) -> str:
        return f"inverted SUCCESS of '{self.child.full_path()}'"


class ForceSuccess(SelfResettingDecorator):
    """SUCCESS whenever the child completes."""

    def tick(self) -> NodeStatus:
        status = self.status
        if status is not RUNNING:
            self.status = RUNNING
            if self._watch is not None:
                self._watch(self, status, RUNNING)
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self.reset_child()
            return SUCCESS
        return status


class ForceFailure(SelfResettingDecorator):
    """FAILURE whenever the child completes."""

    def tick(self) -> NodeStatus:
        status = self.status
        if status is not RUNNING:
            self.status = RUNNING
            if self._watch is not None:
                self._watch(self, status, RUNNING)
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            if status is SUCCESS:
                self._failed_child = None
            self.reset_child()
            return FAILURE
        return status

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

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("then_skip", bool, True, "after the run: SKIPPED, else the result it had")
        )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._result: NodeStatus | None = None

    def tick(self) -> NodeStatus:
        skip = self.get_input("then_skip")
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

    def failure_reason(self) -> str:
        return "its one run failed"
