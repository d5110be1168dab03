# SPDX-License-Identifier: Apache-2.0
"""RetryUntilSuccessful, Repeat: the child runs several times."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import FailureReason, NodeExecutionError, PortError
from behavior_tree.kernel.failure import of_attempts
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    stores_status,
)
from behavior_tree.nodes.decorators.base import SelfResettingDecorator


class _Again(SelfResettingDecorator):
    __slots__ = ("_count", "_first", "_fixed", "_limit")

    restorable = ("_count", "_first")
    _limit_port: str
    _again: NodeStatus
    """Result of the child that counts and lets it run again."""
    _final: NodeStatus
    """Result of the child that ends the node at once."""

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._count = 0
        self._limit = 0
        self._fixed = False
        self._first: FailureReason | None = None  # of this run, where another attempt may follow

    def _note_first_failure(self) -> None:
        """Keep the reason of the first failed attempt: the next one makes its nodes forget."""
        self._first = None if self._limit == 1 else self.child.explain_failure()

    def _limit_after_run(self, limit: int) -> int:
        """The limit after a run that counts."""
        return limit

    def port_changed(self, name: str) -> None:
        self._fixed = False
        self._waits = None
        super().port_changed(name)

    def _read_limit(self) -> int:
        self._limit = int(self.get_input(self._limit_port))
        self._fixed = self.is_literal(self._limit_port)
        return self._limit

    @stores_status
    def tick(self, given: NodeStatus | None = None) -> NodeStatus:
        started, stores = self.status, self._stores  # as the kernel was when it ticked this node
        child, again = self._child, self._again
        if given is not None:
            started, stores = RUNNING, True
        elif started is RUNNING and self._waits is not None:
            given = self._resumed()
            if given is RUNNING:
                return RUNNING
        try:
            limit = self._limit if self._fixed else self._read_limit()
            if given is None:
                self._start()
            if limit != -1 and self._count >= limit:
                self._failed_child = None
            status = again
            while limit == -1 or self._count < limit:
                if given is None:
                    before = child.status
                    run = child._run
                    status = run(child)
                else:
                    before, status, given = RUNNING, given, None
                if status is not again:
                    break
                self._count += 1
                if self._count == 1 and again is FAILURE:
                    self._note_first_failure()
                if not self._fixed:
                    limit = self._limit = self._limit_after_run(limit)
                self._reset(child)
                if before is IDLE and (limit == -1 or self._count < limit):
                    self.emit_wake_up()  # a synchronous child: the rest of the tree has a turn
                    self._start()  # again, if a leaf has halted the tree
                    return RUNNING
            else:
                self._count = 0
                status = again
            if status is RUNNING and stores and self._fixed:
                return self._wait_for(child)
            if status is RUNNING:
                self._start()
                return status
            if status is not again:
                if status is self._final:
                    self._count = 0
                elif status is not SKIPPED:
                    raise self._bad_child()
                self._reset(child)
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        return self._store(started, status) if stores else status

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

    ports = ports_list(
        InputPort("num_attempts", int, description="runs of the child at most; -1: no limit")
    )

    def explain_failure(self) -> FailureReason:
        """How the attempts began and how they ended."""
        last = super().explain_failure()
        first = self._first
        if self._failed_child is None or first is None or first == last:
            return last
        return of_attempts(self.full_path(), first, last)

    def attempts_so_far(self) -> str:
        """What is to be told of the attempts if the run is ended from outside; else empty."""
        if self._count == 0 or self._first is None:
            return ""
        text = f"attempts failed meanwhile: {self._count}; the first: {self._first}"
        if self.child.status is IDLE and self._failed_child is not None:
            last = self._failed_child.explain_failure()
            text += f"; the last: {last}" if last != self._first else ""
        return text

    def _limit_after_run(self, limit: int) -> int:
        try:
            return int(self.get_input(self._limit_port))
        except PortError:
            if not self._rt.quirks.unreadable_ports_ignored:
                raise
            return limit


class Repeat(_Again):
    """Run the child again while it succeeds, ``num_cycles`` times; -1 for ever."""

    _limit_port = "num_cycles"
    _again = SUCCESS
    _final = FAILURE

    ports = ports_list(
        InputPort("num_cycles", int, description="successful runs of the child; -1: for ever")
    )
