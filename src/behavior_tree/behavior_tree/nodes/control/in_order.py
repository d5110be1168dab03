# SPDX-License-Identifier: Apache-2.0
"""What Sequence and Fallback have in common: children in order, from the running one on."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import NodeExecutionError
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    NodeConfig,
    TreeNode,
    stores_status,
)
from behavior_tree.nodes.control.base import ControlNode


class InOrder(ControlNode):
    """Ticks children as long as they give `passes`, which is its result if all do; SKIPPED if all
    were skipped.
    """

    __slots__ = ("_end", "_goes_on", "_index", "_skipped")

    memory: ClassVar[bool] = True  # what py_trees calls it
    passes: ClassVar[NodeStatus]
    """Result of a child after which the next one is ticked."""
    restorable = ("_index", "_skipped")

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._goes_on = self.passes
        self._index = 0
        self._skipped = 0
        self._end: tuple[Any, ...] = ()

    @stores_status
    def tick(self, given: NodeStatus | None = None) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        if given is not None:
            before, stores = RUNNING, True
        elif before is not RUNNING:
            if before is IDLE:
                self._skipped = 0
            self.status = RUNNING
            record = self._rt.record
            if record is not None:
                record += (0, self, before, RUNNING)
        elif self._waits is not None:
            given = self._resumed()
            if given is RUNNING:
                return RUNNING
        children, goes_on = self.children, self._goes_on
        index = self._index if given is None else children.index(self._waits)  # type: ignore[arg-type]
        try:
            for child in children[index:] if index else children:
                if given is None:
                    run = child._run
                    status = run(child)
                else:
                    status, given = given, None
                if status is goes_on:
                    index += 1
                elif status is RUNNING:
                    self._come_to(index)
                    return self._wait_for(child)
                elif status is SKIPPED:
                    index += 1
                    self._skipped += 1
                elif status is IDLE:
                    raise self._bad_child()
                else:
                    break
            else:
                status = goes_on
            if self._skipped or not children or not stores or self.status is not RUNNING:
                status = self._all_passed() if status is goes_on else self._ended_by(status)
                return self._store(before, status) if stores else status
        except NodeExecutionError:
            self._come_to(index)
            raise
        except Exception as error:
            self._come_to(index)
            raise self._execution_error(error) from error
        # What mostly happens: all that were ticked have ended, and this node has, too.
        self._index = 0
        for child in children:
            child.status = IDLE
        self.status = status
        record = self._rt.record
        if record is not None:
            entries = self._end or self._make_end()
            if status is goes_on:
                record += entries
            else:
                record += entries[: 4 * index]
                record += (0, children[index], status, IDLE, 0, self, RUNNING, status)
        if status is FAILURE and self._up is not None:
            self._up._failed_child = self
        return status

    def _come_to(self, index: int) -> None:
        """The child at which the next tick goes on; the first if a leaf has halted the tree."""
        self._waits = None
        if self.status is RUNNING:
            self._index = index

    def _make_end(self) -> tuple[Any, ...]:
        """What the end of a run adds to the record in which all children have passed: they are
        reset, and the node has their result.
        """
        resets = (item for child in self.children for item in (0, child, self._goes_on, IDLE))
        self._end = (*resets, 0, self, RUNNING, self._goes_on)
        return self._end

    def add_child(self, child: TreeNode) -> None:
        ControlNode.add_child(self, child)
        self._end = ()

    def children_changed(self) -> None:
        self._end = ()

    def _ended_by(self, status: NodeStatus) -> NodeStatus:
        """End of a run by a child that did not pass."""
        self._index = 0
        self.reset_children()
        return status

    def _all_passed(self) -> NodeStatus:
        """End of a run in which no child gave another result."""
        skipped = self._skipped
        if skipped and self._goes_on is FAILURE:
            self._note_failures()
        self._index = 0
        self._skipped = 0
        self.reset_children()
        return SKIPPED if skipped == len(self.children) else self._goes_on

    def halt(self) -> None:
        self._index = 0
        self._skipped = 0
        super().halt()


class AsyncInOrder(InOrder):
    """Returns RUNNING after each child that passes at once, so that others get a turn."""

    __slots__ = ()

    @stores_status
    def tick(self) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        if before is IDLE:
            self._skipped = 0
        self._start()
        children, goes_on, status = self.children, self._goes_on, RUNNING
        count = len(children)
        try:
            while self._index < count:
                child = children[self._index]
                was = child.status
                run = child._run
                status = run(child)
                if status is goes_on:
                    self._index += 1
                    if was is IDLE and self._index < count:
                        self.emit_wake_up()
                        status = RUNNING
                        break
                elif status is SKIPPED:
                    self._index += 1
                    self._skipped += 1
                elif status is IDLE:
                    raise self._bad_child()
                else:
                    break
            else:
                status = self._all_passed()
                return self._store(before, status) if stores else status
            if status is RUNNING:
                self._start()  # again, if a leaf has halted the tree
                return status
            status = self._ended_by(status)
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        return self._store(before, status) if stores else status
