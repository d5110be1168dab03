# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the planner manager."""

from __future__ import annotations

from typing import ClassVar, Protocol

from behavior_navigation.rules.conditions import ProblemCondition
from behavior_navigation.rules.planner_mode import UNUSABLE, Decision, PlannerInputs, Solver
from behavior_navigation.rules.state import NavigationState, PlannerMode
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    SyncActionNode,
    ports_list,
)


class Planner(Protocol):
    """What the nodes act upon; a PlannerCore is one."""

    @property
    def state(self) -> NavigationState:
        """What is known."""

    def known(self) -> PlannerInputs:
        """What the rule of the mode looks at."""

    def select(self) -> Decision:
        """Choose the mode by its rule and publish it."""

    def set_mode(self, mode: PlannerMode, reason: str) -> None:
        """Publish a mode."""


class _PlannerCondition(ProblemCondition):
    def __init__(self, name: str, config: NodeConfig, planner: Planner) -> None:
        super().__init__(name, config)
        self._planner = planner


class PathPlannerIsHealthy(_PlannerCondition):
    """The path planner reported within its maximum age, and found a path in its newest cycle."""

    def problem(self) -> str:
        """Look at the newest cycle."""
        known = self._planner.known()
        if not known.health_fresh:
            return "the path planner is silent"
        return "the path planner failed" if known.planning_failed else ""


class TrajectoryIsValid(_PlannerCondition):
    """The trajectory planner reported within its maximum age, and has a trajectory to follow."""

    def problem(self) -> str:
        """Look at the newest status."""
        solver = self._planner.known().solver
        if solver is None:
            return "the trajectory planner is silent"
        bad = solver in UNUSABLE or solver is Solver.OUT_OF_MEMORY
        return f"the trajectory planner: {solver.name}" if bad else ""


class RerouteRequested(_PlannerCondition):
    """Another route is wanted, and none has been asked for or arrived since."""

    def problem(self) -> str:
        """Look at what selectPlannerMode decided."""
        wanted = self._planner.state.planner.reroute_wanted
        return "" if wanted else "no other route is wanted"


class _SetPlanner(SyncActionNode):
    mode: ClassVar[PlannerMode]

    ports = ports_list(
        InputPort("reason", str, default="chosen by the tree", description="told with the mode")
    )

    def __init__(self, name: str, config: NodeConfig, planner: Planner) -> None:
        super().__init__(name, config)
        self._planner = planner

    def tick(self) -> NodeStatus:
        """Publish it."""
        self._planner.set_mode(self.mode, self.get_input("reason"))
        return NodeStatus.SUCCESS


class SetPlannerNominal(_SetPlanner):
    """Has the path planner work as usual, until another node chooses or the mission ends."""

    mode = PlannerMode.NOMINAL


class SetPlannerFallback(_SetPlanner):
    """Has the path planner fall back, until another node chooses or the mission ends."""

    mode = PlannerMode.FALLBACK


class SetPlannerIdle(_SetPlanner):
    """Has the path planner idle: the robot stops."""

    mode = PlannerMode.IDLE


class SelectPlannerMode(StatefulActionNode):
    """Chooses the planner's mode in every tick. RUNNING until the goal is reached; FAILURE when the
    planner failed so often that the action must be given up. Halting makes the planner idle.
    """

    ports = ports_list(
        OutputPort("mode", str, description="IDLE, NOMINAL or FALLBACK"),
        OutputPort("reason", str, description="why, in plain words; empty: all is well"),
        OutputPort("reroute", bool, description="another route is asked for in this tick"),
    )

    def __init__(self, name: str, config: NodeConfig, planner: Planner) -> None:
        """Make the node, as the factory does; ``planner`` is what it acts upon."""
        super().__init__(name, config)
        self._planner = planner

    def on_start(self) -> NodeStatus:
        """Choose."""
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Choose again."""
        decision = self._planner.select()
        self.set_output("mode", decision.mode.name)
        self.set_output("reason", decision.reason)
        self.set_output("reroute", decision.reroute)
        if decision.give_up:
            self.set_failure_reason(decision.reason)
            return NodeStatus.FAILURE
        if self._planner.state.action.goal_reached:
            return NodeStatus.SUCCESS
        return NodeStatus.RUNNING

    def on_halted(self) -> None:
        """Stop the robot."""
        self._planner.set_mode(PlannerMode.IDLE, "the tree does not drive")
