# SPDX-License-Identifier: Apache-2.0
"""`Session`: a node that is entered once, ticked many times, and left once.

The sessions that are entered are the path of a decider network, from the root to the leaf. Whatever
ends one, a result, a halt or an exception, its children are left before it, its lock is released,
and its `Session.exit` is called once.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import NodeExecutionError
from behavior_tree.kernel.node import RUNNING, NodeConfig, TreeNode
from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.decider import locks
from behavior_tree.nodes.decider.modes import LockScope
from behavior_tree.nodes.decider.port_script import PortScript
from behavior_tree.nodes.decorators.base import DecoratorNode
from behavior_tree.nodes.parent import ParentNode

_LOG = logging.getLogger(__name__)


class Session(ParentNode):
    """A node with `enter` and `exit`. A subclass defines `sweep`, what is done in each tick.

    Args:
        name: of the node
        config: what the tree gives
        context: what the callbacks of a network written in Python share
    """

    role: ClassVar[str] = ""
    """Part in a network that this class and those derived from it play, for checks at load."""
    script_ports: ClassVar[tuple[str, ...]] = ("enter", "exit")
    restorable: ClassVar[tuple[str, ...]] = ("_entered", "_locked")
    bounds_locks: ClassVar[bool] = False
    """True if locks of scope local end here."""

    ports = ports_list(
        InputPort("enter", str, "", "script to run when the node is entered"),
        InputPort("exit", str, "", "script to run when the node is left, for whatever reason"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config)
        self.context = context
        self._entered = False
        self._locked: int | None = None
        self._enter_script = PortScript(self, "enter", asks=False)
        self._exit_script = PortScript(self, "exit", asks=False)

    # -- what a subclass may define -------------------------------------------------------------

    def enter(self) -> None:
        """Called before the first tick of a session."""
        self._enter_script.run()

    def exit(self) -> None:
        """Called when the session is over, after the exits of the nodes below."""
        self._exit_script.run()

    def sweep(self) -> NodeStatus:
        """One tick of a session."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop what belongs to the session that is over."""

    # -- what the network knows -----------------------------------------------------------------

    @property
    def entered(self) -> bool:
        """True while the node is on the path of its network."""
        return self._entered

    @property
    def params(self) -> Any:
        """What the decider above gave with its decision; None if nothing."""
        return given_params(self)

    @property
    def locked(self) -> bool:
        """True while the node holds a lock."""
        return self._locked is not None

    def lock(self, scope: LockScope = LockScope.tree) -> None:
        """Keep the nodes above from deciding until `unlock`, or the end of the session."""
        self._locked = int(scope)
        locks.add(self, local=scope is LockScope.local)

    def unlock(self) -> None:
        """Release the lock, if there is one."""
        self._locked = None
        locks.drop(self)

    # -- ticking --------------------------------------------------------------------------------

    def tick(self) -> NodeStatus:
        try:
            if not self._entered:
                self._begin()
            status = self.sweep()
        except Exception:
            self._abandon()
            raise
        if status is not RUNNING or not self._entered:  # or a leaf has halted the tree
            self._leave()
        return status

    def _execute_guarded(self) -> NodeStatus:
        status = super()._execute_guarded()
        if status is not RUNNING:
            self._leave()  # a hook may have ended it in the midst of its session
        return status

    def _begin(self) -> None:
        self._start()
        self._entered = True
        self.enter()

    def stop_child(self, child: TreeNode) -> None:
        """Make a child IDLE, halted if it runs, even if a hook has ended it in its session."""
        if child.status is RUNNING or (isinstance(child, Session) and child.entered):
            child.halt_node()
        child.reset_status()

    def _leave(self) -> None:
        """End the session: children first, then this node; whatever raises, both are done."""
        try:
            for child in self.children:  # as stop_child, with less on the stack of deep trees
                if child.status is RUNNING or (isinstance(child, Session) and child.entered):
                    child.halt_node()
                child.reset_status()
        finally:
            if self._entered:
                self._entered = False
                self._exit_safely()
            elif self._locked is not None:  # by a leaf that had halted the tree before
                self.unlock()

    def _exit_safely(self) -> None:
        try:
            self.exit()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        finally:
            self.forget()
            if self._locked is not None:
                self.unlock()

    def _abandon(self) -> None:
        """End the session because of an error, which is told; what the exits raise is logged."""
        try:
            self._leave()
        except Exception as error:
            _LOG.error("'%s' is left because of an error; then: %s", self.full_path(), error)
        self.reset_status()

    def drop(self) -> None:
        """Forget the session without its exit, as the reference does in its defect D1."""
        self._entered = False
        self.forget()
        self.unlock()

    def halt(self) -> None:
        try:
            self._leave()
        finally:
            self.reset_status()

    def restore_state(self, state: Any) -> None:
        super().restore_state(state)
        if self._locked is not None:
            self.lock(LockScope(self._locked))


class ControlSession(Session, ControlNode):
    """A session with several children."""


class DecoratorSession(Session, DecoratorNode):
    """A session with one child, whose result it passes on."""

    def sweep(self) -> NodeStatus:
        child = self._child
        run = child._run
        return run(child)


def given_params(node: TreeNode) -> Any:
    """Parameters of the innermost Case or Rd around a node; None outside of any."""
    up = node._up
    while up is not None:
        if isinstance(up, GivesParams):
            return up.params_below
        up = up._up
    return None


class GivesParams:
    """What hands parameters to the nodes below it."""

    __slots__ = ()

    @property
    def params_below(self) -> Any:
        """Parameters of the nodes below, down to the next that hands any."""
        raise NotImplementedError
