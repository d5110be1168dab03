# SPDX-License-Identifier: Apache-2.0
"""What the planner's rule remembers, and the counters' invariants in any order of messages."""

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from behavior_navigation.rules.planner_memory import PlannerMemory
from behavior_navigation.rules.planner_mode import (
    Decision,
    PlannerInputs,
    PlannerRules,
    Solver,
    choose_mode,
)
from behavior_navigation.rules.state import PlannerMode

HEALTH = st.tuples(
    st.just("health"), st.booleans(), st.booleans(), st.sampled_from(PlannerMode), st.booleans()
)
TRAJECTORY = st.tuples(st.just("trajectory"), st.sampled_from(Solver))
DECIDED = st.tuples(
    st.just("decided"),
    st.builds(Decision, st.sampled_from(PlannerMode), reroute=st.booleans()),
)
ACTION = st.tuples(st.just("action"))
EVENTS = st.lists(st.one_of(HEALTH, TRAJECTORY, DECIDED, ACTION), max_size=60)


def play(memory: PlannerMemory, event: tuple, now: float) -> None:
    kind, *values = event
    if kind == "health":
        failed, recommended, mode, good = values
        memory.take_health(failed, recommended, mode, trajectory_good=good)
    elif kind == "trajectory":
        memory.take_trajectory(*values)
    elif kind == "decided":
        memory.decided(*values, now)
    else:
        memory.new_action()


@given(EVENTS)
def test_counters_keep_their_invariants_in_any_order(events: list[tuple]) -> None:
    memory, before = PlannerMemory(), {}
    for now, event in enumerate(events):
        play(memory, event, float(now))
        counters = memory.counters
        figures = asdict(counters)
        by_mode = (
            counters.path_planning_nominal_cycles
            + counters.path_planning_fallback_cycles
            + counters.path_planning_idle_cycles
        )
        assert counters.total_path_planning_cycles == by_mode
        assert counters.path_planning_reroute_cycles <= counters.total_path_planning_cycles
        assert all(figures[name] >= count for name, count in before.items())
        before = figures
    healths = [event for event in events if event[0] == "health"]
    assert memory.counters.total_path_planning_cycles == len(healths)
    for solver in Solver:
        told = sum(event == ("trajectory", solver) for event in events)
        if solver is not Solver.OK:
            assert getattr(memory.counters, f"tp_{solver.name.lower()}") == told


@given(EVENTS)
def test_what_is_remembered_is_about_the_newest_run_of_cycles(events: list[tuple]) -> None:
    memory = PlannerMemory()
    for now, event in enumerate(events):
        play(memory, event, float(now))
    since = max((i for i, event in enumerate(events) if event[0] == "action"), default=-1) + 1
    recent = events[since:]
    cycles = [e for e in recent if e[0] == "health" and e[3] is not PlannerMode.IDLE]
    trailing = 0
    while trailing < len(cycles) and cycles[-1 - trailing][1]:
        trailing += 1
    assert memory.failures == trailing
    assert memory.good_cycles <= len(cycles)
    assert not (memory.failures and memory.good_cycles)


def drive(memory: PlannerMemory, rules: PlannerRules, now: float = 0.0) -> Decision:
    known = PlannerInputs(
        planning_failed=memory.planning_failed,
        reroute_recommended=memory.reroute_recommended,
        failures=memory.failures,
        solver=memory.solver,
        trajectory_failures=memory.trajectory_failures,
        trajectory_doubts=memory.trajectory_doubts,
        recovering=memory.recovering,
        good_cycles=memory.good_cycles,
        since_reroute=now - memory.last_reroute,
    )
    decision = choose_mode(known, rules)
    memory.decided(decision, now)
    return decision


def cycle(memory: PlannerMemory, failed: bool, mode: PlannerMode = PlannerMode.NOMINAL) -> None:
    memory.take_health(failed, False, mode)


def test_a_bad_spell_from_fallback_through_reroute_to_nominal() -> None:
    memory, rules = PlannerMemory(), PlannerRules(failures_until_reroute=2, reroute_cooldown=5.0)
    cycle(memory, failed=True)
    assert drive(memory, rules) == Decision(
        PlannerMode.FALLBACK, "the path planner failed 1 times in a row"
    )
    cycle(memory, failed=True, mode=PlannerMode.FALLBACK)
    assert drive(memory, rules, 1.0).reroute
    assert not drive(memory, rules, 1.5).reroute, "the cool-down"
    assert not drive(memory, rules, 5.9).reroute
    assert drive(memory, rules, 6.0).reroute
    assert memory.counters.path_planning_reroute_cycles == 1, "one cycle, asked for twice"
    for good in range(3):
        assert drive(memory, rules, 7.0).mode is PlannerMode.FALLBACK, good
        cycle(memory, failed=False, mode=PlannerMode.FALLBACK)
    assert drive(memory, rules, 8.0).mode is PlannerMode.NOMINAL
    assert not memory.recovering


def test_idle_cycles_neither_heal_nor_harm() -> None:
    memory = PlannerMemory()
    for _ in range(3):
        cycle(memory, failed=True)
    cycle(memory, failed=False, mode=PlannerMode.IDLE)
    assert (memory.failures, memory.good_cycles) == (3, 0)
    cycle(memory, failed=True, mode=PlannerMode.IDLE)
    assert memory.failures == 3


def test_the_action_fails_after_n2_cycles_and_the_next_one_begins_afresh() -> None:
    memory, rules = PlannerMemory(), PlannerRules(failures_until_give_up=5)
    for _ in range(4):
        cycle(memory, failed=True)
    assert not drive(memory, rules).give_up
    cycle(memory, failed=True)
    assert drive(memory, rules).give_up
    memory.new_action()
    assert drive(memory, rules).mode is PlannerMode.NOMINAL


def test_trajectories_fail_m_times_before_the_planner_falls_back() -> None:
    memory, rules = PlannerMemory(), PlannerRules(trajectory_failures_until_fallback=3)
    kinds = (
        Solver.LINE_SEARCH_FAILED,
        Solver.INVALID_TRAJECTORY,
        Solver.UNSATISFIED_CONSTRAINTS,
    )
    modes = []
    for solver in kinds:
        memory.take_trajectory(solver)
        modes.append(drive(memory, rules).mode)
    assert modes == [PlannerMode.NOMINAL, PlannerMode.NOMINAL, PlannerMode.FALLBACK]
    memory.take_trajectory(Solver.OK)
    assert memory.trajectory_failures == 0
