# SPDX-License-Identifier: Apache-2.0
"""The planner manager with real messages: modes, counters, sign of life, and bad input."""

import time

import pytest
from behavior_msgs.msg import PathPlannerHealth, PlannerOperationMode, TrajectoryStatus
from navigation_rig import Rig, rig

from behavior_executor.missions.mission import Code, MissionRequest, code_of
from behavior_executor.missions.report import Report
from behavior_navigation.managers.planner import PlannerManager
from behavior_navigation.rules.state import ActionPhase, Level, PlannerMode
from behavior_ros import ERROR, OK, QOS_COMMAND, STALE, to_time
from behavior_ros.testing import until
from behavior_tree import NodeStatus

HEALTH, TRAJECTORY, MODE = (
    "/path_planner/health",
    "/trajectory_planner/status",
    "/planner_operation_mode",
)
Planner = Rig[PlannerManager]


def said(planner: Planner, name: str, topic: str, message: object, stamp: float) -> None:
    """Publish a stamped message, and wait until it was taken in or left out."""
    cache = planner.manager.inputs[name]

    def count() -> int:
        return cache.sequence + cache.late + cache.duplicates

    before = count()
    message.header.stamp = to_time(stamp)
    planner.world.say(topic, message)
    until(lambda: count() == before + 1, 90.0, name)


def cycle(planner: Planner, stamp: float, failed: bool = False, mode: int = 1, **fields: object):
    status = PathPlannerHealth.FAILURE if failed else PathPlannerHealth.SUCCESS
    message = PathPlannerHealth(status=status, mode_used=mode, **fields)
    said(planner, "path_planner_health", HEALTH, message, stamp)


def trajectory(planner: Planner, stamp: float, status: int = 0) -> None:
    said(planner, "trajectory", TRAJECTORY, TrajectoryStatus(status=status), stamp)


def let_drive(planner: Planner) -> None:
    """Whatever the other managers know is in order."""
    state = planner.state
    state.autonomy.effective = Level.AUTONOMOUS
    state.localization.good = True
    state.action.phase, state.action.route_id = ActionPhase.NAVIGATING, "r1"


def counters(planner: Planner) -> dict[str, float]:
    return {metric.name: metric.value for metric in planner.manager.metrics()}


def test_a_drive_with_failures_reroute_and_recovery() -> None:
    with rig(PlannerManager, "planner:failures_until_reroute:=2") as planner:
        modes = planner.world.hear(PlannerOperationMode, MODE)
        let_drive(planner)
        tree = planner.tree('<selectPlannerMode mode="{mode}" reason="{why}" reroute="{reroute}"/>')
        assert planner.run(tree) is NodeStatus.RUNNING
        assert planner.state.planner.mode is PlannerMode.IDLE
        assert planner.manager.health() == (STALE, "the path planner is silent")
        cycle(planner, 99.9, mode=0)
        trajectory(planner, 99.9)
        planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.NOMINAL
        assert planner.manager.health() == (OK, "works")
        until(lambda: modes and modes[-1].mode == PlannerOperationMode.NOMINAL, 90.0, "NOMINAL")
        planner.wait(0.1)
        cycle(planner, planner.now, failed=True)
        planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.FALLBACK
        assert not planner.ask("rerouteRequested")
        assert not planner.ask("pathPlannerIsHealthy")
        planner.wait(0.1)
        cycle(planner, planner.now, failed=True, mode=2)
        planner.run(tree)
        assert planner.ask("rerouteRequested")
        planner.run(tree)
        assert planner.ask("rerouteRequested"), "until it was asked for"
        planner.state.action.reroutes += 1
        assert not planner.ask("rerouteRequested")
        planner.state.action.route_id = "r2"
        for _ in range(3):
            assert planner.state.planner.mode is PlannerMode.FALLBACK
            planner.wait(0.1)
            cycle(planner, planner.now, mode=2)
            planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.NOMINAL
        figures = counters(planner)
        assert figures["total_path_planning_cycles"] == 6
        assert figures["path_planning_idle_cycles"] == 1
        assert figures["path_planning_nominal_cycles"] == 1
        assert figures["path_planning_fallback_cycles"] == 4
        assert figures["path_planning_reroute_cycles"] == 1
        report = Report()
        planner.manager.describe(report)
        assert report.planner_mode == PlannerMode.NOMINAL


