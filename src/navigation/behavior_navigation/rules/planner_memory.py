# SPDX-License-Identifier: Apache-2.0
"""What the planner's rule remembers from cycle to cycle, and what is counted on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from behavior_navigation.rules.planner_mode import (
    DOUBTFUL,
    UNUSABLE,
    Decision,
    Solver,
)
from behavior_navigation.rules.state import PlannerMode


@dataclass(slots=True)
class PlanningCounters:
    """Only ever grow. Always: total = nominal + fallback + idle, and reroute <= total."""

    total_path_planning_cycles: int = 0
    path_planning_nominal_cycles: int = 0
    path_planning_fallback_cycles: int = 0
    path_planning_idle_cycles: int = 0
    path_planning_reroute_cycles: int = 0
    """Cycles on which another route was recommended or asked for."""
    tp_constraint_failed: int = 0
    tp_invalid_trajectory: int = 0
    tp_line_search_failed: int = 0
    tp_unsatisfied_constraints: int = 0
    tp_cost_failed: int = 0
    tp_out_of_memory: int = 0

    def count_cycle(self, mode: PlannerMode) -> None:
        """A cycle of the path planner in this mode."""
        name = f"path_planning_{mode.name.lower()}_cycles"
        self.total_path_planning_cycles += 1
        setattr(self, name, getattr(self, name) + 1)

    def count_solver(self, solver: Solver) -> None:
        """A cycle of the trajectory planner with this outcome."""
        if solver is not Solver.OK:
            name = f"tp_{solver.name.lower()}"
            setattr(self, name, getattr(self, name) + 1)


@dataclass(slots=True)
class PlannerMemory:
    """Takes in every message once, in the order of arrival."""

    counters: PlanningCounters = field(default_factory=PlanningCounters)
    planning_failed: bool = False
    reroute_recommended: bool = False
    failures: int = 0
    """Consecutive failed cycles; cycles in which the planner idled do not count."""
    solver: Solver = Solver.OK
    trajectory_failures: int = 0
    trajectory_doubts: int = 0
    good_cycles: int = 0
    """Consecutive cycles with a path, and with a trajectory as far as one is known."""
    recovering: bool = False
    last_reroute: float = -math.inf
    """[s] node time."""
    _rerouted: bool = False
    """The newest cycle is counted as one that led to a reroute."""

    def take_health(
        self,
        failed: bool,
        reroute_recommended: bool,
        mode: PlannerMode,
        *,
        trajectory_good: bool = True,
    ) -> None:
        """A cycle of the path planner.

        Args:
            failed: its verdict.
            reroute_recommended: it advises to go along another route.
            mode: the mode that it worked in.
            trajectory_good: the trajectory planner does not say otherwise at the moment.
        """
        self.counters.count_cycle(mode)
        self._rerouted = False
        self.planning_failed = failed
        self.reroute_recommended = failed and reroute_recommended
        if mode is not PlannerMode.IDLE:
            self.failures = self.failures + 1 if failed else 0
            self.good_cycles = self.good_cycles + 1 if trajectory_good and not failed else 0
        if reroute_recommended:
            self._count_reroute()

    def take_trajectory(self, solver: Solver) -> None:
        """A cycle of the trajectory planner."""
        self.counters.count_solver(solver)
        self.solver = solver
        self.trajectory_failures = self.trajectory_failures + 1 if solver in UNUSABLE else 0
        self.trajectory_doubts = self.trajectory_doubts + 1 if solver in DOUBTFUL else 0
        if solver is not Solver.OK:
            self.good_cycles = 0

    def decided(self, decision: Decision, now: float) -> None:
        """A mode was chosen, at this node time [s]."""
        if decision.mode is PlannerMode.FALLBACK and not self.recovering:
            self.recovering = True
            self.good_cycles = 0
        elif decision.mode is PlannerMode.NOMINAL:
            self.recovering = False
        if decision.reroute:
            self.last_reroute = now
            self._count_reroute()

    def new_action(self) -> None:
        """Another action begins: what failed before is no reason against it."""
        self.planning_failed = self.reroute_recommended = self.recovering = False
        self.failures = self.trajectory_failures = self.trajectory_doubts = self.good_cycles = 0
        self.solver = Solver.OK
        self.last_reroute = -math.inf

    def _count_reroute(self) -> None:
        if not self._rerouted and self.counters.total_path_planning_cycles:
            self._rerouted = True
            self.counters.path_planning_reroute_cycles += 1
