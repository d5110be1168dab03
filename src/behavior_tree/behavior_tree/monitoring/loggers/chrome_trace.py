# SPDX-License-Identifier: Apache-2.0
"""`MinitraceLogger`: status changes for ``chrome://tracing`` and Perfetto."""

from __future__ import annotations

import json
import os
from pathlib import Path

from behavior_tree.kernel.node import IDLE, RUNNING, TreeNode
from behavior_tree.kernel.record import Changes
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.base import BatchLogger
from behavior_tree.monitoring.loggers.files import create_file


class MinitraceLogger(BatchLogger):
    """Writes a trace in Chrome's JSON format.

    A node that becomes RUNNING begins a slice, its result or its halt ends it; a node that
    completes at once is an instant. (Upstream leaves the slice of a halted node open.) The file is
    complete JSON after `close`. Edits of the live tree need no note: nodes go by their names. An
    event has the thread in which its tick began.

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
        self._texts: dict[TreeNode, tuple[str, str]] = {}
        super().__init__(tree)

    def write(self, changes: Changes) -> None:
        times = self.epoch_us(changes.times)
        middle = f'"pid":{os.getpid()},"tid":{changes.thread},"ts":'
        texts, events = self._texts, []
        rows = zip(times, changes.nodes, changes.previous, changes.new, strict=True)
        for timestamp, node, previous, new in rows:
            if new is RUNNING:
                phase = "B"
            elif previous is RUNNING:
                phase = "E"
            elif previous is IDLE:
                phase = "I"
            else:
                continue
            begin, end = texts.get(node) or self._text(node)
            events.append(f'{begin}{middle}{timestamp},"ph":"{phase}",{end}')
        if events:
            self._file.write((self._separator + ",\n".join(events)).encode())
            self._separator = ",\n"
        self._file.flush()

    def _text(self, node: TreeNode) -> tuple[str, str]:
        """What all events of a node have in common: their beginning and their end."""
        parts = (
            f'{{"cat":{json.dumps(node.type().tag)},',
            f'"name":{json.dumps(node.name)},"args":{{}}}}',
        )
        self._texts[node] = parts
        return parts

    def restructured(self, change: StructureChange) -> None:
        self._texts.clear()

    def finish(self) -> None:
        with self._file as file:
            file.write(b"\n]}\n")

    def __str__(self) -> str:
        return f"MinitraceLogger({self._path})"
