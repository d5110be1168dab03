# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the planner manager."""

from __future__ import annotations

from typing import ClassVar

from behavior_navigation.rules.nodes import ActsOn, ProblemAction, ProblemCondition
from behavior_navigation.rules.planner_core import PlannerCore
from behavior_navigation.rules.planner_mode import UNUSABLE, Solver, silence
from behavior_navigation.rules.state import PlannerMode
from behavior_tree import (
    InputPort,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
)


class PathPlannerIsHealthy(ActsOn[PlannerCore], ProblemCondition):
    """The path planner reported within its maximum age, and found a path in its newest cycle."""

    def problem(self) -> str:
        """Look at the newest cycle."""
        known = self.subject.known()
        if not known.health_fresh:
            return silence(known)
        return "the path planner failed" if known.planning_failed else ""


class TrajectoryIsValid(ActsOn[PlannerCore], ProblemCondition):
    """The trajectory planner reported within its maximum age, and has a trajectory to follow."""

    def problem(self) -> str:
        """Look at the newest status."""
        solver = self.subject.known().solver
        if solver is None:
            return "the trajectory planner is silent"
        bad = solver in UNUSABLE or solver is Solver.OUT_OF_MEMORY
        return f"the trajectory planner: {solver.name}" if bad else ""


class RerouteRequested(ActsOn[PlannerCore], ProblemCondition):
    """Another route is wanted, and none has been asked for or arrived since."""

    def problem(self) -> str:
        """Look at what selectPlannerMode decided."""
        wanted = self.subject.state.planner.reroute_wanted
        return "" if wanted else "no other route is wanted"


class _SetPlanner(ActsOn[PlannerCore], ProblemAction):
    mode: ClassVar[PlannerMode]

    ports = ports_list(
        InputPort("reason", str, default="chosen by the tree", description="told with the mode")
    )

    def act(self) -> str:
        """Publish it."""
        self.subject.set_mode(self.mode, self.get_input("reason"))
        return ""


class SetPlannerNominal(_SetPlanner):
    """Has the path planner work as usual, until another node chooses or the mission ends."""

    mode = PlannerMode.NOMINAL


class SetPlannerFallback(_SetPlanner):
    """Has the path planner fall back, until another node chooses or the mission ends."""

    mode = PlannerMode.FALLBACK


class SetPlannerIdle(_SetPlanner):
    """Has the path planner idle: the robot stops."""

    mode = PlannerMode.IDLE


class SelectPlannerMode(ActsOn[PlannerCore], StatefulActionNode):
    """Chooses the planner's mode in every tick. RUNNING until the goal is reached; FAILURE when the
    planner failed so often that the action must be given up. Halting makes the planner idle.
    """

    ports = ports_list(
        OutputPort("mode", str, description="IDLE, NOMINAL or FALLBACK"),
        OutputPort("reason", str, description="why, in plain words; empty: all is well"),
        OutputPort("reroute", bool, description="another route is asked for in this tick"),
    )

    def on_start(self) -> NodeStatus:
        """Choose."""
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Choose again."""
        decision = self.subject.select()
        self.set_output("mode", decision.mode.name)
        self.set_output("reason", decision.reason)
        self.set_output("reroute", decision.reroute)
        if decision.give_up:
            self.set_failure_reason(decision.reason)
            return NodeStatus.FAILURE
        if self.subject.state.action.goal_reached:
            return NodeStatus.SUCCESS
        return NodeStatus.RUNNING

    def on_halted(self) -> None:
        """Stop the robot."""
        self.subject.set_mode(PlannerMode.IDLE, "the tree does not drive")
