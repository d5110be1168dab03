# SPDX-License-Identifier: Apache-2.0
"""Ticks of nodes that nobody watches: the two general forms, and the table of specialised ones.

`behavior_tree.specialised` fills the table; it is apart from those modules so that
`behavior_tree.node` can look in it without importing them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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
    if node._conditions is not None:
        return _conditional_run(node, node._conditions)
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
    before, body = self.status, self._body
    conditions: Conditions = self._conditions  # type: ignore[assignment]  # chosen for having them
    if before is not RUNNING:
        self._reason = ""
        self._failed_child = None
    try:
        if before is IDLE or before is SKIPPED:
            for test, imposed, source in conditions.tests:
                if test():
                    status = imposed
                    if imposed is FAILURE:
                        self._failed_child = None
                        self._reason = "_failureIf: " + source
                    break
            else:
                test_while = conditions.test_while
                status = body() if test_while is None or test_while() else SKIPPED
        elif before is RUNNING and not self.may_go_on():
            self.halt_node()
            status = SKIPPED
        else:
            status = body()
        if status is SUCCESS:
            for run in conditions.after_success:
                run()
            self.status = status
            return status
        if status is FAILURE:
            for run in conditions.after_failure:
                run()
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(before, status)


def _conditional_run(node: TreeNode, conditions: Conditions) -> Run:
    """`conditional_tick` of one node, written out for the conditions it has."""
    tests = [each for test, status, _ in conditions.tests for each in (test, status)]
    make = _written_out(
        len(conditions.tests),
        conditions.test_while is not None,
        len(conditions.after_success),
        len(conditions.after_failure),
    )
    general = MethodType(conditional_tick, node)
    return make(
        *(node, general, node._body, conditions.test_while, conditions.tests),
        *(*tests, *conditions.after_success, *conditions.after_failure),
    )


@cache
def _written_out(
    tests: int, has_while: bool, after_success: int, after_failure: int
) -> Callable[..., Run]:
    """Function that makes the tick from the node, its general tick, its body and its scripts."""
    names = ["self", "general", "body", "test_while", "tests"]
    names += [f"{part}{index}" for index in range(tests) for part in ("test", "imposed")]
    names += [f"success{index}" for index in range(after_success)]
    names += [f"failure{index}" for index in range(after_failure)]
    lines = [
        f"def make({', '.join(names)}):",
        "    def tick():",
        "        before = self.status",
        "        if before is not IDLE:",
        "            return general()",
        "        self._reason = ''",
        "        self._failed_child = None",
        "        try:",
    ]
    word = "if"
    for index in range(tests):
        lines += [
            f"            {word} test{index}():",
            f"                status = imposed{index}",
            "                if status is FAILURE:",
            f"                    self._reason = '_failureIf: ' + tests[{index}][2]",
        ]
        word = "elif"
    if has_while:
        lines += [f"            {word} not test_while():", "                status = SKIPPED"]
        word = "elif"
    if word == "if":
        lines += ["            status = body()"]
    else:
        lines += ["            else:", "                status = body()"]
    lines += ["            if status is SUCCESS:"]
    lines += [f"                success{index}()" for index in range(after_success)]
    lines += ["                self.status = SUCCESS", "                return SUCCESS"]
    if after_failure:
        lines += ["            if status is FAILURE:"]
        lines += [f"                failure{index}()" for index in range(after_failure)]
    lines += [
        "        except NodeExecutionError:",
        "            raise",
        "        except Exception as error:",
        "            raise self._execution_error(error) from error",
        "        return self.finish_tick(before, status)",
        "    return tick",
    ]
    made: dict[str, Any] = {
        "IDLE": IDLE,
        "SUCCESS": SUCCESS,
        "FAILURE": FAILURE,
        "SKIPPED": SKIPPED,
        "NodeExecutionError": NodeExecutionError,
    }
    exec(compile("\n".join(lines), "<conditions>", "exec"), made)
    make: Callable[..., Run] = made["make"]
    return make
