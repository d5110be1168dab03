# SPDX-License-Identifier: Apache-2.0
"""`Observer`: what the nodes of a tree do, node by node, and who wants to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import IDLE, RUNNING, TreeNode
from behavior_tree.kernel.tree import Tree

HALTED = "HALTED"
"""What happened to a node that was halted while RUNNING."""


@dataclass(frozen=True)
class Event:
    """Something happened to a leaf."""

    time: float
    """[s]"""
    node: TreeNode
    what: str
    """RUNNING: it has begun and goes on; SUCCESS, FAILURE, SKIPPED; `HALTED`."""
    reason: str = ""
    """Why it failed."""
    begins: bool = False
    """It has begun by this."""

    def __str__(self) -> str:
        """One line of a story, without the time."""
        return f"{self.node.full_path()} {self.what}{f': {self.reason}' if self.reason else ''}"


class Watcher(Protocol):
    """Is told what happens, in order."""

    def see_result(self, node: TreeNode, status: NodeStatus) -> None:
        """A node was ticked, with this result."""

    def see_event(self, event: Event) -> None:
        """Something happened to a leaf."""

    def see_tick(self) -> None:
        """A tick of the tree is over."""


class Observer:
    """Watches a tree that somebody else ticks; the only one who may set its nodes' hooks.

    Args:
        tree: not ticked yet
        watchers: who is told
    """

    def __init__(self, tree: Tree, watchers: list[Watcher]) -> None:
        self._clock: Callable[[], float] = tree.runtime.clock
        self._watchers = watchers
        self.results: dict[TreeNode, str] = {}
        """What each node came to last, or RUNNING while it is that."""
        self.running: set[TreeNode] = set()
        """Nodes that are RUNNING."""
        for node in tree.nodes():
            node.set_post_tick(self._ticked)
        tree.subscribe_status_change(self._changed)

    def tick_is_over(self) -> None:
        """To be called after each tick."""
        for watcher in self._watchers:
            watcher.see_tick()

    def _ticked(self, node: TreeNode, status: NodeStatus) -> NodeStatus:
        begins = node not in self.running and status is not NodeStatus.SKIPPED
        self.results[node] = status.name
        if status is RUNNING:
            self.running.add(node)
        else:
            self.running.discard(node)
        for watcher in self._watchers:
            watcher.see_result(node, status)
        if isinstance(node, LeafNode) and (begins or status is not RUNNING):
            reason = node.failure_reason() if status is NodeStatus.FAILURE else ""
            self._publish(Event(self._clock(), node, status.name, reason, begins))
        return IDLE

    def _changed(self, node: TreeNode, before: NodeStatus, status: NodeStatus) -> None:
        if before is RUNNING and status is IDLE and node in self.running:
            self.running.discard(node)
            self.results[node] = HALTED
            if isinstance(node, LeafNode):
                self._publish(Event(self._clock(), node, HALTED))

    def _publish(self, event: Event) -> None:
        for watcher in self._watchers:
            watcher.see_event(event)
