# SPDX-License-Identifier: Apache-2.0
"""Ticks of nodes that nobody watches: the two general forms, and the table of specialised ones.

`behavior_tree.specialised` fills the table; it is apart from those modules so that
`behavior_tree.node` can look in it without importing them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import NodeExecutionError
from behavior_tree.generated import write_function

if TYPE_CHECKING:
    from behavior_tree.node import Conditions, TreeNode

__all__ = ["Tick", "gives", "plain_tick", "specialises", "unwatched_tick"]

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
SUCCESS = NodeStatus.SUCCESS
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED

Tick = Callable[[Any], NodeStatus]
"""Function that ticks the node it is given."""
Chooser = TypeVar("Chooser", bound=Callable[[Any], Tick | None])

_CHOOSERS: dict[Tick, Callable[[Any], Tick | None]] = {}
_RESULTS: dict[Tick, Callable[[Any], str]] = {}


def specialises(body: Tick) -> Callable[[Chooser], Chooser]:
    """Decorator of a function that chooses the tick of a node whose class has this ``tick``.

    Unlike the body, the tick so chosen stores the status and reports a failure itself. A class
    that overrides ``tick`` is not affected.
    """

    def register(choose: Chooser) -> Chooser:
        _CHOOSERS[body] = choose
        return choose

    return register


def gives(body: Tick, result: Callable[[Any], str]) -> None:
    """Take note that ``body`` does nothing but to return one result.

    Args:
        body: ``tick`` of a class
        result: name of the result, from the node
    """
    _RESULTS[body] = result


def unwatched_tick(node: TreeNode) -> Tick:
    """Fastest tick of a node that nobody watches, as it is configured."""
    if node._conditions is not None:
        return _conditional_tick(node, node._conditions)
    choose = _CHOOSERS.get(type(node).tick)
    return (choose(node) if choose is not None else None) or plain_tick


def plain_tick(self: TreeNode) -> NodeStatus:
    """Tick of a node without conditions whose class has any ``tick()``."""
    before = self.status
    if before is not RUNNING:
        self._reason = ""
        self._failed_child = None
    body = self._body  # apart from the call: Python finds an attribute faster than a method
    try:
        status = body(self)
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
    before = self.status
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
                go_on = test_while is None or test_while()
                status = self._body(self) if go_on else SKIPPED
        elif before is RUNNING and not self.may_go_on():
            self.halt_node()
            status = SKIPPED
        else:
            status = self._body(self)
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


def _conditional_tick(node: TreeNode, conditions: Conditions) -> Tick:
    """`conditional_tick` written out for a number of conditions of each kind."""
    has_while = conditions.test_while is not None
    calls: list[Any] = [each for test, status, _ in conditions.tests for each in (test, status)]
    calls += [conditions.test_while] if has_while else []
    conditions.calls = (*calls, *conditions.after_success, *conditions.after_failure)
    counts = (len(each) for each in (conditions.after_success, conditions.after_failure))
    result = _RESULTS.get(type(node).tick)
    return _written_out(len(conditions.tests), has_while, *counts, result and result(node))


@cache
def _written_out(
    tests: int, has_while: bool, after_success: int, after_failure: int, result: str | None
) -> Tick:
    """Tick of all nodes that have so many conditions; what it calls is in `Conditions.calls`.

    ``result`` is the name of the only result that the body gives, if it does nothing else.
    """
    tick_body = ["status = " + result] if result else ["body = self._body", "status = body(self)"]
    names = [f"{part}{index}" for index in range(tests) for part in ("test", "imposed")]
    names += ["test_while"] if has_while else []
    names += [f"success{index}" for index in range(after_success)]
    names += [f"failure{index}" for index in range(after_failure)]
    lines = [
        "def tick(self):",
        "    if self.status is not IDLE:",
        "        return conditional_tick(self)",
        "    self._reason = ''",
        "    self._failed_child = None",
        f"    {''.join(name + ', ' for name in names)} = self._conditions.calls" if names else "",
        "    try:",
    ]
    word = "if"
    for index in range(tests):
        lines += [
            f"        {word} test{index}():",
            f"            status = imposed{index}",
            "            if status is FAILURE:",
            f"                source = self._conditions.tests[{index}][2]",
            "                self._reason = '_failureIf: ' + source",
        ]
        word = "elif"
    if has_while:
        lines += [f"        {word} not test_while():", "            status = SKIPPED"]
        word = "elif"
    if word == "if":
        lines += ["        " + line for line in tick_body]
    else:
        lines += ["        else:", *("            " + line for line in tick_body)]
    lines += ["        if status is SUCCESS:"]
    lines += [f"            success{index}()" for index in range(after_success)]
    lines += ["            self.status = SUCCESS", "            return SUCCESS"]
    if after_failure:
        lines += ["        if status is FAILURE:"]
        lines += [f"            failure{index}()" for index in range(after_failure)]
    lines += [
        "    except NodeExecutionError:",
        "        raise",
        "    except Exception as error:",
        "        raise self._execution_error(error) from error",
        "    return self.finish_tick(IDLE, status)",
    ]
    made: dict[str, Any] = {
        "IDLE": IDLE,
        "SUCCESS": SUCCESS,
        "FAILURE": FAILURE,
        "SKIPPED": SKIPPED,
        "NodeExecutionError": NodeExecutionError,
        "conditional_tick": conditional_tick,
    }
    title = f"<conditions {tests} {has_while} {after_success} {after_failure} {result}>"
    tick: Tick = write_function("tick", lines, title, made)
    return tick