def test_stale_health_idles_and_a_cycle_counts_once() -> None:
    with rig(PlannerManager, "planner:path_planner_health.max_timeout:=0.5") as planner:
        let_drive(planner)
        tree = planner.tree("<selectPlannerMode/>")
        cycle(planner, 100.0)
        for stamp in (100.0, 99.7, 99.9):
            cycle(planner, stamp, failed=True)
        assert counters(planner)["total_path_planning_cycles"] == 1
        for _ in range(5):
            planner.run(tree)
        assert counters(planner)["total_path_planning_cycles"] == 1, "never per tick"
        assert planner.state.planner.mode is PlannerMode.NOMINAL
        planner.wait(0.5)
        planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.NOMINAL, "at the limit"
        planner.wait(0.001)
        planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.IDLE
        assert planner.state.planner.health_fresh is False
        assert "silent" in planner.manager.problem()


def test_a_clock_that_is_set_back_leaves_no_cool_down_and_no_message() -> None:
    with rig(PlannerManager, "planner:failures_until_reroute:=1") as planner:
        let_drive(planner)
        tree = planner.tree("<selectPlannerMode/>")
        cycle(planner, 100.0, failed=True)
        planner.run(tree)
        assert planner.state.planner.reroute_wanted
        planner.state.action.reroutes += 1
        planner.set_time(10.0)
        cache = planner.manager.inputs["path_planner_health"]
        until(lambda: cache.newest() is None, 90.0, "an empty cache")
        cycle(planner, 10.0, failed=True)
        planner.run(tree)
        assert planner.state.planner.reroute_wanted


def test_values_that_do_not_exist_are_counted_and_left_out() -> None:
    with rig(PlannerManager) as planner:
        cycle(planner, 99.0, mode=7)
        said(planner, "path_planner_health", HEALTH, PathPlannerHealth(status=9), 99.1)
        trajectory(planner, 99.0, status=200)
        figures = counters(planner)
        assert figures["malformed_messages"] == 3
        assert figures["total_path_planning_cycles"] == 0


@pytest.mark.parametrize(
    ("status", "counter"),
    [
        (TrajectoryStatus.CONSTRAINT_FAILED, "tp_constraint_failed"),
        (TrajectoryStatus.INVALID_TRAJECTORY, "tp_invalid_trajectory"),
        (TrajectoryStatus.LINE_SEARCH_FAILED, "tp_line_search_failed"),
        (TrajectoryStatus.UNSATISFIED_CONSTRAINTS, "tp_unsatisfied_constraints"),
        (TrajectoryStatus.COST_FAILED, "tp_cost_failed"),
        (TrajectoryStatus.OUT_OF_MEMORY, "tp_out_of_memory"),
    ],
)
def test_every_solver_status(status: int, counter: str) -> None:
    with rig(PlannerManager, "planner:trajectory_failures_until_fallback:=1") as planner:
        let_drive(planner)
        tree = planner.tree("<selectPlannerMode/>")
        cycle(planner, 100.0)
        assert not planner.ask("trajectoryIsValid"), "silent"
        trajectory(planner, 99.9)
        assert planner.ask("trajectoryIsValid")
        trajectory(planner, 100.0, status)
        planner.run(tree)
        memory = status == TrajectoryStatus.OUT_OF_MEMORY
        assert planner.state.planner.mode is (PlannerMode.IDLE if memory else PlannerMode.FALLBACK)
        doubtful = (TrajectoryStatus.CONSTRAINT_FAILED, TrajectoryStatus.COST_FAILED)
        assert planner.ask("trajectoryIsValid") == (status in doubtful)
        assert (planner.manager.health()[0] == ERROR) == memory
        assert counters(planner)[counter] == 1


