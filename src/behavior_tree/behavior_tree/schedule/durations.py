# SPDX-License-Identifier: Apache-2.0
"""How long nodes take: what they say themselves, and what was measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.kernel.node import IDLE, RUNNING, SUCCESS, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.closing import Closing
from behavior_tree.nodes.actions import Sleep
from behavior_tree.nodes.actions.test_node import TestNode
from behavior_tree.nodes.authoring import Goto

PORT = "nominal_duration"
"""Input port, and method of a node class, that tells how long a node usually takes [s]."""

Measured = Mapping[str, Sequence[float]]
"""Durations of successful runs [s] by full path, oldest first."""


@dataclass(frozen=True)
class Duration:
    """What is known of one node. All in seconds, None if not known."""

    nominal: float | None
    """As the node itself says."""
    measured: tuple[float, ...] = ()
    """Of its successful runs, oldest first."""

    @property
    def median(self) -> float | None:
        """Half of the measured runs took no longer."""
        return statistics.median(self.measured) if self.measured else None

    @property
    def most(self) -> float | None:
        """95 % of the measured runs took no longer."""
        if not self.measured:
            return None
        return sorted(self.measured)[math.ceil(0.95 * len(self.measured)) - 1]

    @property
    def last(self) -> float | None:
        """Of the last measured run."""
        return self.measured[-1] if self.measured else None


def nominal_duration(node: TreeNode) -> float | None:
    """How long a leaf says that it takes [s]; None if it does not say.

    A Sleep and a test node have a time of their own. Others tell it by an input port
    ``nominal_duration``, or by a method of that name of their class. Conditions and actions that
    end in their tick take no time.
    """
    if isinstance(node, Sleep):
        msec = node.get_input_double("msec") if node.is_literal("msec") else None
        return None if msec is None else msec / 1000
    method = getattr(node, PORT, None)
    duration = method() if callable(method) else None
    if duration is None and PORT in node.config().ports and node.is_literal(PORT):
        duration = node.get_input_double(PORT)
    if duration is None and isinstance(node, TestNode):
        duration = node.delay or None
    instant = node.type() is NodeType.CONDITION or node.synchronous or isinstance(node, Goto)
    if duration is None and instant:
        duration = 0.0
    return float(duration) if duration is not None and 0 <= duration < math.inf else None


class MeasuredRuns:
    """Collects durations from changes of statuses. Failed and halted runs do not count."""

    def __init__(self) -> None:
        self.durations: dict[str, list[float]] = {}
        self._begun: dict[str, float] = {}

    def note(self, path: str, now: float, before: NodeStatus, status: NodeStatus) -> None:
        """One change of the status of a node, at a time [s]."""
        if status is RUNNING and before is not RUNNING:
            self._begun[path] = now
        elif status is SUCCESS:
            begun = self._begun.pop(path, now)
            self.durations.setdefault(path, []).append(now - begun)
        elif status is not RUNNING and before is not IDLE:
            self._begun.pop(path, None)


class DurationLog(Closing):
    """Measures how long the nodes of a tree take, on its clock, from its creation until `close`.

    Args:
        tree: is ticked by somebody else
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._runs = MeasuredRuns()
        self._stop = tree.subscribe_status_change(self._note)

    @property
    def durations(self) -> Measured:
        """What was measured so far."""
        return self._runs.durations

    def _note(self, node: TreeNode, before: NodeStatus, status: NodeStatus) -> None:
        self._runs.note(node.full_path(), self._tree.runtime.clock(), before, status)

    def close(self) -> None:
        """Measure no more; what was measured stays."""
        self._stop()
