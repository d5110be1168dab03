# SPDX-License-Identifier: Apache-2.0
"""TestNode: stands in for another node when a tree is tried without its surroundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import StatefulActionNode
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.kernel.runtime import Timer
from behavior_tree.script import Script, compile_script


@dataclass(frozen=True)
class TestNodeConfig:
    """What a `TestNode` does."""

    __test__ = False  # not a test case for pytest

    return_status: NodeStatus = NodeStatus.SUCCESS
    async_delay: float = 0.0
    """Time it is RUNNING before it ends [s]; 0 ends in the first tick."""
    success_script: str = ""
    failure_script: str = ""
    post_script: str = ""
    return_status_script: str = ""
    """Script whose value is the result: a status name, or its number."""
    complete_func: Callable[[], NodeStatus] | None = None
    """Decides the result, before all others."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """What it writes into its output ports when it ends; texts become what the port holds."""
    reason: str = ""
    """Why it fails, where it does; empty: it says that it is a test node."""
    exception: str = ""
    """Text of an exception that it raises instead of ending."""

    def __post_init__(self) -> None:
        if self.return_status is NodeStatus.IDLE:
            raise LogicError("TestNodeConfig: return_status cannot be IDLE")


class TestNode(StatefulActionNode):
    """Returns what its configuration says, after the configured delay."""

    __test__ = False  # not a test case for pytest
    restorable = ("_timer",)

    def __init__(self, name: str, config: NodeConfig, test: TestNodeConfig) -> None:
        super().__init__(name, config)
        self._timer: Timer | None = None
        self.plan: Callable[[], TestNodeConfig] | None = None
        """Says at each start what this run of the node does; None: what it was made with."""
        self._follow(test)

    def _follow(self, test: TestNodeConfig) -> None:
        self._test = test
        self._status_script = self._compiled(test.return_status_script)
        self._success_script = self._compiled(test.success_script)
        self._failure_script = self._compiled(test.failure_script)
        self._post_script = self._compiled(test.post_script)

    @property
    def delay(self) -> float:
        """How long it is RUNNING before it ends [s]."""
        return self._test.async_delay

    def _compiled(self, source: str) -> Script | None:
        return compile_script(source, self._rt.quirks) if source else None

    def on_start(self) -> NodeStatus:
        if self.plan is not None:
            self._follow(self.plan())
        if self._test.async_delay <= 0:
            return self._complete()
        self._timer = self._rt.start_timer(self._test.async_delay)
        return RUNNING

    def on_running(self) -> NodeStatus:
        if self._timer is not None and not self._timer.expired:
            return RUNNING
        self.on_halted()
        return self._complete()

    def on_halted(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _complete(self) -> NodeStatus:
        if self._test.exception:
            raise LogicError(self._test.exception)
        self._write_outputs()
        status = self._status()
        if status is SUCCESS and self._success_script is not None:
            self._success_script.run(self._bb)
        elif status is FAILURE:
            self.set_failure_reason(self._test.reason or "test node set to fail")
            if self._failure_script is not None:
                self._failure_script.run(self._bb)
        if self._post_script is not None:
            self._post_script.run(self._bb)
        return status

    def _write_outputs(self) -> None:
        for name, value in self._test.outputs.items():
            port = self.config().ports.get(name)
            if isinstance(value, str) and port is not None and port.type not in (str, Any):
                value = self._rt.types.from_text(value, port.type)  # noqa: PLW2901
            self.set_output(name, value)

    def _status(self) -> NodeStatus:
        test = self._test
        if test.complete_func is not None:
            return _allowed(test.complete_func(), "complete_func")
        if self._status_script is None:
            return test.return_status
        # Only this script knows the names: elsewhere an entry may be called SUCCESS.
        value = self._status_script.run(self._bb.with_names(_STATUS_NAMES))
        try:
            status = NodeStatus[value] if isinstance(value, str) else NodeStatus(value)
        except (KeyError, ValueError):
            status = value
        return _allowed(status, "return_status_script")


_STATUS_NAMES = {name: status.value for name, status in NodeStatus.__members__.items()}


def _allowed(status: object, source: str) -> NodeStatus:
    if isinstance(status, NodeStatus) and status is not IDLE:
        return status
    raise LogicError(
        f"TestNode: {source} gave {status!r}: it must give RUNNING, SUCCESS, FAILURE or SKIPPED"
    )
