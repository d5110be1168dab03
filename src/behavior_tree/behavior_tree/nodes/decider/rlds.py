# SPDX-License-Identifier: Apache-2.0
"""RLDS and Rd: steps towards a goal, the one nearest to it that can run runs.

A robust logical-dynamical system: the last child is the nearest to the goal. Each step drives the
world to where the next one can start; whatever disturbs the world drops back to a step that can run
there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.conversion import Unsigned
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.decider.choosing import Choosing, condition_error
from behavior_tree.nodes.decider.modes import compat_port, on_none_port
from behavior_tree.nodes.decider.port_script import PortScript
from behavior_tree.nodes.decider.session import DecoratorSession, GivesParams


class Rd(DecoratorSession, GivesParams):
    """One step of an RLDS. It can start while ``enterable`` is true, and once chosen goes on while
    ``runnable`` is true, which should be the looser one.
    """

    role = "Rd"
    script_ports: ClassVar[tuple[str, ...]] = ("runnable", "enterable", "enter", "exit")
    restorable: ClassVar[tuple[str, ...]] = (*DecoratorSession.restorable, "failures")

    ports = ports_list(
        InputPort("runnable", str, "", "script: the step can go on; empty: always"),
        InputPort("enterable", str, "", "script: the step can start; empty: as runnable"),
        InputPort(
            "max_failures",
            Unsigned,
            0,
            "failures in a row after which the RLDS fails; 0: no limit",
        ),
        *DecoratorSession.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self.failures = 0
        """Failures in a row since the RLDS was entered."""
        self._runnable = PortScript(self, "runnable")
        self._enterable = PortScript(self, "enterable")

    def is_runnable(self) -> bool:
        """True if the step can go on; asked while it is the one that was chosen last."""
        return self._runnable.holds()

    def is_enterable(self) -> bool:
        """True if the step can start."""
        return self._enterable.holds() if self._enterable.given else self.is_runnable()

    @property
    def params_below(self) -> Any:
        above = self._up
        if isinstance(above, RLDS) and above.as_reference:
            return None  # its defect D5
        return self.params

    def count(self, status: NodeStatus) -> bool:
        """Count a result; True if these were too many failures."""
        if status is FAILURE:
            self.failures += 1
        elif status is SUCCESS:
            self.failures = 0
        limit: int = self.get_input("max_failures")
        return 0 < limit <= self.failures


class RLDS(Choosing):
    """Run the last Rd that can run, chosen again in every tick; SUCCESS when the script ``goal`` is
    true. An Rd that ends is started again if it still can run. Nothing is chosen while a lock is
    held below.
    """

    role = "RLDS"
    script_ports: ClassVar[tuple[str, ...]] = ("goal", "enter", "exit")

    ports = ports_list(
        InputPort("goal", str, "", "script that is true when all is done; empty: never"),
        on_none_port(),
        compat_port(),
        *Choosing.ports.values(),
    )

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config, context)
        self._goal = PortScript(self, "goal")

    def at_goal(self) -> bool:
        """True when all is done. Override it to ask in Python."""
        return self._goal.holds(otherwise=False)

    def choose(self) -> int | None:
        last = len(self.children) - 1
        for index in range(last, -1, -1):
            step = self._step(index)
            chosen = index == self._running and (index == last or not self.as_reference)  # its D4
            try:
                if step.is_runnable() if chosen else step.is_enterable():
                    return index
            except Exception as error:
                raise condition_error(step, error) from error
        return None

    def child_ended(self, index: int, status: NodeStatus) -> NodeStatus:
        step = self._step(index)
        if step.count(status):
            times = "once" if step.failures == 1 else f"{step.failures} times in a row"
            self.set_failure_reason(f"'{step.name}' failed {times}")
            return FAILURE
        return SUCCESS if status is SUCCESS and self.at_goal() else RUNNING

    def nothing_can_run(self) -> str:
        return "no Rd can run: " + ", ".join(str(child.name) for child in self.children)

    def enter(self) -> None:
        for index in range(len(self.children)):
            self._step(index).failures = 0
        super().enter()

    def _step(self, index: int) -> Rd:
        child = self.children[index]
        if isinstance(child, Rd):
            return child
        raise LogicError(f"'{child.full_path()}' is not an Rd: put it into one")
