# SPDX-License-Identifier: Apache-2.0
"""Decider and Case: the choice between named alternatives, made again in every tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import InputPort, OutputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.decider.choosing import Choosing, condition_error
from behavior_tree.nodes.decider.modes import OnDone, compat_port, on_done_port, on_none_port
from behavior_tree.nodes.decider.port_script import PortScript
from behavior_tree.nodes.decider.session import DecoratorSession, GivesParams


@dataclass(frozen=True)
class Decision:
    """What `Decider.decide` returns."""

    name: str
    """Of the Case to run."""
    params: Any = None
    """For the nodes of that Case, down to the next one."""


class Case(DecoratorSession, GivesParams):
    """One alternative of a Decider. It can be chosen while the script ``if`` is true."""

    role = "Case"
    script_ports: ClassVar[tuple[str, ...]] = ("if", "enter", "exit")
    restorable: ClassVar[tuple[str, ...]] = (*DecoratorSession.restorable, "_params")

    ports = ports_list(
        InputPort("if", str, "", "script that must be true; empty: always"),
        OutputPort("params", Any, None, "where the parameters of the decision are written"),
        *DecoratorSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self._params: Any = None
        self._if = PortScript(self, "if")

    def holds(self) -> bool:
        """True if this alternative can be chosen now."""
        return self._if.holds()

    @property
    def params_below(self) -> Any:
        return self._params

    def give(self, params: Any) -> None:
        """Hand parameters to the nodes below, in each tick in which the Decider decides."""
        if params is not None or self._params is not None:
            self._params = params
            self.set_output("params", params)

    def forget(self) -> None:
        self.give(None)


class Decider(Choosing):
    """Run the first Case that holds, or the one that ``select`` names; decided again in every tick.
    Another choice leaves what ran, leaf first, before it is entered. Nothing is decided while a
    lock is held below.
    """

    role = "Decider"

    ports = ports_list(
        InputPort("select", str, None, "name of the Case to run, usually {key}; empty: none"),
        on_done_port("the Case"),
        on_none_port(),
        compat_port(),
        *Choosing.ports.values(),
    )

    def decide(self) -> Decision | str | None:
        """Name of the Case to run, with its parameters; None for none. Override it to decide in
        Python.
        """
        selected: str | None = self.get_input("select", None)
        if selected is not None:
            return selected or None
        for child in self.children:
            case = self._case(child)
            try:
                if case.holds():
                    return str(case.name)
            except Exception as error:
                raise condition_error(case, error) from error
        return None

    def choose(self) -> int | None:
        decision = self.decide()
        if decision is None:
            return None
        name, params = decision, None
        if isinstance(decision, Decision):
            name, params = decision.name, decision.params
        for index, child in enumerate(self.children):
            if child.name == name:
                self._case(child).give(params)
                return index
        known = ", ".join(f"'{child.name}'" for child in self.children)
        raise LogicError(f"there is no Case {name!r}: choose one of {known}")

    def child_ended(self, index: int, status: NodeStatus) -> NodeStatus:
        if status is not SUCCESS:
            self._running = None
            return status
        then = self.get_input("on_done", None)
        if then is None:
            then = OnDone.idle if self.as_reference else OnDone.end
        self._rests = then is OnDone.idle
        return SUCCESS if then is OnDone.end else RUNNING

    def nothing_can_run(self) -> str:
        return "no Case can run: " + ", ".join(str(child.name) for child in self.children)

    def _case(self, child: Any) -> Case:
        if isinstance(child, Case):
            return child
        raise LogicError(f"'{child.full_path()}' is not a Case: put it into one")
