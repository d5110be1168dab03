# SPDX-License-Identifier: Apache-2.0
"""`Outlook`: the schedule of a tree by what its leaves say, and by what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from behavior_tree.kernel.node import TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.schedule.course import Bar, Schedule, make_schedule
from behavior_tree.schedule.durations import Duration, Measured, nominal_duration


@dataclass(frozen=True)
class Row:
    """One bar with what is known of it."""

    bar: Bar
    """As predicted."""
    duration: Duration
    critical: bool
    """True if the end of the tree waits for it."""


class Outlook:
    """How long a tree will take.

    Args:
        tree: is not ticked
        measured: durations of earlier runs; `DurationLog` collects them
        assumed: nominal durations [s] by full path, name or node type, where leaves tell none or
            another one is wanted
    """

    def __init__(
        self,
        tree: Tree,
        measured: Measured | None = None,
        assumed: Mapping[str, float] | None = None,
    ) -> None:
        self._measured = measured or {}
        self._assumed = assumed or {}
        self.nominal: Schedule = make_schedule(tree, lambda node: self.duration(node).nominal)
        """By what leaves say; those that say nothing take no time."""
        self.predicted: Schedule = make_schedule(tree, self._predicted)
        """By the medians of what was measured, else by what leaves say."""
        self.pessimistic: Schedule = make_schedule(tree, self._pessimistic)
        """With every leaf as slow as in the slowest 5 %."""
        runs = self._measured.get(tree.root_node().full_path(), ())
        self.measured: float | None = runs[-1] if runs else None
        """What the whole tree took the last time [s]; None if that was not measured."""

    def duration(self, node: TreeNode) -> Duration:
        """What is known of a leaf."""
        path = node.full_path()
        keys = (path, str(node.name), node.registration_id())
        known = next((self._assumed[key] for key in keys if key in self._assumed), None)
        nominal = nominal_duration(node) if known is None else known
        return Duration(nominal, tuple(self._measured.get(path, ())))

    def rows(self) -> list[Row]:
        """The bars that take time, or may, in the order of the tree."""
        critical = set(self.predicted.critical)
        return [
            Row(bar, self.duration(bar.node), bar in critical)
            for bar in self.predicted.bars
            if bar.end > bar.begin or not bar.known
        ]

    def _predicted(self, node: TreeNode) -> float | None:
        known = self.duration(node)
        return known.nominal if known.median is None else known.median

    def _pessimistic(self, node: TreeNode) -> float | None:
        known = self.duration(node)
        return known.nominal if known.most is None else known.most
