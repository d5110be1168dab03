# SPDX-License-Identifier: Apache-2.0
"""StateMachine, State, Transition: named states where an order is wanted, not a choice."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.leaf import ConditionNode
from behavior_tree.kernel.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS, NodeConfig
from behavior_tree.kernel.runtime import Timer
from behavior_tree.nodes.decider.locks import is_held
from behavior_tree.nodes.decider.modes import Compat, OnDone, compat_port, on_done_port
from behavior_tree.nodes.decider.port_script import PortScript
from behavior_tree.nodes.decider.session import ControlSession


class Transition(ConditionNode):
    """Leave the State around it for the State ``to`` when the script ``if`` is true; looked at in
    every tick, before what runs in the State.
    """

    role = "Transition"
    script_ports: ClassVar[tuple[str, ...]] = ("if",)

    ports = ports_list(
        InputPort("to", str, description="name of the next State"),
        InputPort("if", str, "", "script that must be true; empty: always"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config)
        self.context = context
        self._if = PortScript(self, "if")

    def holds(self) -> bool:
        """True if the State is to be left. Override it to ask in Python."""
        return self._if.holds()

    def tick(self) -> NodeStatus:
        return SUCCESS if self.holds() else FAILURE


class State(ControlSession):
    """One state of a StateMachine: a child that runs in it, and Transitions. It also ends when the
    child does, or after ``timeout_msec``.
    """

    role = "State"
    bounds_locks = True
    restorable: ClassVar[tuple[str, ...]] = (*ControlSession.restorable, "_timer", "successor")

    ports = ports_list(
        InputPort("next", str, "", "State after a success; empty: the machine is done"),
        InputPort("on_failure", str, "", "State after a failure; empty: the machine fails"),
        InputPort("timeout_msec", Unsigned, 0, "longest time in this State [ms]; 0: no limit"),
        InputPort("on_timeout", str, "", "State after that time; empty: it is a failure"),
        *ControlSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self.successor = ""
        """State that follows when this one has ended; empty: the machine ends too."""
        self._timer: Timer | None = None

    def enter(self) -> None:
        self.successor = ""
        msec: int = self.get_input("timeout_msec")
        self._timer = self._rt.start_timer(msec / 1000) if msec > 0 else None
        super().enter()

    def sweep(self) -> NodeStatus:
        if not is_held(self):
            status = self._left()
            if status is not RUNNING:
                return status
        for child in self.children:
            if not isinstance(child, Transition):
                run = child._run
                return self._ended(run(child))
        return RUNNING

    def _left(self) -> NodeStatus:
        """The result of a Transition or the timeout; RUNNING if there is none."""
        for index, child in enumerate(self.children):
            if isinstance(child, Transition):
                status = self.tick_child(index)
                self.halt_child(index)
                if status is SUCCESS:
                    self.successor = child.get_input("to")
                    return SUCCESS
        self._failed_child = None
        if self._timer is None or not self._timer.expired:
            return RUNNING
        self.successor = self.get_input("on_timeout")
        if self.successor:
            return SUCCESS
        self.set_failure_reason(f"timeout of {self.raw_port('timeout_msec')} ms")
        return self._ended(FAILURE)

    def _ended(self, status: NodeStatus) -> NodeStatus:
        if status is FAILURE:
            self.successor = self.get_input("on_failure")
        elif status is SUCCESS or status is SKIPPED:
            self.successor = self.get_input("next")
            return SUCCESS
        elif status is IDLE:
            raise self._bad_child()
        return status

    def forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class StateMachine(ControlSession):
    """Run one State after the other, from ``initial`` on, one change in a tick: the next State is
    entered in the tick in which the former ends.
    """

    role = "StateMachine"
    restorable: ClassVar[tuple[str, ...]] = (*ControlSession.restorable, "_running", "_at_rest")

    ports = ports_list(
        InputPort("initial", str, "", "name of the first State; empty: the first child"),
        on_done_port("the last State"),
        compat_port(),
        *ControlSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self._running: int | None = None
        self._at_rest = False

    @property
    def state(self) -> str:
        """Name of the State that runs, or is entered next; empty if none."""
        return "" if self._running is None else str(self.children[self._running].name)

    def sweep(self) -> NodeStatus:
        if self._at_rest:
            return RUNNING
        for _ in range(2):  # the State that runs, and the one that follows it
            if self._running is None:
                self._running = self._first()
            index = self._running
            state = self._state(index)
            run = state._run
            status = run(state)
            if status is RUNNING:
                return RUNNING
            self.stop_child(state)
            successor = state.get_input("next") if status is SKIPPED else state.successor
            if not successor:
                return self._finished(status)
            self._failed_child = None
            self._running = self._place(successor)
        return RUNNING

    def _finished(self, status: NodeStatus) -> NodeStatus:
        self._running = None
        if status is not SUCCESS:
            return status
        then = self.get_input("on_done", None)
        if then is None:
            as_reference = self.get_input("compat") == Compat.cortex  # its defect D7
            then = OnDone.idle if as_reference else OnDone.end
        self._at_rest = then is OnDone.idle
        return SUCCESS if then is OnDone.end else RUNNING

    def _first(self) -> int:
        name: str = self.get_input("initial")
        return self._place(name) if name else 0

    def _place(self, name: str) -> int:
        for index, child in enumerate(self.children):
            if child.name == name:
                return index
        known = ", ".join(f"'{child.name}'" for child in self.children)
        raise LogicError(f"there is no State '{name}': the States are {known}")

    def _state(self, index: int) -> State:
        child = self.children[index]
        if isinstance(child, State):
            return child
        raise LogicError(f"'{child.full_path()}' is not a State: put it into one")

    def forget(self) -> None:
        self._running = None
        self._at_rest = False
