# SPDX-License-Identifier: Apache-2.0
"""`DecoratorNode`, the base of nodes with one child, and the wrapper behind
``register_simple_decorator``.
"""

from __future__ import annotations

from collections.abc import Callable

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import callback_result
from behavior_tree.kernel.node import FAILURE, IDLE, SUCCESS, NodeConfig, TreeNode
from behavior_tree.nodes.parent import ParentNode


class DecoratorNode(ParentNode):
    """Changes the result of its child, or when it is ticked. A subclass defines ``tick()`` and
    ticks the child by ``self._tick_child()``. A child left SUCCESS or FAILURE is made IDLE after
    the tick.
    """

    __slots__ = ("_child",)

    node_type = NodeType.DECORATOR

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
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
        self.children[:] = (child,)
        self.children_changed()

    def children_changed(self) -> None:
        self._child = self.children[0] if self.children else None  # type: ignore[assignment]

    def reset_child(self) -> None:
        """Halt the child if it runs, and make it IDLE."""
        if self._child is not None:
            self._reset(self._child)

    def halt(self) -> None:
        if self._child is not None:  # as reset_child, with less on the stack of deep trees
            self._reset(self._child)
        self.reset_status()

    def _execute(self) -> NodeStatus:
        self._failed_child = None
        status = super()._execute()
        self._reset_completed_child()
        return status

    def _execute_guarded(self) -> NodeStatus:
        self._failed_child = None
        status = super()._execute_guarded()
        self._reset_completed_child()
        return status

    def _reset_completed_child(self) -> None:
        child = self.children[0]
        status = child.status
        if status is SUCCESS or status is FAILURE:
            child.set_status(IDLE)

    def _tick_child(self) -> NodeStatus:
        child = self._child
        if child is None:
            raise LogicError(f"decorator '{self.full_path()}' has no child")
        run = child._run
        return run(child)


class SelfResettingDecorator(DecoratorNode):
    """Decorator whose ``tick()`` itself resets a completed child, and that forgets the failed
    child when it fails for another reason: nothing is left to do after the tick.
    """

    __slots__ = ()

    _execute = TreeNode._execute
    _execute_guarded = TreeNode._execute_guarded


class SimpleDecoratorNode(DecoratorNode):
    """Decorator made of one function of the child's result and the node."""

    def __init__(
        self, name: str, config: NodeConfig, function: Callable[[NodeStatus, TreeNode], NodeStatus]
    ) -> None:
        super().__init__(name, config)
        self._function = function

    def tick(self) -> NodeStatus:
        return callback_result(self, self._function(self._tick_child(), self))
