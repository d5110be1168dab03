# SPDX-License-Identifier: Apache-2.0
"""How the path planner shall work: a rule from what is known, first match wins.

====  ===============================================  ========  ===================================
row   condition                                        mode      besides
====  ===============================================  ========  ===================================
1     not autonomous, map change, paused, no action,   IDLE
      goal reached
2     localization stale or bad                        IDLE      reset after ``loc_bad_grace``
3     no route                                         IDLE      (the action manager asks for it)
4     health stale                                     IDLE      diagnostic STALE
5     failures >= ``failures_until_give_up`` (N2)      IDLE      the action fails
6     planning failed, reroute recommended, new route  IDLE
      awaited for over ``route_wait_threshold``
7     planning failed, reroute recommended             FALLBACK  reroute
8     planning failed, failures >= N1                  FALLBACK  reroute
      (``failures_until_reroute``)
9     planning failed                                  FALLBACK
10    trajectory LINE_SEARCH_FAILED,                   FALLBACK
      UNSATISFIED_CONSTRAINTS or INVALID_TRAJECTORY
      in M cycles (``trajectory_failures_until_fallback``)
11    trajectory CONSTRAINT_FAILED or COST_FAILED      FALLBACK  reroute from M2 cycles on
                                                                 (``trajectory_doubts_until_reroute``)
12    trajectory OUT_OF_MEMORY                         IDLE      diagnostic ERROR
13    coming from FALLBACK with fewer than K good      FALLBACK
      cycles (``good_cycles_until_nominal``)
14    otherwise                                        NOMINAL
====  ===============================================  ========  ===================================

A reroute is asked for at most once per ``reroute_cooldown``. Giving up comes before the other
answers to failures: below them nothing would ever reach it. A trajectory status that is stale says
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from behavior_navigation.rules.state import PlannerMode


class Solver(IntEnum):
    """Outcome of the trajectory planner (``TrajectoryStatus``)."""

    OK = 0
    CONSTRAINT_FAILED = 1
    INVALID_TRAJECTORY = 2
    LINE_SEARCH_FAILED = 3
    UNSATISFIED_CONSTRAINTS = 4
    COST_FAILED = 5
    OUT_OF_MEMORY = 6


UNUSABLE = frozenset(
    {Solver.LINE_SEARCH_FAILED, Solver.UNSATISFIED_CONSTRAINTS, Solver.INVALID_TRAJECTORY}
)
"""There is no trajectory to follow."""
DOUBTFUL = frozenset({Solver.CONSTRAINT_FAILED, Solver.COST_FAILED})
"""There is one, but not as it should be."""


class Alarm(Enum):
    """What the diagnostics have to say besides."""

    NONE = "none"
    STALE = "stale"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerRules:
    """Numbers of the rule."""

    failures_until_reroute: int = 3
    """N1: consecutive failed cycles from which on a new route is asked for."""
    failures_until_give_up: int = 20
    """N2: consecutive failed cycles with which the action fails."""
    trajectory_failures_until_fallback: int = 3
    """M: consecutive cycles without a usable trajectory."""
    trajectory_doubts_until_reroute: int = 10
    """M2: consecutive cycles with a doubtful trajectory."""
    good_cycles_until_nominal: int = 3
    """K: consecutive good cycles that end the fallback."""
    reroute_cooldown: float = 5.0
    """T_cd [s]: least time between two requests for another route."""
    loc_bad_grace: float = 2.0
    """[s] for which the localization may be bad before it is reset."""
    route_wait_threshold: float = 20.0
    """[s] for which the planner falls back while a new route is awaited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerInputs:
    """What the rule looks at; the defaults are a robot that drives well."""

    autonomous: bool = True
    """The autonomy moves the robot; false also when the deadman switch is lost."""
    map_changing: bool = False
    paused: bool = False
    action_active: bool = True
    goal_reached: bool = False
    localization_good: bool = True
    localization_bad_for: float = 0.0
    """[s]"""
    has_route: bool = True
    route_wait: float = 0.0
    """[s] since the first unanswered request for a route; 0: none is awaited."""
    health_fresh: bool = True
    disabled: tuple[str, ...] = ()
    """Modules that are switched off."""
    planning_failed: bool = False
    """Verdict of the newest cycle."""
    reroute_recommended: bool = False
    """By the newest cycle."""
    failures: int = 0
    """Consecutive failed cycles."""
    solver: Solver | None = None
    """Newest status of the trajectory planner; None: stale."""
    trajectory_failures: int = 0
    """Consecutive cycles with UNUSABLE trajectories."""
    trajectory_doubts: int = 0
    """Consecutive cycles with DOUBTFUL trajectories."""
    recovering: bool = False
    """The planner fell back and has not been nominal since."""
    good_cycles: int = 0
    """Consecutive good cycles."""
    since_reroute: float = float("inf")
    """[s] since a reroute was asked for."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows."""

    mode: PlannerMode
    reason: str = ""
    """In plain words; empty: all is well."""
    reroute: bool = False
    """Another route is asked for now."""
    reset_localization: bool = False
    give_up: bool = False
    """The action fails."""
    alarm: Alarm = Alarm.NONE


