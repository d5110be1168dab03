# SPDX-License-Identifier: Apache-2.0
"""`TreeObserver`: how often each node ran, and with which results."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, IDLE, SUCCESS
from behavior_tree.kernel.record import Changes
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.base import BatchLogger


@dataclass
class NodeStatistics:
    """What one node did so far."""

    last_result: NodeStatus = IDLE
    """SUCCESS or FAILURE; IDLE before the first result."""
    current_status: NodeStatus = IDLE
    transitions_count: int = 0
    """Status changes, those to IDLE excluded."""
    success_count: int = 0
    failure_count: int = 0
    skip_count: int = 0
    """Always 0: SKIPPED is never the status of a node. Kept because upstream has it."""
    last_timestamp: int = 0
    """Time of the last change, since the epoch [us]; 0 before the first."""


class TreeObserver(BatchLogger):
    """Counts status changes by node.

    Follows edits of the live tree: nodes that left are no longer shown, and count on if an undo
    brings them back. Where an edit gives two nodes the same path, it means the first of them.

    Raises:
        LogicError: two nodes of the tree have the same path, so that paths could not tell them
            apart
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[str, int] = {}
        for node in tree.nodes():
            path = node.full_path()
            if path in self._paths:
                raise LogicError(
                    f"TreeObserver: two nodes have the path '{path}': give them different names"
                )
            self._paths[path] = node.uid()
        self._statistics = {uid: NodeStatistics() for uid in self._paths.values()}
        self._present = set(self._statistics)
        super().__init__(tree)

    def restructured(self, change: StructureChange) -> None:
        self._paths = {}
        for node in self._tree.nodes():
            self._paths.setdefault(node.full_path(), node.uid())
            self._statistics.setdefault(node.uid(), NodeStatistics())
        self._present = {node.uid() for node in self._tree.nodes()}

    def write(self, changes: Changes) -> None:
        times, all_statistics = self.epoch_us(changes.times), self._statistics
        for timestamp, node, new in zip(times, changes.nodes, changes.new, strict=True):
            statistics = all_statistics[node._config.uid]
            statistics.current_status = new
            statistics.last_timestamp = timestamp
            if new is IDLE:
                continue
            statistics.transitions_count += 1
            if new is SUCCESS:
                statistics.success_count += 1
                statistics.last_result = new
            elif new is FAILURE:
                statistics.failure_count += 1
                statistics.last_result = new

    def get_statistics(self, node: str | int) -> NodeStatistics:
        """Statistics of one node.

        Args:
            node: full path, or uid

        Raises:
            KeyError: no such node
        """
        self._drain()
        uid = self._paths.get(node) if isinstance(node, str) else node
        if uid is None or uid not in self._present:
            raise KeyError(f"no node {node!r} in the observed tree; paths: {list(self._paths)}")
        return self._statistics[uid]

    def statistics(self) -> dict[int, NodeStatistics]:
        """Statistics of all nodes by uid."""
        self._drain()
        return {uid: each for uid, each in self._statistics.items() if uid in self._present}

    def path_to_uid(self) -> dict[str, int]:
        """Uid of each full path."""
        return dict(self._paths)

    def reset_statistics(self) -> None:
        """Count from zero again."""
        self._drain()
        for uid in self._statistics:
            self._statistics[uid] = NodeStatistics()
