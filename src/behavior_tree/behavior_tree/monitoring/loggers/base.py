# SPDX-License-Identifier: Apache-2.0
"""`StatusChangeLogger`, the base of all loggers, and `BatchLogger`, the base of the fast ones."""

from __future__ import annotations

import atexit
import logging
import time
import weakref
from collections.abc import Callable
from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import IDLE, TreeNode
from behavior_tree.kernel.record import Changes, RecordBatch
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing

_LOG = logging.getLogger(__name__)
_STEP = 1_000_000
"""Smallest disagreement of the two clocks that is a step of the wall clock [ns]."""


class StatusChangeLogger(Closing):
    """Gets every status change of a tree until closed. A subclass defines `record`.

    Create and close a logger while the tree is not being ticked by another thread. It is a context
    manager that closes itself; one that is still open when Python ends is closed then. One that
    fails, for example because the disk is full, is switched off and says so in the log of
    `logging`; the tick goes on.

    Edits of the live tree (`behavior_tree.editing`) are followed. A node keeps its uid for life,
    moved or renamed, also when an undo brings it back; a new node gets the next number that was
    never used, so that a uid never means two nodes.
    """

    def __init__(self, tree: Tree) -> None:
        self._enabled = True
        self._idle_too = True
        self._closed = False
        self._unsubscribe = self._subscribe(tree)
        self._unsubscribe_structure = tree.subscribe_structure_change(self._restructured)
        _OPEN.add(self)

    def _subscribe(self, tree: Tree) -> Callable[[], None]:
        return tree.subscribe_status_change(self._changed)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        """Take one change.

        Args:
            timestamp: wall time since the epoch [us]
            node: whose status changed
            previous: status before
            new: status now
        """
        raise NotImplementedError(f"{type(self).__name__} defines no record()")

    def restructured(self, change: StructureChange) -> None:
        """Take note of an edit of the tree; called between ticks, even while paused."""

    def finish(self) -> None:
        """Write what is held back and let go of files; called once."""

    def set_enabled(self, enabled: bool) -> None:
        """Pause or resume."""
        self._enabled = enabled

    def enable_transition_to_idle(self, enabled: bool) -> None:
        """Whether changes to IDLE are recorded; they are unless switched off."""
        self._idle_too = enabled

    def flush(self) -> None:
        """Write what is held back."""

    def close(self) -> None:
        """Stop for good and write everything; further calls do nothing."""
        if self._closed:
            return
        self._closed = True
        self._unsubscribe()
        self._unsubscribe_structure()
        _OPEN.discard(self)
        try:
            self.finish()
        except Exception:
            self._failed()

    def _changed(self, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        if self._enabled and (self._idle_too or new is not IDLE):
            try:
                self.record(time.time_ns() // 1000, node, previous, new)
            except Exception:  # a full disk must not stop a robot
                self._failed()

    def _restructured(self, change: StructureChange) -> None:
        try:
            self.restructured(change)
        except Exception:
            self._failed()

    def _failed(self) -> None:
        self._enabled = False
        _LOG.exception("%s failed and is switched off", self)

    def __str__(self) -> str:
        return type(self).__name__


class BatchLogger(StatusChangeLogger):
    """Gets the changes many at once, from any thread, at the latest 10 ms after they happened while
    the tree is at work. A subclass defines `write` instead of `record`.
    """

    completes_runs: ClassVar[bool] = False
    """Whether `write` shall be called as soon as a run of the tree ends."""
    reads_times: ClassVar[bool] = True
    """For the tree: it says when each node ended."""

    def __init__(self, tree: Tree) -> None:
        self._drain = tree.drain_changes
        self._since_epoch = time.time_ns() - time.monotonic_ns()
        super().__init__(tree)

    def _subscribe(self, tree: Tree) -> Callable[[], None]:
        return tree.subscribe_changes(self)

    def write(self, changes: Changes) -> None:
        """Take changes, in order."""
        raise NotImplementedError(f"{type(self).__name__} defines no write()")

    def store(self) -> None:
        """Do what takes long, in the thread of the recorder, every 10 ms while ticks go on."""

    def epoch_us(self, times: list[int]) -> list[int]:
        """Wall time since the epoch [us] of monotonic times [ns]; a step of the wall clock counts
        from the next batch on.
        """
        now = time.time_ns() - time.monotonic_ns()
        if abs(now - self._since_epoch) > _STEP:
            self._since_epoch = now
        offset = self._since_epoch
        return [(each + offset) // 1000 for each in times]

    def read(self, batch: RecordBatch) -> None:
        """Called by the recorder."""
        if self._enabled:
            try:
                changes = batch.changes
                self.write(changes if self._idle_too else changes.without_idle())
            except Exception:  # a full disk must not stop a robot
                self._failed()

    def on_interval(self) -> None:
        """Called by the recorder."""
        if self._enabled:
            try:
                self.store()
            except Exception:
                self._failed()

    def set_enabled(self, enabled: bool) -> None:
        self._drain()
        super().set_enabled(enabled)

    def enable_transition_to_idle(self, enabled: bool) -> None:
        self._drain()
        super().enable_transition_to_idle(enabled)

    def flush(self) -> None:
        self._drain()


_OPEN: weakref.WeakSet[StatusChangeLogger] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for logger in list(_OPEN):
        logger.close()
