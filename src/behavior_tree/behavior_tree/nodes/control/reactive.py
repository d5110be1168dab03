# SPDX-License-Identifier: Apache-2.0
"""ReactiveSequence, ReactiveFallback: start from the first child in every tick."""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import NodeExecutionError
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    TreeNode,
    stores_status,
)
from behavior_tree.nodes.control.base import ControlNode


class _Reactive(ControlNode):
    __slots__ = ("_goes_on",)

    memory: ClassVar[bool] = False  # what py_trees calls it
    passes: ClassVar[NodeStatus]
    """Result of a child after which the next one is ticked."""

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._goes_on = self.passes

    @stores_status
    def tick(self) -> NodeStatus:
        before, stores = self.status, self._stores  # as the kernel was when it ticked this node
        children, goes_on = self.children, self._goes_on
        self._start()
        skipped = 0
        try:
            for child in children:
                run = child._run
                status = run(child)
                if status is goes_on:
                    continue
                if status is SKIPPED:
                    skipped += 1
                    self._reset(child)
                elif status is RUNNING:
                    for other in children:
                        if other is not child and other.status is not IDLE:
                            self._reset(other)
                    if self.status is not RUNNING:  # a leaf has halted the tree
                        self._start()
                    return RUNNING
                elif status is IDLE:
                    raise self._bad_child()
                else:
                    break
            else:
                status = SKIPPED if skipped == len(children) else goes_on
                if skipped and goes_on is FAILURE:
                    self._note_failures()
            self.reset_children()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        return self._store(before, status) if stores else status


class ReactiveSequence(_Reactive):
    """Conditions that are checked again and again before an action. FAILURE at the first failure;
    a running child halts all others.
    """

    __slots__ = ()
    passes = SUCCESS


class ReactiveFallback(_Reactive):
    """Like ReactiveSequence with SUCCESS and FAILURE exchanged."""

    __slots__ = ()
    passes = FAILURE

    def failed_children(self) -> list[TreeNode]:
        """All of them, except those that were skipped."""
        return self._all_failed_children()