def choose_mode(known: PlannerInputs, rules: PlannerRules) -> Decision:
    """The mode for what is known, by the table above."""
    idle = PlannerMode.IDLE
    hindrance = _hindrance(known)
    if hindrance:
        return Decision(idle, hindrance)
    if not known.localization_good:
        reset = known.localization_bad_for >= rules.loc_bad_grace
        return Decision(idle, "the localization is not good", reset_localization=reset)
    if not known.has_route:
        return Decision(idle, "there is no route")
    if not known.health_fresh:
        return Decision(idle, silence(known), alarm=Alarm.STALE)
    if known.failures >= rules.failures_until_give_up:
        text = f"the path planner failed {known.failures} times in a row"
        return Decision(idle, text, give_up=True)
    if known.planning_failed:
        return _after_failed_planning(known, rules)
    return _by_trajectory(known, rules)


def silence(known: PlannerInputs) -> str:
    """Why the path planner is not heard. An executor that was restarted in the middle of a change
    of the map finds modules switched off, and does not know which map is in force.
    """
    text = "the path planner is silent"
    if not known.disabled:
        return text
    off = ", ".join(known.disabled)
    return f"{text}; switched off: {off}: load the map (LOAD_MAP), which switches them on again"


def _hindrance(known: PlannerInputs) -> str:
    """Row 1: why there is nothing to plan."""
    for holds, text in (
        (not known.autonomous, "the autonomy does not move the robot"),
        (known.map_changing, "the map changes"),
        (known.paused, "paused"),
        (not known.action_active, "there is no action"),
        (known.goal_reached, "the goal is reached"),
    ):
        if holds:
            return text
    return ""


def _after_failed_planning(known: PlannerInputs, rules: PlannerRules) -> Decision:
    """Rows 6 to 9."""
    text = f"the path planner failed {known.failures} times in a row"
    if known.reroute_recommended:
        if known.route_wait > rules.route_wait_threshold:
            return Decision(PlannerMode.IDLE, f"no new route for {known.route_wait:.1f} s")
        text = "the path planner recommends another route"
    wanted = known.reroute_recommended or known.failures >= rules.failures_until_reroute
    return _fallback(known, rules, text, wanted)


def _by_trajectory(known: PlannerInputs, rules: PlannerRules) -> Decision:
    """Rows 10 to 14."""
    solver = known.solver
    if solver in UNUSABLE and (
        known.trajectory_failures >= rules.trajectory_failures_until_fallback
    ):
        return _fallback(known, rules, f"the trajectory planner: {solver.name}", wanted=False)
    if solver in DOUBTFUL:
        wanted = known.trajectory_doubts >= rules.trajectory_doubts_until_reroute
        return _fallback(known, rules, f"the trajectory planner: {solver.name}", wanted)
    if solver is Solver.OUT_OF_MEMORY:
        text = "the trajectory planner is out of memory"
        return Decision(PlannerMode.IDLE, text, alarm=Alarm.ERROR)
    if known.recovering and known.good_cycles < rules.good_cycles_until_nominal:
        text = f"{known.good_cycles} good cycles of {rules.good_cycles_until_nominal}"
        return _fallback(known, rules, text, wanted=False)
    return Decision(PlannerMode.NOMINAL)


def _fallback(known: PlannerInputs, rules: PlannerRules, text: str, wanted: bool) -> Decision:
    due = known.since_reroute >= rules.reroute_cooldown
    return Decision(PlannerMode.FALLBACK, text, reroute=wanted and due)
