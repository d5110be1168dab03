# SPDX-License-Identifier: Apache-2.0
"""Chooses the planner's mode from the shared state and what was remembered; without ROS."""

from __future__ import annotations

import math
from collections.abc import Callable

from behavior_navigation.rules.planner_memory import PlannerMemory
from behavior_navigation.rules.planner_mode import (
    Decision,
    PlannerInputs,
    PlannerRules,
    Solver,
    choose_mode,
)
from behavior_navigation.rules.state import NavigationState, PlannerMode


class PlannerCore:
    """Writes the planner's section of the state; the mode is IDLE unless a tree chose another."""

    def __init__(
        self,
        state: NavigationState,
        rules: PlannerRules,
        *,
        health_fresh: Callable[[], bool],
        trajectory_fresh: Callable[[], bool],
        publish: Callable[[], object],
    ) -> None:
        """Begin with IDLE.

        Args:
            state: shared by all managers.
            rules: numbers of the rule.
            health_fresh: whether the path planner's newest cycle is young enough.
            trajectory_fresh: whether the trajectory planner's newest status is.
            publish: called when the mode or its reason is another one.
        """
        self.state = state
        self.rules = rules
        self.memory = PlannerMemory()
        self.decision = Decision(PlannerMode.IDLE, "not started")
        self._health_fresh = health_fresh
        self._trajectory_fresh = trajectory_fresh
        self._publish = publish
        self._route = ("", 0)

    def take_health(self, failed: bool, reroute_recommended: bool, mode: PlannerMode) -> None:
        """A cycle of the path planner."""
        good = self.memory.solver is Solver.OK or not self._trajectory_fresh()
        self.memory.take_health(failed, reroute_recommended, mode, trajectory_good=good)

    def pre_tick(self, now: float) -> None:
        """Look whether the planner lives, and whether the route that was asked for is there."""
        if now < self.memory.last_reroute:  # the clock was set back
            self.memory.last_reroute = -math.inf
        planner, action = self.state.planner, self.state.action
        planner.health_fresh = self._health_fresh()
        route = (action.route_id, action.reroutes)
        if route != self._route:
            self._route = route
            planner.reroute_wanted = False

    def begin_action(self) -> None:
        """Forget the failures of the action before."""
        self.memory.new_action()
        self.state.planner.failed = False
        self.idle("an action begins")

    def idle(self, reason: str) -> None:
        """Nothing is to be driven."""
        planner = self.state.planner
        planner.reroute_wanted = planner.reset_wanted = False
        self.decision = Decision(PlannerMode.IDLE, reason)
        self.set_mode(PlannerMode.IDLE, reason)

    def select(self) -> Decision:
        """Choose the mode by the rule."""
        planner = self.state.planner
        self.decision = decision = choose_mode(self.known(), self.rules)
        self.memory.decided(decision, self.state.now)
        planner.reroute_wanted |= decision.reroute
        planner.reset_wanted = decision.reset_localization
        if decision.give_up:
            planner.failed, planner.why_failed = True, decision.reason
        self.set_mode(decision.mode, decision.reason)
        return decision

    def set_mode(self, mode: PlannerMode, reason: str) -> None:
        """Set a mode, and publish it if it or its reason is another one."""
        planner = self.state.planner
        if (planner.mode, planner.reason) != (mode, reason):
            planner.mode, planner.reason = mode, reason
            self._publish()

    def known(self) -> PlannerInputs:
        """What the rule looks at."""
        state, memory, now = self.state, self.memory, self.state.now
        waiting = state.action.waiting_since
        return PlannerInputs(
            autonomous=state.autonomy.may_drive,
            map_changing=state.map.changing,
            paused=state.action.paused,
            action_active=state.action.active,
            goal_reached=state.action.goal_reached,
            localization_good=state.localization.good,
            localization_bad_for=state.localization.bad_for,
            has_route=bool(state.action.route_id),
            route_wait=now - waiting if math.isfinite(waiting) else 0.0,
            health_fresh=self._health_fresh(),
            disabled=state.disabled,
            planning_failed=memory.planning_failed,
            reroute_recommended=memory.reroute_recommended,
            failures=memory.failures,
            solver=memory.solver if self._trajectory_fresh() else None,
            trajectory_failures=memory.trajectory_failures,
            trajectory_doubts=memory.trajectory_doubts,
            recovering=memory.recovering,
            good_cycles=memory.good_cycles,
            since_reroute=now - memory.last_reroute,
        )
