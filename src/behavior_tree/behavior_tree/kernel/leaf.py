# SPDX-License-Identifier: Apache-2.0
"""Bases of actions and conditions, and the wrappers behind ``register_simple_*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig, TreeNode

TickFunction = Callable[[TreeNode], NodeStatus]

_NAMES = {status.name: status for status in NodeStatus if status is not IDLE}


def callback_result(node: TreeNode, value: object) -> NodeStatus:
    """Status that a ``register_simple_*`` callback means: a status, its name or number, or a bool.

    Raises:
        LogicError: anything else
    """
    if value.__class__ is NodeStatus:
        return value
    if isinstance(value, bool):
        return SUCCESS if value else FAILURE
    if isinstance(value, str) and value in _NAMES:
        return _NAMES[value]
    if isinstance(value, int) and 0 <= value < len(NodeStatus):
        return NodeStatus(value)
    if node._rt.quirks.callback_results_guessed and not (value is None or isinstance(value, int)):
        return FAILURE
    raise LogicError(f"the callback of [{node.name}] must return a NodeStatus, it gave {value!r}")


class LeafNode(TreeNode):
    """A node without children."""

    has_nodes = False


class ConditionNode(LeafNode):
    """Answers a question within one tick: define ``tick()``, return SUCCESS or FAILURE."""

    node_type = NodeType.CONDITION


class ActionNodeBase(LeafNode):
    """Base of all actions."""

    node_type = NodeType.ACTION


class SyncActionNode(ActionNodeBase):
    """Does its work within one tick: define ``tick()``, never return RUNNING."""

    synchronous = True


class StatefulActionNode(ActionNodeBase):
    """Takes several ticks: define ``on_start()``, ``on_running()`` and ``on_halted()``, none may
    block.
    """

    __slots__ = ("_halt_requested",)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._halt_requested = False

    def on_start(self) -> NodeStatus:
        """First tick after IDLE: begin, return RUNNING unless already done."""
        raise NotImplementedError(f"{type(self).__name__} defines no on_start()")

    def on_running(self) -> NodeStatus:
        """Every further tick while RUNNING."""
        raise NotImplementedError(f"{type(self).__name__} defines no on_running()")

    def on_halted(self) -> None:
        """Interrupted while RUNNING: stop the work."""

    def is_halt_requested(self) -> bool:
        """True after a halt, until the next start."""
        return self._halt_requested

    def tick(self) -> NodeStatus:
        status = self.status
        if status is RUNNING:
            return self.on_running()
        if status is IDLE:
            self._halt_requested = False
            self._reason = ""
            return self.on_start()
        return status

    def halt(self) -> None:
        self._halt_requested = True
        if self.status is RUNNING:
            self.on_halted()
        self.reset_status()


class SimpleActionNode(ActionNodeBase):
    """Action made of one function; shows RUNNING while the function works."""

    __slots__ = ("_function",)

    def __init__(self, name: str, config: NodeConfig, function: TickFunction) -> None:
        super().__init__(name, config)
        self._function = function

    def tick(self) -> NodeStatus:
        if self.status is IDLE:
            self.set_status(RUNNING)
        function = self._function
        status = function(self)
        if status is not SUCCESS:
            status = callback_result(self, status)
            if status is not SUCCESS and status is not FAILURE:
                return self._other_result(status)
        if self._conditions is not None or self._post_tick is not None:
            self.set_status(status)  # before the post-conditions, which may raise
        return status

    def _other_result(self, status: NodeStatus) -> NodeStatus:
        """Look at a result that is neither SUCCESS nor FAILURE."""
        if status is RUNNING:
            self.set_status(RUNNING)
            raise LogicError(
                "a simple action must not return RUNNING: use register_simple_stateful_action"
            )
        if status is SKIPPED and self._rt.quirks.simple_action_stores_skipped:
            self.set_status(SKIPPED)
        return status


class SimpleConditionNode(ConditionNode):
    """Condition made of one function."""

    __slots__ = ("_function",)

    def __init__(self, name: str, config: NodeConfig, function: TickFunction) -> None:
        super().__init__(name, config)
        self._function = function

    def save_state(self) -> Any:
        return {}  # RUNNING or not, the next tick asks the function again

    def tick(self) -> NodeStatus:
        function = self._function
        status = function(self)
        return status if status is SUCCESS else callback_result(self, status)


class SimpleStatefulActionNode(StatefulActionNode):
    """Stateful action made of two or three functions."""

    __slots__ = ("_halted", "_running", "_start")

    def __init__(
        self,
        name: str,
        config: NodeConfig,
        on_start: TickFunction,
        on_running: TickFunction,
        on_halted: Callable[[TreeNode], object] | None = None,
    ) -> None:
        super().__init__(name, config)
        self._start = on_start
        self._running = on_running
        self._halted = on_halted

    def on_start(self) -> NodeStatus:
        return callback_result(self, self._start(self))

    def on_running(self) -> NodeStatus:
        function = self._running
        status = function(self)
        return status if status is RUNNING else callback_result(self, status)

    def on_halted(self) -> None:
        if self._halted is not None:
            self._halted(self)
