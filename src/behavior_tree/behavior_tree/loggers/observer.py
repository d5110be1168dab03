# SPDX-License-Identifier: Apache-2.0
"""`TreeObserver`: how often each node ran, and with which results."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError
from behavior_tree.loggers.base import StatusChangeLogger
from behavior_tree.node import FAILURE, IDLE, SUCCESS, TreeNode
from behavior_tree.tree import Tree

__all__ = ["NodeStatistics", "TreeObserver"]


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


class TreeObserver(StatusChangeLogger):
    """Counts status changes by node.

    Raises:
        LogicError: two nodes of the tree have the same path, so that paths could not tell them
            apart
    """

    def __init__(self, tree: Tree) -> None:
        self._paths: dict[str, int] = {}
        for node in tree.nodes():
            path = node.full_path()
            if path in self._paths:
                raise LogicError(
                    f"TreeObserver: two nodes have the path '{path}': give them different names"
                )
            self._paths[path] = node.uid()
        self._statistics = {uid: NodeStatistics() for uid in self._paths.values()}
        super().__init__(tree)

    def record(self, timestamp: int, node: TreeNode, previous: NodeStatus, new: NodeStatus) -> None:
        statistics = self._statistics.setdefault(node.uid(), NodeStatistics())
        statistics.current_status = new
        statistics.last_timestamp = timestamp
        if new is IDLE:
            return
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
        uid = self._paths.get(node) if isinstance(node, str) else node
        if uid is None or uid not in self._statistics:
            raise KeyError(f"no node {node!r} in the observed tree; paths: {list(self._paths)}")
        return self._statistics[uid]

    def statistics(self) -> dict[int, NodeStatistics]:
        """Statistics of all nodes by uid."""
        return dict(self._statistics)

    def path_to_uid(self) -> dict[str, int]:
        """Uid of each full path."""
        return dict(self._paths)

    def reset_statistics(self) -> None:
        """Count from zero again."""
        for uid in self._statistics:
            self._statistics[uid] = NodeStatistics()
