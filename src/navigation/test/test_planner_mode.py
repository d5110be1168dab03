# SPDX-License-Identifier: Apache-2.0
"""The rule of the planner's mode against its table, for every combination of inputs.

The table stands here a second time, as data: rows with priorities, in no order that matters.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from itertools import product
from types import SimpleNamespace

import pytest
from behavior_msgs.msg import PlannerOperationMode, TrajectoryStatus

from behavior_navigation.rules.planner_mode import (
    Alarm,
    PlannerInputs,
    PlannerRules,
    Solver,
    choose_mode,
)
from behavior_navigation.rules.state import PlannerMode

RULES = PlannerRules(
    failures_until_reroute=3,
    failures_until_give_up=6,
    trajectory_failures_until_fallback=2,
    trajectory_doubts_until_reroute=4,
    good_cycles_until_nominal=3,
    reroute_cooldown=5.0,
    loc_bad_grace=2.0,
    route_wait_threshold=20.0,
)
IDLE, NOMINAL, FALLBACK = PlannerMode.IDLE, PlannerMode.NOMINAL, PlannerMode.FALLBACK
NO_TRAJECTORY = ("LINE_SEARCH_FAILED", "UNSATISFIED_CONSTRAINTS", "INVALID_TRAJECTORY")

# priority: (condition, mode, reroute, what else)
TABLE: dict[int, tuple[Callable, PlannerMode, Callable | bool, dict]] = {
    100: (lambda k: not k.autonomous, IDLE, False, {}),
    101: (lambda k: k.map_changing, IDLE, False, {}),
    102: (lambda k: k.paused, IDLE, False, {}),
    103: (lambda k: not k.action_active, IDLE, False, {}),
    104: (lambda k: k.goal_reached, IDLE, False, {}),
    200: (
        lambda k: not k.localization_good and k.localization_bad_for >= 2.0,
        *(IDLE, False, {"reset_localization": True}),
    ),
    210: (lambda k: not k.localization_good, IDLE, False, {}),
    300: (lambda k: not k.has_route, IDLE, False, {}),
    400: (lambda k: not k.health_fresh, IDLE, False, {"alarm": Alarm.STALE}),
    500: (lambda k: k.failures > 5, IDLE, False, {"give_up": True}),
    600: (
        lambda k: k.planning_failed and k.reroute_recommended and k.route_wait > 20.0,
        *(IDLE, False, {}),
    ),
    700: (lambda k: k.planning_failed and k.reroute_recommended, FALLBACK, True, {}),
    800: (lambda k: k.planning_failed, FALLBACK, lambda k: k.failures > 2, {}),
    900: (
        lambda k: (
            k.solver is not None and k.solver.name in NO_TRAJECTORY and k.trajectory_failures > 1
        ),
        *(FALLBACK, False, {}),
    ),
    1000: (
        lambda k: k.solver is not None and k.solver.name in ("CONSTRAINT_FAILED", "COST_FAILED"),
        *(FALLBACK, lambda k: k.trajectory_doubts > 3, {}),
    ),
    1100: (
        lambda k: k.solver is not None and k.solver.name == "OUT_OF_MEMORY",
        *(IDLE, False, {"alarm": Alarm.ERROR}),
    ),
    1200: (lambda k: k.recovering and k.good_cycles < 3, FALLBACK, False, {}),
    1300: (lambda k: True, NOMINAL, False, {}),
}
ROWS = [TABLE[priority] for priority in sorted(TABLE)]
QUIET = {"reset_localization": False, "give_up": False, "alarm": Alarm.NONE}


def expected(known: object) -> tuple:
    for condition, mode, reroute, besides in ROWS:
        if condition(known):
            wanted = reroute(known) if callable(reroute) else reroute
            told = QUIET | besides
            return (
                mode,
                wanted and known.since_reroute >= 5.0,
                told["reset_localization"],
                told["give_up"],
                told["alarm"],
            )
    raise AssertionError("the last row always holds")


# Every value that can make a difference, together with the ones just beside it. Counts that belong
# together vary together: there are no doubts to count without a doubtful trajectory.
HINDRANCES = [
    dict(
        zip(
            ("autonomous", "map_changing", "paused", "action_active", "goal_reached"),
            values,
            strict=True,
        )
    )
    for values in product((True, False), repeat=5)
]
LOCALIZATIONS = [
    {"localization_good": good, "localization_bad_for": bad_for}
    for good, bad_for in ((True, 0.0), (False, 0.0), (False, 1.999), (False, 2.0))
]
ROUTES = [
    {"has_route": has, "route_wait": wait} for has in (True, False) for wait in (0.0, 20.0, 20.001)
]
HEALTHS = [
    {
        "health_fresh": fresh,
        "planning_failed": failed,
        "reroute_recommended": recommended,
        "failures": failures,
    }
    for fresh in (True, False)
    for failed, recommended in ((False, False), (True, False), (True, True))
    for failures in (0, 2, 3, 5, 6)
]
TRAJECTORIES = [
    {"solver": solver, "trajectory_failures": failures, "trajectory_doubts": doubts}
    for solver in (None, *Solver)
    for failures in ((1, 2) if solver is None or solver.name in NO_TRAJECTORY else (0,))
    for doubts in ((3, 4) if solver in (Solver.CONSTRAINT_FAILED, Solver.COST_FAILED) else (0,))
]
RECOVERIES = [{"recovering": False, "good_cycles": 0}] + [
    {"recovering": True, "good_cycles": good} for good in (2, 3)
]
COOLDOWNS = [{"since_reroute": since} for since in (4.999, 5.0)]
GROUPS = (HINDRANCES, LOCALIZATIONS, ROUTES, HEALTHS, TRAJECTORIES, RECOVERIES, COOLDOWNS)


def combinations(groups: tuple, known: SimpleNamespace | None = None) -> Iterator[SimpleNamespace]:
    """All of them, in one object that changes: making millions would take most of the time."""
    known = known or SimpleNamespace(**asdict(PlannerInputs()))
    if not groups:
        yield known
        return
    for choice in groups[0]:
        vars(known).update(choice)
        yield from combinations(groups[1:], known)


def test_the_groups_name_every_input_once() -> None:
    names = [name for group in GROUPS for name in group[0]]
    of_words_only = {"disabled"}
    assert sorted(names) == sorted({f.name for f in fields(PlannerInputs)} - of_words_only)


@pytest.mark.slow
def test_every_combination_of_inputs() -> None:
    seen, wrong, total = set(), [], 0
    for known in combinations(GROUPS):
        total += 1
        got = choose_mode(known, RULES)
        answer = (got.mode, got.reroute, got.reset_localization, got.give_up, got.alarm)
        if answer != expected(known):
            wrong.append((dict(vars(known)), answer, expected(known)))
        seen.add(answer)
    assert not wrong, f"{len(wrong)} of {total}: {wrong[0]}"
    assert len(seen) == 8
    sizes = [len(group) for group in GROUPS]
    print(f"{total} combinations of {sizes}")


@pytest.mark.slow
def test_a_reason_is_given_whenever_the_mode_is_not_nominal() -> None:
    for known in combinations(([HINDRANCES[0]], *GROUPS[1:])):
        got = choose_mode(known, RULES)
        assert (got.reason == "") == (got.mode is NOMINAL)


def test_a_robot_that_drives_well_is_nominal() -> None:
    assert choose_mode(PlannerInputs(), PlannerRules()).mode is NOMINAL


@pytest.mark.parametrize("solver", Solver)
def test_numbers_agree_with_the_messages(solver: Solver) -> None:
    assert getattr(TrajectoryStatus, solver.name) == solver
    for mode in PlannerMode:
        assert getattr(PlannerOperationMode, mode.name) == mode
