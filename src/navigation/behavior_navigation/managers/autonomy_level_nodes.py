# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the autonomy level manager."""

from __future__ import annotations

from typing import Protocol

from behavior_navigation.rules.autonomy import SELECTABLE
from behavior_navigation.rules.nodes import ActsOn, ProblemAction, ProblemCondition
from behavior_navigation.rules.state import Level, NavigationState
from behavior_tree import InputPort, ports_list


class Autonomy(Protocol):
    """What the nodes act upon; the autonomy level manager is one."""

    @property
    def state(self) -> NavigationState:
        """What is known."""

    def why_halted(self) -> str:
        """Why the deadman switch lets nothing move; empty: it does not."""

    def select(self, level: Level) -> None:
        """Select a level."""


class AutonomyIsEnabled(ActsOn[Autonomy], ProblemCondition):
    """The autonomy moves the robot: AUTONOMOUS is selected, nobody overrides it, nothing halts."""

    def problem(self) -> str:
        """Look at the level in force."""
        state = self.subject.state.autonomy
        return "" if state.may_drive else f"the level in force is {state.effective.name}"


class DeadmanIsAlive(ActsOn[Autonomy], ProblemCondition):
    """The deadman switch is held, or there is none."""

    def problem(self) -> str:
        """Look at the switch."""
        if self.subject.state.autonomy.deadman_alive:
            return ""
        return self.subject.why_halted() or "the deadman switch is lost"


class SetAutonomyLevel(ActsOn[Autonomy], ProblemAction):
    """Selects who moves the robot, as the operator would."""

    ports = ports_list(InputPort("level", str, description="MANUAL or AUTONOMOUS"))

    def act(self) -> str:
        """Select it."""
        name = self.get_input("level").strip().upper()
        chosen = {level.name: level for level in SELECTABLE}.get(name)
        if chosen is None:
            return f"level '{name}': give MANUAL or AUTONOMOUS"
        self.subject.select(chosen)
        return ""
