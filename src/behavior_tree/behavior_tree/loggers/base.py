# SPDX-License-Identifier: Apache-2.0
"""`StatusChangeLogger`, the base of all loggers."""

from __future__ import annotations

import logging
import time
from types import TracebackType
from typing import Self

from behavior_tree.basic_types import NodeStatus
from behavior_tree.node import IDLE, TreeNode
from behavior_tree.tree import Tree

__all__ = ["StatusChangeLogger"]


_LOG = logging.getLogger(__name__)


class StatusChangeLogger:
    """Gets every status change of a tree until closed. A subclass defines `record`.

    Create and close a logger while the tree is not being ticked by another thread. It is a context
    manager that closes itself. One whose `record` raises is switched off; the tick goes on.
    """

    def __init__(self, tree: Tree) -> None:
        self._enabled = True
        self._idle_too = True
        self._unsubscribe = tree.subscribe_status_change(self._changed)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        """Take one change.

        Args:
            timestamp: wall time since the epoch [us]
            node: whose status changed
            previous: status before
            new: status now
        """
        raise NotImplementedError(f"{type(self).__name__} defines no record()")

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
        self._unsubscribe()

    def _changed(self, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        if self._enabled and (self._idle_too or new is not IDLE):
            try:
                self.record(time.time_ns() // 1000, node, previous, new)
            except Exception:  # a full disk must not stop a robot
                self._enabled = False
                _LOG.exception("%s failed and is switched off", type(self).__name__)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
