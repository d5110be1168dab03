# SPDX-License-Identifier: Apache-2.0
"""RetryUntilSuccessful, Repeat: the child runs several times."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.base import SelfResettingDecorator
from behavior_tree.errors import PortError
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.ports import InputPort, PortInfo, ports_list

__all__ = ["Repeat", "RetryUntilSuccessful"]


class _Again(SelfResettingDecorator):
    __slots__ = ("_count", "_limit")

    restorable = ("_count",)
    _limit_port: str
    _again: NodeStatus
    """Result of the child that counts and lets it run again."""
    _final: NodeStatus
    """Result of the child that ends the node at once."""

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._count = 0
        self._limit = 0

    def _more(self) -> bool:
        return self._limit == -1 or self._count < self._limit

    def _read_again(self) -> None:
        """Look at the limit once more, after a run that counts."""

    def tick(self) -> NodeStatus:
        self._limit = self.get_input(self._limit_port)
        more = self._more()
        self._start()
        if not more:
            self._failed_child = None
        while more:
            before = self.child.status
            status = self._tick_child()
            if status is RUNNING:
                return status
            if status is SKIPPED:
                self.reset_child()
                return status
            if status is self._final:
                self._count = 0
                self.reset_child()
                return status
            if status is not self._again:
                raise self._bad_child()
            self._count += 1
            self._read_again()
            more = self._more()
            self.reset_child()
            if more and before is IDLE:  # a synchronous child: let the rest of the tree have a turn
                self.emit_wake_up()
                return RUNNING
        self._count = 0
        return self._again

    def failure_reason(self) -> str:
        return f"no run allowed by [{self._limit_port}]"

    def halt(self) -> None:
        self._count = 0
        super().halt()


class RetryUntilSuccessful(_Again):
    """Run the child again while it fails, at most ``num_attempts`` times; -1 for ever."""

    _limit_port = "num_attempts"
    _again = FAILURE
    _final = SUCCESS

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("num_attempts", int, description="runs of the child at most; -1: no limit")
        )

    def _read_again(self) -> None:
        try:
            self._limit = self.get_input(self._limit_port)
        except PortError:
            if not self._rt.quirks.unreadable_ports_ignored:
                raise


class Repeat(_Again):
    """Run the child again while it succeeds, ``num_cycles`` times; -1 for ever."""

    _limit_port = "num_cycles"
    _again = SUCCESS
    _final = FAILURE

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("num_cycles", int, description="successful runs of the child; -1: for ever")
        )
