# SPDX-License-Identifier: Apache-2.0
"""The navigation trees, tick by tick, on the executor's core in a fake world."""

from navigation_bench import NavigationBench

from behavior_executor.missions import Code, State
from behavior_executor.navigation.state import ActionPhase, PlannerMode


def test_drives_to_the_goal_and_stops_there() -> None:
    bench = NavigationBench()
    mission = bench.go(5.0, 2.0)
    bench.until(lambda: bench.state.action.phase is ActionPhase.WAIT_ROUTE)
    assert bench.state.planner.mode is PlannerMode.IDLE
    bench.until(lambda: bench.state.planner.mode is PlannerMode.NOMINAL)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(bench.state.action.goal_in_map) <= 0.25
    assert bench.state.planner.mode is PlannerMode.IDLE
    assert (bench.action.executed, bench.action.completed) == (1, 1)
    assert len(bench.world.questions) == 1
    assert mission.state is State.FINISHED
