# SPDX-License-Identifier: Apache-2.0
"""Where the time of a tree goes."""

from __future__ import annotations

import time
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree


class Profile:
    """Counts and times the ticks of all nodes of a tree, children included."""

    def __init__(self, tree: Tree) -> None:
        self._begun: dict[TreeNode, float] = {}
        self._ticks: dict[TreeNode, int] = {}
        self._seconds: dict[TreeNode, float] = {}
        for node in tree.nodes():
            node.set_pre_tick(self._begin)
            node.set_post_tick(self._end)

    def _begin(self, node: TreeNode) -> NodeStatus:
        self._begun[node] = time.perf_counter()
        return NodeStatus.IDLE

    def _end(self, node: TreeNode, status: NodeStatus) -> NodeStatus:
        begun = self._begun.pop(node, None)
        if begun is not None:  # else a pre-condition decided
            self._ticks[node] = self._ticks.get(node, 0) + 1
            self._seconds[node] = self._seconds.get(node, 0.0) + time.perf_counter() - begun
        return status

    def rows(self) -> list[dict[str, Any]]:
        """Path, ticks and time [s] of each node, the most expensive one first."""
        return [
            {"node": node.full_path(), "ticks": self._ticks[node], "total_s": seconds}
            for node, seconds in sorted(self._seconds.items(), key=lambda item: -item[1])
        ]

    def table(self) -> list[str]:
        """Lines of text, the most expensive node first."""
        lines = [f"{'ticks':>8} {'total [ms]':>11} {'per tick [us]':>14}  node"]
        for row in self.rows():
            count, seconds = row["ticks"], row["total_s"]
            each = seconds / count * 1e6
            lines.append(f"{count:8d} {seconds * 1e3:11.3f} {each:14.1f}  {row['node']}")
        return lines
