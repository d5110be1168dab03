# SPDX-License-Identifier: Apache-2.0
"""Atomic and Lock: parts that decisions do not interrupt."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, PortInfo, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, NodeConfig, TreeNode
from behavior_tree.kernel.runtime import Timer
from behavior_tree.nodes.decider.instant import Instant
from behavior_tree.nodes.decider.modes import LockScope
from behavior_tree.nodes.decider.session import DecoratorSession, Session

KEEPS_LOCKS = ("Case", "Rd", "StateMachine")
"""Roles of the nodes whose lock is meant if a Lock names none."""


def scope_port() -> PortInfo:
    """Port ``scope``."""
    text = "tree: no node above decides; local: none up to the next SubTree, RunFor or State"
    return InputPort("scope", LockScope, LockScope.tree, text)


class Atomic(DecoratorSession):
    """Run the child under a lock: no Decider, RLDS or StateMachine above decides until it has
    ended. The lock goes with success, failure, halt, error and ``timeout_msec``, which is a
    FAILURE.
    """

    role = "Atomic"
    restorable: ClassVar[tuple[str, ...]] = (*DecoratorSession.restorable, "_timer")

    ports = ports_list(
        InputPort("timeout_msec", Unsigned, 0, "longest time under the lock [ms]; 0: no limit"),
        scope_port(),
        *DecoratorSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self._timer: Timer | None = None

    def enter(self) -> None:
        self.lock(LockScope(self.get_input("scope")))
        msec: int = self.get_input("timeout_msec")
        self._timer = self._rt.start_timer(msec / 1000) if msec > 0 else None
        super().enter()

    def sweep(self) -> NodeStatus:
        if self._timer is not None and self._timer.expired:
            self._failed_child = None
            running = self._child.full_path()
            self.set_failure_reason(
                f"timeout of {self.raw_port('timeout_msec')} ms, '{running}' was running; the lock "
                "is released"
            )
            return FAILURE
        child = self._child
        run = child._run
        return run(child)

    def forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Lock(Instant):
    """Set or release the lock of a node around this one, by its name; of the innermost Case, Rd or
    StateMachine if it names none. The lock is released at the latest when that node is left.
    """

    role = "Lock"

    ports = ports_list(
        InputPort("set", bool, description="true: lock; false: release"),
        InputPort("node", str, "", "name of the node around this one that is to be locked"),
        scope_port(),
        *Instant.ports.values(),
    )

    def act(self) -> None:
        node = self._target()
        if self.get_input("set"):
            node.lock(LockScope(self.get_input("scope")))
        else:
            node.unlock()

    def _target(self) -> Session:
        name: str = self.get_input("node")
        up: TreeNode | None = self._up
        while up is not None:
            if isinstance(up, Session) and (up.name == name if name else up.role in KEEPS_LOCKS):
                return up
            up = up._up
        wanted = f"named '{name}'" if name else "that is a Case, Rd or StateMachine"
        raise LogicError(f"no node around this Lock {wanted} can be locked")
