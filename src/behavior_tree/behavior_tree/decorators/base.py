# SPDX-License-Identifier: Apache-2.0
"""`DecoratorNode`, the base of nodes with one child, and the wrapper behind
``register_simple_decorator``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import monotonic_ns

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.errors import LogicError
from behavior_tree.fast_tick import Tick
from behavior_tree.leaf import callback_result
from behavior_tree.node import FAILURE, IDLE, RUNNING, SUCCESS, NodeConfig, TreeNode

__all__ = ["DecoratorNode", "SimpleDecoratorNode"]


class DecoratorNode(TreeNode):
    """Changes the result of its child, or when it is ticked. A subclass defines ``tick()`` and
    ticks the child by ``self._tick_child()``. A child left SUCCESS or FAILURE is made IDLE after
    the tick.
    """

    __slots__ = ("_child", "children")

    node_type = NodeType.DECORATOR

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self.children: list[TreeNode] = []
        self._child: TreeNode = None  # type: ignore[assignment]  # the same, for ticks

    @property
    def child(self) -> TreeNode:
        """The only child."""
        return self.children[0]

    @property
    def decorated(self) -> TreeNode:
        """The only child, as py_trees calls it."""
        return self.children[0]

    def set_child(self, child: TreeNode) -> None:
        """Give the node its child."""
        child.parent = child._up = self
        self.children[:] = [child]
        self.children_changed()

    def children_changed(self) -> None:
        self._child = self.children[0] if self.children else None  # type: ignore[assignment]

    def reset_child(self) -> None:
        """Halt the child if it runs, and make it IDLE."""
        for child in self.children:
            status = child.status
            if status is RUNNING:
                child.halt_node()
                child.reset_status()
            elif status is not IDLE:
                child.status = IDLE
                if child._watch is not None:
                    child._watch((monotonic_ns(), child, status, IDLE))

    def halt(self) -> None:
        self.reset_child()
        self.reset_status()

    def _execute_plain(self) -> NodeStatus:
        self._failed_child = None
        status = super()._execute_plain()
        self._reset_completed_child()
        return status

    def _execute_full(self) -> NodeStatus:
        self._failed_child = None
        status = super()._execute_full()
        self._reset_completed_child()
        return status

    def _make_unwatched(self) -> Tick:
        return _resetting(super()._make_unwatched())

    def _reset_completed_child(self) -> None:
        child = self.children[0]
        status = child.status
        if status is SUCCESS or status is FAILURE:
            child.set_status(IDLE)

    def _start(self) -> None:
        status = self.status
        if status is not RUNNING:
            self.status = RUNNING
            if self._watch is not None:
                self._watch((monotonic_ns(), self, status, RUNNING))

    def _tick_child(self) -> NodeStatus:
        child = self._child
        if child is None:
            raise LogicError(f"decorator '{self.full_path()}' has no child")
        run = child._run
        return run(child)

    def _bad_child(self) -> LogicError:
        return LogicError(f"[{self.name}]: A children should not return IDLE")


@cache
def _resetting(inner: Tick) -> Tick:
    """A tick that makes a completed child IDLE afterwards."""

    def tick(self: DecoratorNode) -> NodeStatus:
        self._failed_child = None
        status = inner(self)
        self._reset_completed_child()
        return status

    return tick


class SelfResettingDecorator(DecoratorNode):
    """Decorator whose ``tick()`` itself resets a completed child, and that forgets the failed
    child when it fails for another reason: nothing is left to do after the tick.
    """

    _execute_plain = TreeNode._execute_plain
    _execute_full = TreeNode._execute_full
    _make_unwatched = TreeNode._make_unwatched


class SimpleDecoratorNode(DecoratorNode):
    """Decorator made of one function of the child's result and the node."""

    def __init__(
        self, name: str, config: NodeConfig, function: Callable[[NodeStatus, TreeNode], NodeStatus]
    ) -> None:
        super().__init__(name, config)
        self._function = function

    def tick(self) -> NodeStatus:
        return callback_result(self, self._function(self._tick_child(), self))
