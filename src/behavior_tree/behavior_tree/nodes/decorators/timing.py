# SPDX-License-Identifier: Apache-2.0
"""Timeout, Delay: deadlines on the tree's clock, looked at in each tick."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig, TreeNode
from behavior_tree.kernel.runtime import Timer
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.nodes.decorators.repeat import RetryUntilSuccessful


class Timeout(DecoratorNode):
    """FAILURE, and the child halted, if it runs longer than ``msec``; 0 means no limit."""

    restorable = ("_started", "_expired", "_timer")

    ports = ports_list(
        InputPort("msec", Unsigned, description="longest run of the child [ms]; 0: no limit")
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._started = False
        self._expired = False
        self._timer: Timer | None = None

    def restore_state(self, state: Any) -> None:
        super().restore_state(state)
        if self._timer is not None:
            self._timer.on_expiry = self._expire

    def tick(self) -> NodeStatus:
        msec: int = self.get_input("msec")
        if not self._started:
            self._started = True
            self._expired = False
            self._start()
            self._timer = self._rt.start_timer(msec / 1000, self._expire) if msec > 0 else None
        elif self._timer is not None and self._timer.expired:
            self._expire()  # its tree is ticked by others, or it took long in this tick
        if self._expired:
            self._started = False
            self.set_failure_reason(self._reason)  # with the tick that fails, for records
            return FAILURE
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._started = False
            self._stop_timer()
            self.reset_child()
        return status

    def _expire(self) -> bool:
        """Halt the child when the time is over, before anything else in the tree is ticked."""
        self._stop_timer()
        self._expired = self.child.status is RUNNING
        if self._expired:
            self._failed_child = None
            running = f"'{self.child.full_path()}' was running{_attempts_below(self.child)}"
            self._reason = f"timeout of {self.raw_port('msec')} ms, {running}"
            self.reset_child()
        return self._expired

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def halt(self) -> None:
        self._started = False
        self._stop_timer()
        super().halt()


class Delay(DecoratorNode):
    """RUNNING for ``delay_msec``, then the child; at least one tick of delay."""

    restorable = ("_timer",)

    ports = ports_list(
        InputPort("delay_msec", Unsigned, description="time before the child starts [ms]")
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._timer: Timer | None = None

    def tick(self) -> NodeStatus:
        msec: int = self.get_input("delay_msec")
        if self._timer is None:
            self._start()
            self._timer = self._rt.start_timer(msec / 1000)
            return RUNNING
        if not self._timer.expired:
            return RUNNING
        self._timer.cancel()
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._timer = None
            self.reset_child()
        return status

    def halt(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        super().halt()


def _attempts_below(node: TreeNode) -> str:
    """What the attempts of the uppermost retry that runs have come to; empty without any."""
    while node.status is RUNNING:
        if isinstance(node, RetryUntilSuccessful):
            text = node.attempts_so_far()
            return f"; {text}" if text else ""
        running = [child for child in node.children if child.status is RUNNING]
        if not running:
            break
        node = running[0]
    return ""
