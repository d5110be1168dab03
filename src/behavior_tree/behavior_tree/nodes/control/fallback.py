# SPDX-License-Identifier: Apache-2.0
"""Fallback, AsyncFallback: children in order, until one succeeds."""

from __future__ import annotations

from behavior_tree.kernel.node import FAILURE, TreeNode
from behavior_tree.nodes.control.in_order import AsyncInOrder, InOrder


class Fallback(InOrder):
    """Tick children in order, from the running one on. SUCCESS at the first success, FAILURE when
    all have failed, SKIPPED if all were skipped.
    """

    __slots__ = ()
    passes = FAILURE

    def failed_children(self) -> list[TreeNode]:
        """All of them, except those that were skipped."""
        return self._all_failed_children()


class AsyncFallback(AsyncInOrder, Fallback):
    """Fallback that returns RUNNING after each child that fails at once, so that others get a
    turn.
    """

    __slots__ = ()
