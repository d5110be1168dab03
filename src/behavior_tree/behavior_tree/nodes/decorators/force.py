# SPDX-License-Identifier: Apache-2.0
"""Inverter, ForceSuccess, ForceFailure, KeepRunningUntilFailure, RunOnce: the result is changed."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import PortError
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    stores_status,
)
from behavior_tree.nodes.decorators.base import DecoratorNode, SelfResettingDecorator


class ResultChanger(SelfResettingDecorator):
    """Ticks the child, and gives another result for its SUCCESS and FAILURE."""

    __slots__ = ("_on_failure", "_on_success")

    of_success: ClassVar[NodeStatus]
    of_failure: ClassVar[NodeStatus]

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._on_success = self.of_success
        self._on_failure = self.of_failure

    @stores_status
    def tick(self, given: NodeStatus | None = None) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        child, status = self._child, given
        if given is not None:
            before, stores = RUNNING, True
        elif before is not RUNNING:
            self.status = RUNNING
            record = self._rt.record
            if record is not None:
                record += (0, self, before, RUNNING)
        elif self._waits is not None:
            status = self._resumed()
        if status is None:
            run = child._run
            status = run(child)
        if status is SUCCESS:
            status = self._on_success
            self._failed_child = None
        elif status is FAILURE:
            status = self._on_failure
        elif not stores:
            return status
        elif status is RUNNING:
            return self._wait_for(child)
        else:
            return self._not_stored(before, status)
        if not stores or self.status is not RUNNING:
            self._reset(child)
            return self._store(before, status) if stores else status
        last = child.status
        child.status = IDLE
        self.status = status
        record = self._rt.record
        if record is not None:
            record += (0, child, last, IDLE, 0, self, RUNNING, status)
        if status is FAILURE and self._up is not None:
            self._up._failed_child = self
        return status


class Inverter(ResultChanger):
    """SUCCESS becomes FAILURE and the reverse."""

    __slots__ = ()
    of_success = FAILURE
    of_failure = SUCCESS

    def failure_reason(self) -> str:
        return f"inverted SUCCESS of '{self.child.full_path()}'"


class ForceSuccess(ResultChanger):
    """SUCCESS whenever the child completes."""

    __slots__ = ()
    of_success = SUCCESS
    of_failure = SUCCESS


class ForceFailure(ResultChanger):
    """FAILURE whenever the child completes."""

    __slots__ = ()
    of_success = FAILURE
    of_failure = FAILURE

    def failure_reason(self) -> str:
        return f"forced FAILURE, '{self.child.full_path()}' had succeeded"


class KeepRunningUntilFailure(SelfResettingDecorator):
    """RUNNING until the child fails.

    A child that took more than one tick begins again at once, not a period later. One that takes
    none is run once in a period.
    """

    def tick(self) -> NodeStatus:
        self._start()
        took_time = self.child.status is RUNNING
        status = self._tick_child()
        if status is FAILURE:
            self.reset_child()
            return FAILURE
        if status is SUCCESS:
            self.reset_child()
            if took_time:
                self.emit_wake_up()
        return RUNNING


class RunOnce(DecoratorNode):
    """The child runs to its end once in the lifetime of the node; afterwards SKIPPED, or with
    ``then_skip="false"`` the result it had.
    """

    restorable = ("_result",)

    ports = ports_list(
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
