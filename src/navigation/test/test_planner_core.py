# SPDX-License-Identifier: Apache-2.0
"""The planner's choice fed through real caches: any order of messages, ticks and missions."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from behavior_navigation.rules.planner_core import PlannerCore
from behavior_navigation.rules.planner_mode import PlannerRules, Solver
from behavior_navigation.rules.state import ActionPhase, Level, NavigationState, PlannerMode
from behavior_ros import NewestEntry


class Robot:
    """Core and caches, as the manager has them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.state = NavigationState()
        self.health: NewestEntry[object] = NewestEntry(1.0)
        self.trajectory: NewestEntry[object] = NewestEntry(1.0)
        self.published: list[PlannerMode] = []
        self.cycles = 0
        self.core = PlannerCore(
            self.state,
            PlannerRules(failures_until_reroute=2, failures_until_give_up=4, reroute_cooldown=2.0),
            health_fresh=lambda: self.health.fresh(self.now),
            trajectory_fresh=lambda: self.trajectory.fresh(self.now),
            publish=lambda: self.published.append(self.state.planner.mode),
        )
        self.state.autonomy.effective = Level.AUTONOMOUS
        self.state.localization.good = True
        self.state.action.phase, self.state.action.route_id = ActionPhase.NAVIGATING, "r"

    def hear_health(self, age: float, failed: bool, recommended: bool, mode: PlannerMode) -> None:
        if self.health.offer(None, self.now, self.now - age):
            self.cycles += 1
            self.core.take_health(failed, recommended, mode)

    def hear_trajectory(self, age: float, solver: Solver) -> None:
        if self.trajectory.offer(None, self.now, self.now - age):
            self.core.memory.take_trajectory(solver)

    def tick(self) -> None:
        self.state.now = self.now
        self.core.pre_tick(self.now)
        self.core.select()


# Ages on a grid, so that stamps coincide and arrive in disorder.
AGES = st.integers(0, 8).map(lambda steps: 0.25 * steps)
EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("health"), AGES, st.booleans(), st.booleans(), st.sampled_from(PlannerMode)
        ),
        st.tuples(st.just("trajectory"), AGES, st.sampled_from(Solver)),
        st.tuples(st.just("wait"), AGES),
        st.tuples(st.sampled_from(("tick", "begin", "end", "lose", "find"))),
    ),
    max_size=60,
)


@given(EVENTS)
def test_invariants_in_any_order(events: list[tuple]) -> None:
    robot, rerouted = Robot(), []
    for kind, *values in events:
        if kind == "health":
            robot.hear_health(*values)
        elif kind == "trajectory":
            robot.hear_trajectory(*values)
        elif kind == "wait":
            robot.now += values[0]
        elif kind == "tick":
            robot.tick()
            if robot.core.decision.reroute:
                rerouted.append(robot.now)
        elif kind in ("begin", "end"):
            (robot.core.begin_action if kind == "begin" else lambda: robot.core.idle("ended"))()
            assert robot.state.planner.mode is PlannerMode.IDLE
            rerouted = [] if kind == "begin" else rerouted
        else:
            robot.state.localization.good = kind == "find"
        counters = robot.core.memory.counters
        assert counters.total_path_planning_cycles == robot.cycles
        assert counters.path_planning_reroute_cycles <= robot.cycles
        if kind == "tick" and robot.state.planner.mode is not PlannerMode.IDLE:
            assert robot.health.fresh(robot.now)
            assert robot.state.localization.good
        assert all(later - sooner >= 2.0 for sooner, later in pairwise(rerouted))
        assert (robot.published or [PlannerMode.IDLE])[-1] is robot.state.planner.mode
    heard = sum(event[0] == "health" for event in events)
    assert robot.cycles + robot.health.late + robot.health.duplicates == heard


def test_silence_names_the_modules_that_are_switched_off() -> None:
    """As after an executor was restarted in the middle of a change of the map."""
    robot = Robot()
    robot.tick()
    assert robot.state.planner.reason == "the path planner is silent"
    robot.state.entities = {"egm": True, "rpp": False, "tp": None}
    robot.tick()
    assert robot.state.planner.reason == (
        "the path planner is silent; switched off: rpp: load the map (LOAD_MAP), which switches "
        "them on again"
    )
