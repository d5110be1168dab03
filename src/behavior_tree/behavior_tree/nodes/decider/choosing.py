# SPDX-License-Identifier: Apache-2.0
"""What Decider and RLDS have in common: in every tick one child is chosen, or none.

The order of a tick: this node decides; then what ran is left, leaf first; then the new child is
entered and ticked.
"""

from __future__ import annotations

from typing import ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import LogicError, NodeExecutionError
from behavior_tree.kernel.leaf import LeafNode
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig, TreeNode
from behavior_tree.nodes.decider.action import Action
from behavior_tree.nodes.decider.locks import is_held
from behavior_tree.nodes.decider.modes import Compat
from behavior_tree.nodes.decider.session import ControlSession, Session


class Choosing(ControlSession):
    """Base of nodes that choose between their children again in every tick."""

    restorable: ClassVar[tuple[str, ...]] = (
        *ControlSession.restorable,
        "_running",
        "_rests",
        "_leaf",
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: object = None) -> None:
        super().__init__(name, config, context)
        self._running: int | None = None
        """The child that was chosen last."""
        self._rests = False
        """True if that one has ended, and is not to start again while it is chosen."""
        self._leaf = False
        """True if in the last tick no child was chosen."""

    # -- what a subclass defines ----------------------------------------------------------------

    def choose(self) -> int | None:
        """Index of the child to run; None for none."""
        raise NotImplementedError

    def at_goal(self) -> bool:
        """True when all is done."""
        return False

    def child_ended(self, index: int, status: NodeStatus) -> NodeStatus:
        """Result when the child has given another result than RUNNING; it is IDLE already."""
        raise NotImplementedError

    def nothing_can_run(self) -> str:
        """Why no child was chosen, for a failure."""
        raise NotImplementedError

    # -- ticking --------------------------------------------------------------------------------

    @property
    def as_reference(self) -> bool:
        """True with ``compat="cortex"``."""
        return self.get_input("compat") is Compat.cortex

    def is_held(self) -> bool:
        """True while a lock below keeps this node from deciding."""
        return (
            self._running is not None
            and bool(self._rt.locks)
            and is_held(self, nearest_root_wins=self.as_reference)
        )

    def sweep(self) -> NodeStatus:
        self._failed_child = None
        if not self.is_held():
            if self.at_goal():
                return SUCCESS
            index = self.choose()
            if index is None:
                return self._none()
            if index != self._running:
                self._switch(index)
        index = self._running
        assert index is not None
        if self._rests:
            return RUNNING
        child = self.children[index]
        run = child._run
        status = run(child)
        if status is RUNNING:
            return RUNNING
        if status is IDLE:
            raise self._bad_child()
        self.stop_child(child)
        return self.child_ended(index, status)

    def _switch(self, index: int) -> None:
        old, self._running = self._running, index
        self._rests = False
        if old is not None:
            self.stop_child(self.children[old])
        elif self._leaf and self.as_reference:  # its defect D2
            self._exit_whole_path()
        self._leaf = False

    def _none(self) -> NodeStatus:
        old, self._running = self._running, None
        if old is not None:
            if self.as_reference:  # its defect D1
                _drop(self.children[old])
            else:
                self.stop_child(self.children[old])
        self._leaf = True
        status: NodeStatus = self.get_input("on_none")
        if status is FAILURE:
            self.set_failure_reason(self.nothing_can_run())
        elif status is IDLE or status is SKIPPED:
            raise LogicError(f"on_none is {status.name}: write RUNNING, FAILURE or SUCCESS")
        return status

    def _exit_whole_path(self) -> None:
        up: TreeNode | None = self
        while up is not None:
            if isinstance(up, Session) and up.entered:
                up.exit()
            up = up._up

    def forget(self) -> None:
        self._running = None
        self._rests = self._leaf = False


def condition_error(node: TreeNode, error: Exception) -> NodeExecutionError:
    """The error of a node whose condition could not be evaluated."""
    return error if isinstance(error, NodeExecutionError) else node._execution_error(error)


def _drop(node: TreeNode) -> None:
    """Make a node and all below it IDLE without telling the sessions and leaves."""
    for child in node.children:
        if isinstance(child, TreeNode):  # a leaf may hold py_trees behaviours
            _drop(child)
    node.reset_status()
    if isinstance(node, Session | Action):
        node.drop()
    elif not isinstance(node, LeafNode):
        node.halt()  # it forgets how far it was; nothing below runs any more
