# SPDX-License-Identifier: Apache-2.0
"""`Story`: a run as text, the same whenever the run is."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.kernel.node import TreeNode
from behavior_tree.testing.observing import Event


class Story:
    """Notes what leaves do. A condition that answers as before is not noted again, nor is a tick
    that repeats the one before: those are counted.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        """Of all leaves, in order."""
        self._ticks: list[tuple[float, list[str], int]] = []
        self._now: list[str] = []
        self._time = 0.0
        self._said: dict[TreeNode, str] = {}

    def see_result(self, node: TreeNode, status: NodeStatus) -> None:
        """Only leaves are told of."""

    def see_event(self, event: Event) -> None:
        """Note one."""
        self.events.append(event)
        said, self._said[event.node] = self._said.get(event.node), event.what
        repeats = event.node.type() is NodeType.CONDITION and said == event.what
        if not repeats:
            self._time = event.time if not self._now else self._time
            self._now.append(str(event))

    def see_tick(self) -> None:
        """Put a tick down."""
        if self._now and self._ticks and self._ticks[-1][1] == self._now:
            time, lines, count = self._ticks[-1]
            self._ticks[-1] = time, lines, count + 1
        elif self._now:
            self._ticks.append((self._time, self._now, 1))
        self._now = []

    def lines(self) -> list[str]:
        """One line for each event, with its time [s]."""
        told: list[str] = []
        for time, lines, count in self._ticks:
            told += [f"{time:8.2f}  {line}" for line in lines]
            if count > 1:
                told.append(f"{'':8}  (the same in {count - 1} more ticks)")
        return told
