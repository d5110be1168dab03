# SPDX-License-Identifier: Apache-2.0
"""Specialised ticks of leaves: constant results, scripts, functions of the user."""

from __future__ import annotations

from behavior_tree.actions.basic import AlwaysSuccess, ScriptCondition, ScriptNode, _Always
from behavior_tree.actions.blackboard import SetBlackboard
from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import NodeExecutionError
from behavior_tree.fast_tick import Tick, gives, plain_tick, specialises
from behavior_tree.leaf import (
    SimpleActionNode,
    SimpleConditionNode,
    SimpleStatefulActionNode,
    StatefulActionNode,
    callback_result,
)
from behavior_tree.node import FAILURE, IDLE, RUNNING, SUCCESS, TreeNode

__all__ = ["call_running"]


@specialises(AlwaysSuccess.tick)
def _always(node: _Always) -> Tick:
    return _succeed if node._result is SUCCESS else _fail


def _succeed(self: TreeNode) -> NodeStatus:
    self.status = SUCCESS
    return SUCCESS


def _fail(self: TreeNode) -> NodeStatus:
    self.status = FAILURE
    if self._up is not None:
        self._up._failed_child = self
    return FAILURE


gives(AlwaysSuccess.tick, lambda node: node._result.name)


@specialises(SimpleActionNode.tick)
def _simple_action(node: SimpleActionNode) -> Tick:
    return _act


def _act(self: SimpleActionNode) -> NodeStatus:
    before, function = self.status, self._function
    if before is IDLE:
        self.status = RUNNING
    self._reason = ""
    try:
        status = function(self)
        if status is SUCCESS:
            self.status = status
            return status
        status = callback_result(self, status)
        if status is not FAILURE and status is not SUCCESS:
            self.other_result(status)
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(before, status)


@specialises(SimpleConditionNode.tick)
def _simple_condition(node: SimpleConditionNode) -> Tick:
    return _ask


def _ask(self: SimpleConditionNode) -> NodeStatus:
    before, function = self.status, self._function
    self._reason = ""
    try:
        status = function(self)
        if status is SUCCESS:
            self.status = status
            return status
        status = callback_result(self, status)
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(before, status)


@specialises(StatefulActionNode.tick)
def _stateful_action(node: StatefulActionNode) -> Tick:
    if type(node).on_running is SimpleStatefulActionNode.on_running:
        return call_running
    return _keep_running


def _keep_running(self: StatefulActionNode) -> NodeStatus:
    if self.status is not RUNNING:
        return plain_tick(self)
    try:
        status = self.on_running()
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(RUNNING, status)


def call_running(self: SimpleStatefulActionNode) -> NodeStatus:
    """Tick of a stateful action made of functions; `parallel` knows what it does."""
    if self.status is not RUNNING:
        return plain_tick(self)
    function = self._running
    try:
        status = function(self)
        if status is RUNNING:
            self.status = status  # the function may have halted the tree
            return status
        status = callback_result(self, status)
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    return self.finish_tick(RUNNING, status)


@specialises(SetBlackboard.tick)
def _set_blackboard(node: SetBlackboard) -> Tick | None:
    if node._rt.quirks.exact_values:
        return None
    key, text = node.literal_input("output_key"), node.literal_input("value")
    if not isinstance(key, str) or not key or text is None or text != node.raw_port("value"):
        return None
    node._literal = (key, text)
    return _write_text


def _write_text(self: SetBlackboard) -> NodeStatus:
    key, text = self._literal
    entry = self._bb.entry(key)
    if entry is None or entry.type is not str:
        return plain_tick(self)
    entry.store(text)
    self.status = SUCCESS
    return SUCCESS


@specialises(ScriptNode.tick)
def _script(node: ScriptNode) -> Tick | None:
    return _run_script if node.read_literal_script() else None


def _run_script(self: ScriptNode) -> NodeStatus:
    evaluate = self._evaluate
    try:
        evaluate()
    except Exception as error:
        raise self._execution_error(error) from error
    self.status = SUCCESS
    return SUCCESS


@specialises(ScriptCondition.tick)
def _script_condition(node: ScriptCondition) -> Tick | None:
    return _test_script if node.read_literal_script() else None


def _test_script(self: ScriptCondition) -> NodeStatus:
    evaluate = self._evaluate
    try:
        result = evaluate()
    except Exception as error:
        raise self._execution_error(error) from error
    if result:
        self.status = SUCCESS
        return SUCCESS
    self.status = FAILURE
    if self._up is not None:
        self._up._failed_child = self
    return FAILURE
