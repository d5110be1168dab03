# SPDX-License-Identifier: Apache-2.0
"""`StdCoutLogger`: status changes as coloured lines."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.base import StatusChangeLogger

_COLOURS = {
    NodeStatus.IDLE: 36,
    NodeStatus.RUNNING: 33,
    NodeStatus.SUCCESS: 32,
    NodeStatus.FAILURE: 31,
    NodeStatus.SKIPPED: 34,
}


class StdCoutLogger(StatusChangeLogger):
    """Prints ``[time]: name PREVIOUS -> NEW``, with the time in seconds since the epoch.

    Args:
        tree: the tree
        stream: where to, None means standard output
        relative: count the time from the logger's creation instead
    """

    def __init__(self, tree: Tree, stream: TextIO | None = None, *, relative: bool = False) -> None:
        self._stream = stream
        self._zero = time.time_ns() // 1000 if relative else 0
        super().__init__(tree)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        seconds = (timestamp - self._zero) / 1e6
        print(
            f"[{seconds:.3f}]: {node.name:<25} {_coloured(previous)} -> {_coloured(new)}",
            file=self._stream,
        )

    def flush(self) -> None:
        (self._stream or sys.stdout).flush()


def _coloured(status: NodeStatus) -> str:
    return f"\x1b[{_COLOURS[status]}m{status.name}\x1b[0m"