def test_giving_up_fails_the_mission_and_the_next_one_begins_afresh() -> None:
    with rig(PlannerManager, "planner:failures_until_give_up:=2") as planner:
        let_drive(planner)
        tree = planner.tree("<selectPlannerMode/>")
        cycle(planner, 99.8, failed=True)
        assert planner.run(tree) is NodeStatus.RUNNING
        assert planner.manager.failure() is None
        cycle(planner, 99.9, failed=True)
        assert planner.run(tree) is NodeStatus.FAILURE
        why = planner.manager.failure()
        assert why == "the path planner failed 2 times in a row"
        assert code_of(why) is Code.PLANNER_FAILED
        planner.do(planner.manager.mission_started, MissionRequest("next"))
        assert planner.manager.failure() is None
        assert planner.run(tree) is NodeStatus.RUNNING


def test_the_planner_idles_when_the_tree_is_halted_paused_or_ended() -> None:
    with rig(PlannerManager) as planner:
        modes = planner.world.hear(PlannerOperationMode, MODE)
        let_drive(planner)
        cycle(planner, 100.0)
        tree = planner.tree("<selectPlannerMode/>")
        manager = planner.manager
        for stop in (
            tree.halt_tree,
            manager.mission_paused,
            lambda: manager.mission_ended(Code.SUCCESS),
            lambda: manager.mission_started(MissionRequest("m")),
        ):
            planner.run(tree)
            until(lambda: modes and modes[-1].mode == PlannerOperationMode.NOMINAL, 90.0, "drive")
            planner.do(stop)
            until(lambda: modes[-1].mode == PlannerOperationMode.IDLE, 90.0, "stop")
            assert modes[-1].reason


def test_the_goal_ends_the_choice() -> None:
    with rig(PlannerManager) as planner:
        let_drive(planner)
        cycle(planner, 100.0)
        tree = planner.tree("<selectPlannerMode/>")
        assert planner.run(tree) is NodeStatus.RUNNING
        planner.state.action.goal_reached = True
        assert planner.run(tree) is NodeStatus.SUCCESS
        assert planner.state.planner.mode is PlannerMode.IDLE


def test_modes_set_by_nodes() -> None:
    with rig(PlannerManager) as planner:
        for mode in ("Nominal", "Fallback", "Idle"):
            tree = planner.tree(f'<setPlanner{mode} reason="because"/>')
            assert planner.run(tree) is NodeStatus.SUCCESS
            assert planner.state.planner.mode is PlannerMode[mode.upper()]
            assert planner.state.planner.reason == "because"


def test_localization_and_route_are_looked_at() -> None:
    with rig(PlannerManager) as planner:
        let_drive(planner)
        cycle(planner, 100.0)
        tree = planner.tree("<selectPlannerMode/>")
        planner.state.localization.good = False
        planner.state.localization.bad_for = 2.0
        planner.run(tree)
        assert planner.state.planner.mode is PlannerMode.IDLE
        assert planner.state.planner.reset_wanted
        planner.state.localization.good = True
        planner.state.action.waiting_since = 75.0
        cycle(planner, 100.1, failed=True, reroute_recommended=True)
        planner.run(tree)
        assert "no new route for 25.0 s" in planner.state.planner.reason


def test_the_mode_is_repeated_in_steady_time_while_nothing_ticks() -> None:
    with rig(PlannerManager, "planner:repeat_rate:=50.0") as planner:
        modes = planner.world.hear(PlannerOperationMode, MODE, QOS_COMMAND)
        until(lambda: modes, 90.0, "mode")
        first, begin = len(modes), time.monotonic()
        until(lambda: len(modes) >= first + 50, 90.0, "50 repetitions")
        print(f"50 repetitions in {time.monotonic() - begin:.2f} s")
        assert {message.mode for message in modes} == {PlannerOperationMode.IDLE}
