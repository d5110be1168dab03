# SPDX-License-Identifier: Apache-2.0
"""TestNode: stands in for another node when a tree is tried without its surroundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.leaf import StatefulActionNode
from behavior_tree.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.runtime import Timer
from behavior_tree.script import compile_script

__all__ = ["TestNode", "TestNodeConfig"]


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

    def __post_init__(self) -> None:
        if self.return_status is NodeStatus.IDLE:
            raise LogicError("TestNodeConfig: return_status cannot be IDLE")


class TestNode(StatefulActionNode):
    """Returns what its configuration says, after the configured delay."""

    __test__ = False  # not a test case for pytest

    def __init__(self, name: str, config: NodeConfig, test: TestNodeConfig) -> None:
        super().__init__(name, config)
        self._test = test
        self._timer: Timer | None = None

    def on_start(self) -> NodeStatus:
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
        test = self._test
        status = self._status()
        if status is SUCCESS:
            self._script(test.success_script)
        elif status is FAILURE:
            self._reason = "test node set to fail"
            self._script(test.failure_script)
        self._script(test.post_script)
        return status

    def _status(self) -> NodeStatus:
        test = self._test
        if test.complete_func is not None:
            return test.complete_func()
        if not test.return_status_script:
            return test.return_status
        value = self._script(test.return_status_script)
        status = NodeStatus[value] if isinstance(value, str) else NodeStatus(int(value))
        if status is IDLE:
            raise LogicError("return_status_script gave IDLE")
        return status

    def _script(self, source: str) -> Any:
        return compile_script(source, self._rt.quirks).run(self._bb) if source else None
