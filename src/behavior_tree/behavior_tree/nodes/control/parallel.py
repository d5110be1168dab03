# SPDX-License-Identifier: Apache-2.0
"""Parallel, ParallelAll: all children in every tick."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError, NodeExecutionError
from behavior_tree.kernel.node import (
    FAILURE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    TreeNode,
    stores_status,
)
from behavior_tree.nodes.control.base import ControlNode


class _Concurrent(ControlNode):
    """Bookkeeping of children that have completed."""

    __slots__ = ("_done", "_failures", "_successes")

    children_at_once = True
    restorable = ("_done", "_successes", "_failures")

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._done: set[int] = set()
        self._successes = 0
        self._failures = 0

    def failed_children(self) -> list[TreeNode]:
        return [] if self._failed_child is None else list(self._failed_together[1])

    def _ended(self, status: NodeStatus) -> NodeStatus:
        if status is FAILURE:
            self._note_failures()
        self._done.clear()
        self._successes = self._failures = 0
        self.reset_children()
        return status

    def halt(self) -> None:
        self._done.clear()
        self._successes = self._failures = 0
        super().halt()


class Parallel(_Concurrent):
    """SUCCESS when ``success_count`` children have succeeded, FAILURE when ``failure_count`` have
    failed or success is out of reach. Negative counts are from the end: -1 means all.
    """

    ports = ports_list(
        InputPort("success_count", int, -1, "number of children that need to succeed; -1: all"),
        InputPort(
            "failure_count",
            int,
            1,
            "number of failed children that make this node fail; -1: all",
        ),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._known: tuple[int, int, int, int] | None = None
        """`_counts`, while they stay the same."""

    def port_changed(self, name: str) -> None:
        self._known = None
        super().port_changed(name)

    def _counts(self, count: int) -> tuple[int, int, int, int]:
        """Number of children, success_count, successes needed, failures allowed."""
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
        counts = (count, success_count, need, limit)
        if self.is_literal("success_count") and self.is_literal("failure_count"):
            self._known = counts
        return counts

    @stores_status
    def tick(self) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        children, known = self.children, self._known
        try:
            if known is None or known[0] != len(children):
                known = self._counts(len(children))
            count, success_count, need, limit = known
            self._start()
            done, skipped, index = self._done, 0, -1
            for child in children:
                index += 1
                status = RUNNING
                if index not in done:
                    run = child._run
                    status = run(child)
                if status is SUCCESS:
                    done.add(index)
                    self._successes += 1
                elif status is FAILURE:
                    done.add(index)
                    self._failures += 1
                elif status is SKIPPED:
                    skipped += 1
                elif status is not RUNNING:
                    raise self._bad_child()
                elif index > 0:
                    continue  # nothing has changed since the last look at the counts
                if self._successes >= need or (
                    skipped
                    and success_count < 0
                    and self._successes + skipped >= need
                    and (skipped < count or self._rt.quirks.parallel_all_skipped_succeeds)
                ):
                    status = self._ended(SUCCESS)
                    break
                if status is SUCCESS and index > 0:
                    continue  # there are as many failures as at the last look
                if count - self._failures < need or self._failures == limit:
                    status = self._ended(FAILURE)
                    break
            else:
                status = SKIPPED if skipped == count else RUNNING
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        if status is RUNNING:
            if self.status is not RUNNING:  # a leaf has halted the tree
                self._start()
            return status
        return self._store(before, status) if stores else status


class ParallelAll(_Concurrent):
    """Tick all children to completion, then FAILURE if at least ``max_failures`` failed."""

    ports = ports_list(
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
        done, skipped = self._done, 0
        for index, child in enumerate(self.children):
            if index in done:
                continue
            run = child._run
            status = run(child)
            if status is SUCCESS:
                done.add(index)
                self._successes += 1
            elif status is FAILURE:
                done.add(index)
                self._failures += 1
            elif status is SKIPPED:
                skipped += 1
            elif status is not RUNNING:
                raise self._bad_child()
        if skipped == count:
            return SKIPPED
        if skipped + len(done) < count:
            return RUNNING
        return self._ended(FAILURE if self._failures >= limit else SUCCESS)


def from_end(number: int, count: int) -> int:
    """A count; negative ones are from the end, -1 means all."""
    return number if number >= 0 else max(count + number + 1, 0)
