# SPDX-License-Identifier: Apache-2.0
"""Specialised ticks of the decorators that change or repeat a result, and of SubTree."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.decorators.force import Inverter, _ResultChanger
from behavior_tree.decorators.precondition import Precondition
from behavior_tree.decorators.repeat import Repeat, _Again
from behavior_tree.decorators.subtree import SubTreeNode
from behavior_tree.errors import NodeExecutionError
from behavior_tree.fast_tick import Tick, plain_tick, specialises
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS
from behavior_tree.script import compile_script

__all__: list[str] = []


@specialises(Inverter.tick)
def _result_changer(node: _ResultChanger) -> Tick:
    return _change_result


def _change_result(self: _ResultChanger) -> NodeStatus:
    before = self.status
    if before is not RUNNING:
        self.status = RUNNING
    child = self._child
    run = child._run
    status = run(child)
    if status is SUCCESS:
        status = self._on_success
        self._failed_child = None
    elif status is FAILURE:
        status = self._on_failure
    elif status is RUNNING:
        self.status = status  # a leaf may have halted the tree
        return status
    else:
        return self._not_stored(before, status)
    child.status = IDLE
    self.status = status
    if status is FAILURE and self._up is not None:
        self._up._failed_child = self
    return status


@specialises(SubTreeNode.tick)
def _subtree(node: SubTreeNode) -> Tick:
    return _pass_on


def _pass_on(self: SubTreeNode) -> NodeStatus:
    before = self.status
    if before is IDLE:
        self.status = RUNNING
    child = self._child
    run = child._run
    status = run(child)
    if status is SUCCESS:
        child.status = IDLE
        self.status = SUCCESS
    elif status is FAILURE:
        child.status = IDLE
        self.status = FAILURE
        if self._up is not None:
            self._up._failed_child = self
    elif status is RUNNING:
        self.status = RUNNING
    else:
        return self._not_stored(before, status)
    return status


@specialises(Precondition.tick)
def _precondition(node: Precondition) -> Tick | None:
    source, otherwise = node.literal_input("if"), node.literal_input("else")
    if not source or otherwise is None:
        return None
    node._literal = (compile_script(source, node._rt.quirks).bind_test(node._bb), otherwise)
    return _start_if


def _start_if(self: Precondition) -> NodeStatus:
    before = self.status
    if not self._child_started:
        assert self._literal is not None
        test, otherwise = self._literal
        try:
            holds = test()
        except Exception as error:
            raise self._execution_error(error) from error
        self._reason = ""
        self._failed_child = None
        if not holds:
            self._reason = f"precondition is false: {self.raw_port('if')}"
            return self.finish_tick(before, otherwise)
    self._child_started = True
    child = self._child
    run = child._run
    status = run(child)
    if status is SUCCESS or status is FAILURE:
        self._child_started = False
        child.status = IDLE
    return self.finish_tick(before, status)


@specialises(Repeat.tick)
def _again(node: _Again) -> Tick | None:
    limit = node.literal_input(node._limit_port)
    if limit is None or limit < -1 or limit == 0:
        return None
    node._limit = limit
    return _repeat


def _repeat(self: _Again) -> NodeStatus:
    count, limit = self._count, self._limit
    if count >= limit >= 0:  # a lower limit was set while the child ran
        return plain_tick(self)
    before = self.status
    if before is not RUNNING:
        self.status = RUNNING
    child = self._child
    while True:
        idle = child.status is IDLE
        run = child._run
        status = run(child)
        if status is self._again:
            count += 1
            if count == 1 and status is FAILURE:
                self._note_first_failure()
            child.status = IDLE
            if count == limit:
                break
            self._count = count
            if idle:  # a synchronous child: let the rest of the tree have a turn
                self._rt.emit_wake_up()
                return RUNNING
        elif status is RUNNING:
            return status
        elif status is self._final:
            child.status = IDLE
            break
        elif status is SKIPPED:
            _reset(self)
            return self._not_stored(before, SKIPPED)
        else:
            raise self._execution_error(self._bad_child())
    self._count = 0
    self.status = status
    if status is FAILURE and self._up is not None:
        self._up._failed_child = self
    return status


def _reset(self: _Again) -> None:
    try:
        self.reset_child()
    except NodeExecutionError:
        raise
    except Exception as error:  # of a halt
        raise self._execution_error(error) from error
