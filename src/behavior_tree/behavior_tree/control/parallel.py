# SPDX-License-Identifier: Apache-2.0
"""Parallel, ParallelAll: all children in every tick."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.base import ControlNode
from behavior_tree.errors import LogicError
from behavior_tree.node import FAILURE, RUNNING, SKIPPED, SUCCESS, NodeConfig, TreeNode
from behavior_tree.ports import InputPort, PortInfo, ports_list

__all__ = ["Parallel", "ParallelAll", "from_end"]


class _Concurrent(ControlNode):
    """Bookkeeping of children that have completed."""

    __slots__ = ("_done", "_failures", "_literal_counts", "_successes")

    restorable = ("_done", "_successes", "_failures")

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._done: set[int] = set()
        self._successes = 0
        self._failures = 0
        self._literal_counts = (0, 0)  # needed successes, allowed failures: for specialised ticks

    def _tick_child(self, index: int) -> NodeStatus:
        status = self.tick_child(index)
        if status is SUCCESS:
            self._done.add(index)
            self._successes += 1
        elif status is FAILURE:
            self._done.add(index)
            self._failures += 1
        elif status is not RUNNING and status is not SKIPPED:
            raise self._bad_child()
        return status

    def failed_children(self) -> list[TreeNode]:
        return [] if self._failed_child is None else list(self._failed_together[1])

    def _clear(self) -> None:
        self._done.clear()
        self._successes = 0
        self._failures = 0

    def halt(self) -> None:
        self._clear()
        super().halt()


class Parallel(_Concurrent):
    """SUCCESS when ``success_count`` children have succeeded, FAILURE when ``failure_count`` have
    failed or success is out of reach. Negative counts are from the end: -1 means all.
    """

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort("success_count", int, -1, "number of children that need to succeed; -1: all"),
            InputPort(
                "failure_count",
                int,
                1,
                "number of failed children that make this node fail; -1: all",
            ),
        )

    def tick(self) -> NodeStatus:
        count = len(self.children)
        success_count: int = self.get_input("success_count")
        need = from_end(success_count, count)
        limit = from_end(self.get_input("failure_count"), count)
        if count < need:
            raise LogicError(
                f"Number of children ({count}) is less than success_count ({need}). Can never "
                f"succeed."
            )
        if count < limit:
            raise LogicError(
                f"Number of children ({count}) is less than failure_count ({limit}). Can never "
                f"fail."
            )
        self._start()
        skipped = 0
        strict = self._rt.quirks.parallel_all_skipped_succeeds
        for index in range(count):
            if index not in self._done and self._tick_child(index) is SKIPPED:
                skipped += 1
            reached = success_count < 0 and self._successes + skipped >= need
            if self._successes >= need or (reached and (strict or skipped < count)):
                self._clear()
                self.reset_children()
                return SUCCESS
            if count - self._failures < need or self._failures == limit:
                self._note_failures()
                self._clear()
                self.reset_children()
                return FAILURE
        return SKIPPED if skipped == count else RUNNING


class ParallelAll(_Concurrent):
    """Tick all children to completion, then FAILURE if at least ``max_failures`` failed."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        return ports_list(
            InputPort(
                "max_failures",
                int,
                1,
                "number of failed children that make this node fail; -1: all",
            ),
        )

    def tick(self) -> NodeStatus:
        count = len(self.children)
        limit = from_end(self.get_input("max_failures"), count)
        if count < limit:
            raise LogicError(
                f"Number of children ({count}) is less than max_failures ({limit}). Can never fail."
            )
        self._start()
        skipped = 0
        for index in range(count):
            if index not in self._done and self._tick_child(index) is SKIPPED:
                skipped += 1
        if skipped == count:
            return SKIPPED
        if skipped + len(self._done) < count:
            return RUNNING
        failed = self._failures >= limit
        if failed:
            self._note_failures()
        self._clear()
        self.reset_children()
        return FAILURE if failed else SUCCESS


def from_end(number: int, count: int) -> int:
    """A count; negative ones are from the end, -1 means all."""
    return number if number >= 0 else max(count + number + 1, 0)
