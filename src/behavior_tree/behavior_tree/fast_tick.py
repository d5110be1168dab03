# SPDX-License-Identifier: Apache-2.0
"""Ticks of nodes that nobody watches: the two general forms, and the table of specialised ones.

`behavior_tree.specialised` fills the table; it is apart from those modules so that
`behavior_tree.node` can look in it without importing them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import NodeExecutionError

if TYPE_CHECKING:
    from behavior_tree.node import Conditions, TreeNode

__all__ = ["Run", "Tick", "plain_tick", "specialises", "unwatched_tick"]

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
SUCCESS = NodeStatus.SUCCESS
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED

Tick = Callable[[Any], NodeStatus]
"""Function that ticks the node it is given."""
Run = Callable[[], NodeStatus]
"""The same, bound to a node."""
Chooser = TypeVar("Chooser", bound=Callable[[Any], Tick | None])

_CHOOSERS: dict[Tick, Callable[[Any], Tick | None]] = {}


def specialises(body: Tick) -> Callable[[Chooser], Chooser]:
    """Decorator of a function that chooses the tick of a node whose class has this ``tick``.

    Unlike the body, the tick so chosen stores the status and reports a failure itself. A class
    that overrides ``tick`` is not affected.
    """

    def register(choose: Chooser) -> Chooser:
        _CHOOSERS[body] = choose
        return choose

    return register


def unwatched_tick(node: TreeNode) -> Run:
    """Fastest tick of a node that nobody watches, as it is configured."""
    tick: Tick | None
    if node._conditions is not None:
        tick = conditional_tick
    else:
        choose = _CHOOSERS.get(type(node).tick)
        tick = choose(node) if choose is not None else None
    return MethodType(tick or plain_tick, node)


def plain_tick(self: TreeNode) -> NodeStatus:
    """Tick of a node without conditions whose class has any ``tick()``."""
    before = self.status
    if before is not RUNNING:
        self._reason = ""
        self._failed_child = None
    body = self._body  # apart from the call: Python finds an attribute faster than a method
    try:
        status = body()
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    if status is SUCCESS:
        self.status = status
        return status
    return self.finish_tick(before, status)


def conditional_tick(self: TreeNode) -> NodeStatus:
    """Tick of a node with pre- or post-conditions."""
    before, board, body = self.status, self._bb, self._body
    conditions: Conditions = self._conditions  # type: ignore[assignment]  # chosen for having them
    if before is not RUNNING:
        self._reason = ""
        self._failed_child = None
    try:
        if before is IDLE or before is SKIPPED:
            for test, imposed, source in conditions.tests:
                if test(board):
                    status = imposed
                    if imposed is FAILURE:
                        self._failed_child = None
                        self._reason = "_failureIf: " + source
                    break
            else:
                test_while = conditions.test_while
                status = body() if test_while is None or test_while(board) else SKIPPED
        elif before is RUNNING and not self.may_go_on():
            self.halt_node()
            status = SKIPPED
        else:
            status = body()
        if status is SUCCESS:
            for run in conditions.after_success:
                run(board)
            self.status = status
            return status
        if status is FAILURE:
            for run in conditions.after_failure:
                run(board)
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(before, status)
