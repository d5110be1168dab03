# SPDX-License-Identifier: Apache-2.0
"""`MinitraceLogger`: status changes for ``chrome://tracing`` and Perfetto."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.loggers.base import StatusChangeLogger
from behavior_tree.loggers.files import create_file
from behavior_tree.node import IDLE, RUNNING, TreeNode
from behavior_tree.tree import Tree

__all__ = ["MinitraceLogger"]


class MinitraceLogger(StatusChangeLogger):
    """Writes a trace in Chrome's JSON format.

    A node that becomes RUNNING begins a slice, its result or its halt ends it; a node that
    completes at once is an instant. (Upstream leaves the slice of a halted node open.) The file is
    complete JSON after `close`. Edits of the live tree need no note: nodes go by their names.

    Args:
        tree: the tree
        filepath: file, replaced if it exists

    Raises:
        BehaviorTreeError: the file cannot be written
    """

    def __init__(self, tree: Tree, filepath: str | Path) -> None:
        self._path = Path(filepath)
        self._file = create_file(self._path, "MinitraceLogger")
        self._file.write(b'{"traceEvents":[')
        self._separator = "\n"
        super().__init__(tree)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        if new is RUNNING:
            phase = "B"
        elif previous is RUNNING:
            phase = "E"
        elif previous is IDLE:
            phase = "I"
        else:
            return
        event = {
            "cat": node.type().tag,
            "pid": os.getpid(),
            "tid": threading.get_native_id(),
            "ts": timestamp,
            "ph": phase,
            "name": str(node.name),
            "args": {},
        }
        text = self._separator + json.dumps(event, separators=(",", ":"))
        self._file.write(text.encode())
        self._separator = ",\n"

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()

    def finish(self) -> None:
        with self._file as file:
            file.write(b"\n]}\n")

    def __str__(self) -> str:
        return f"MinitraceLogger({self._path})"
