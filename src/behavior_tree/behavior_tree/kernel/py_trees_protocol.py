# SPDX-License-Identifier: Apache-2.0
"""`PyTreesProtocol`: what makes a node a py_trees behaviour.

py_trees' own tick machinery (generators, a logger and a UUID per node) costs 50 times a tick of
ours, so the constructor of ``Behaviour`` is not run; what it would create is created when first
looked at.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour
from py_trees.common import BlackBoxLevel
from py_trees.common import Status as PyTreesStatus

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node_kernel import NodeKernel
from behavior_tree.kernel.record import RecordBatch, TickRecord

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED


class PyTreesProtocol(NodeKernel):
    """py_trees' verbs and attributes."""

    __slots__ = ()

    ticked_behaviours: Iterable[Behaviour] = ()
    """Foreign py_trees behaviours inside the node that its last tick ticked."""
    blackbox_level = BlackBoxLevel.NOT_A_BLACKBOX

    def join_tree(self) -> None:
        """From now on ``node.tick()`` is py_trees' generator; see `behavior_tree.kernel.node`."""
        self.tick = self._tick_for_py_trees  # type: ignore[method-assign, assignment]

    def _tick_for_py_trees(self) -> Iterator[Behaviour]:
        """Tick, then yield every node that was ticked, children first, as py_trees does."""
        runtime = self._rt
        with runtime.tick_lock:
            outer, runtime.record = runtime.record, TickRecord()
            ticking, runtime.ticking = runtime.ticking, True
            try:
                status = self._run(self)
            finally:
                runtime.ticking = ticking
                (items, reasons), runtime.record = runtime.record.drain(), outer
                if outer is not None:
                    outer.repeat(items, reasons)
        if status is SKIPPED:
            self.set_status(FAILURE)  # py_trees knows no SKIPPED; a guard that says no fails there
        ticked = RecordBatch(items, reasons, 0, 0).ticked()
        for node in _post_order(self):
            if node in ticked:
                yield from node.ticked_behaviours
                yield node

    def update(self) -> PyTreesStatus:
        """py_trees' verb for one tick without children."""
        return self._run(self).as_py_trees()

    def stop(self, new_status: PyTreesStatus = PyTreesStatus.INVALID) -> None:
        """py_trees' verb for interruption."""
        if self.status is RUNNING:
            self.halt_node()
        self.reset_status()

    def tip(self) -> Behaviour | None:
        """Deepest node that is not IDLE, following the last such child; None if there is none."""
        if self.status is IDLE:
            return None
        active = [child for child in self.children if child.status != IDLE]
        return active[-1].tip() if active else self

    @property
    def feedback_message(self) -> str:
        """The failure reason, where py_trees shows a line of text."""
        return self._reason

    @feedback_message.setter
    def feedback_message(self, text: str) -> None:
        self._reason = text

    @cached_property
    def children(self) -> list[TreeNode]:
        """Of a leaf: none; made for those who look."""
        return []

    @cached_property
    def id(self) -> uuid.UUID:
        """Identifier that py_trees uses."""
        return uuid.uuid4()

    @cached_property
    def logger(self) -> logging.Logger:
        """Logger named after the node's path."""
        return logging.getLogger(f"behavior_tree.{self._config.path}")

    @cached_property
    def blackboards(self) -> list[Any]:
        """py_trees blackboard clients of this node."""
        return []

    @cached_property
    def qualified_name(self) -> str:
        """Class and name, as py_trees shows them."""
        return f"{type(self).__qualname__}/{self.name}"

    @property
    def iterator(self) -> Iterator[Behaviour]:
        """py_trees' generator of one tick."""
        return self._tick_for_py_trees()


def _post_order(node: Any) -> Iterator[TreeNode]:
    for child in node.children:
        if isinstance(child, PyTreesProtocol):  # a leaf may hold py_trees behaviours
            yield from _post_order(child)
    yield node
