# SPDX-License-Identifier: Apache-2.0
"""`TreeRunner`: pause, resume, step."""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import IDLE, RUNNING
from behavior_tree.kernel.tree import Tree


class TreeRunner:
    """Ticks a tree that can be paused between ticks.

    While paused, running leaves have been told by ``on_paused()`` (a robot's skill holds its
    motion there), and the timers of the tree stand still.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._status = IDLE
        self._paused_at: float | None = None

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._paused_at is not None

    def tick(self) -> NodeStatus:
        """Tick once as `Tree.tick_once`; while paused only return the last result."""
        if not self.paused:
            self._status = self._tree.tick_once()
        return self._status

    def pause(self) -> None:
        """Pause the running leaves and the timers; nothing happens if paused already."""
        if self._paused_at is None:
            self._paused_at = self._tree.runtime.clock()
            self._call_running_leaves(lambda leaf: leaf.on_paused())

    def resume(self) -> None:
        """Go on where `pause` was called; nothing happens if not paused."""
        if self._paused_at is not None:
            self._tree.runtime.postpone_timers(self._tree.runtime.clock() - self._paused_at)
            self._paused_at = None
            self._call_running_leaves(lambda leaf: leaf.on_resumed())

    def step(self) -> NodeStatus:
        """Resume, tick exactly once, pause."""
        self.resume()
        try:
            self._status = self._tree.tick_exactly_once()
        finally:
            self.pause()
        return self._status

    def halt(self) -> None:
        """Halt the tree and end a pause; halted leaves are not told to resume."""
        self._tree.halt_tree()
        self._paused_at = None
        self._status = IDLE

    def _call_running_leaves(self, call: Callable[[LeafNode], None]) -> None:
        for node in self._tree.nodes():
            if isinstance(node, LeafNode) and node.status is RUNNING:
                call(node)
