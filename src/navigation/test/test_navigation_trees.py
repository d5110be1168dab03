# SPDX-License-Identifier: Apache-2.0
"""The navigation trees, tick by tick, on the executor's core in a fake world."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from navigation_bench import NAMES, SPEED, NavigationBench

from behavior_executor.missions.mission import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
)
from behavior_executor.missions.report import Report
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_navigation.rules.action_core import ActionRules
from behavior_navigation.rules.calls import CallResult
from behavior_navigation.rules.map_change import TileRequest
from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.regions import Region, RegionIndex
from behavior_navigation.rules.route_exchange import RouteCause
from behavior_navigation.rules.state import ActionPhase, Level, MapPhase, PlannerMode
from behavior_navigation.rules.tiles import Tile, TileRule
from behavior_tree import NodeExecutionError, NodeStatus

IDLE, NOMINAL, FALLBACK = PlannerMode.IDLE, PlannerMode.NOMINAL, PlannerMode.FALLBACK


@pytest.fixture
def bench() -> NavigationBench:
    return NavigationBench()


def driving(bench: NavigationBench) -> bool:
    return bench.state.planner.mode is not IDLE


def causes(bench: NavigationBench) -> list[RouteCause]:
    return [question.cause for question in bench.world.questions]


# -- driving ---------------------------------------------------------------------------------------


def test_drives_to_the_goal_and_stops_there(bench: NavigationBench) -> None:
    mission = bench.go(5.0, 2.0)
    bench.until(lambda: bench.state.action.phase is ActionPhase.WAIT_ROUTE)
    assert not driving(bench)
    bench.until(lambda: bench.state.planner.mode is NOMINAL)
    assert bench.state.action.phase is ActionPhase.NAVIGATING
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(5.0, 2.0)) <= 0.25
    assert not driving(bench)
    assert (bench.action.executed, bench.action.completed) == (1, 1)
    assert causes(bench) == [RouteCause.NEW_ACTION]
    assert bench.world.resets == 1
    assert mission.state is State.FINISHED


def test_progress_is_told(bench: NavigationBench) -> None:
    mission = bench.go(5.0)
    assert bench.action.progress == -1.0
    told = []
    while not mission.is_final:
        bench.tick()
        told.append(bench.action.progress)
    known = [value for value in told if value >= 0.0]
    assert known == sorted(known)
    assert known[0] < 0.2
    assert known[-1] == 1.0
    assert bench.state.action.distance_remaining == 0.0


@pytest.mark.slow
def test_one_mission_after_the_other(bench: NavigationBench) -> None:
    for number, x in enumerate((3.0, -2.0, 4.0), 1):
        assert bench.finish(bench.go(x)) is Code.SUCCESS
        assert bench.action.completed == bench.action.executed == number
        assert bench.world.robot.distance(Pose2D(x)) <= 0.25


def test_a_route_that_comes_with_the_action_is_driven_as_it_is(bench: NavigationBench) -> None:
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (4.0, 3.0)]
    route = tuple(FramedPose("map", Pose2D(x, y)) for x, y in corners)
    mission = bench.submit(Kind.FOLLOW_ROUTE, route=route)
    places = []
    while not mission.is_final:
        bench.tick()
        places.append((bench.world.robot.x, bench.world.robot.y))
    assert mission.code is Code.SUCCESS
    assert bench.world.questions == []
    assert min(math.dist(place, (2.0, 0.0)) for place in places) < 0.2
    assert min(math.dist(place, (2.0, 3.0)) for place in places) < 0.2


ROUTES = {
    "there and back": [(0, 0), (3, 0), (0, 0)],
    "loop": [(0, 0), (2.5, 0), (2.5, 2), (0, 2), (0, 0)],
    "far there and back": [(0, 0), (8, 0), (0, 0)],
    "two loops": [(0, 0), (2, 0), (2, 2), (0, 2)] * 2 + [(0, 0)],
    "eight": [(0, 0), (2, 2), (4, 0), (4, 2), (2, 0), (0, 2), (0, 0)],
    "the same way three times": [(0, 0), (2, 0)] * 3,
    "not at its beginning": [(1.5, 0), (3, 0), (0, 0)],
}


def follow(bench: NavigationBench, corners: list, frame: str = "map") -> Mission:
    route = tuple(FramedPose(frame, Pose2D(x, y)) for x, y in corners)
    return bench.submit(Kind.FOLLOW_ROUTE, route=route)


def passed_in_order(track: list, corners: list, reach: float = 0.2) -> bool:
    """Whether a track of places comes by every point of a route, one after the other."""
    places = iter(track)
    line = Polyline(corners)
    return all(
        any(math.dist(place, line.point(s)) <= reach for place in places)
        for s in np.arange(0.0, line.length, 0.4)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUTES)
def test_a_route_that_folds_or_crosses_itself_is_driven_to_its_end(
    bench: NavigationBench, name: str
) -> None:
    corners = ROUTES[name]
    mission = follow(bench, corners)
    track, told = [], []
    while not mission.is_final:
        bench.tick()
        track.append((bench.world.robot.x, bench.world.robot.y))
        told.append(bench.action.progress)
    assert mission.code is Code.SUCCESS
    assert passed_in_order(track, corners)
    driven = sum(math.dist(a, b) for a, b in pairwise(track))
    assert driven >= Polyline(corners).length - 0.4
    known = [value for value in told if value >= 0.0]
    assert known == sorted(known)
    half = known[len(known) // 2]
    assert 0.3 < half < 0.7


@pytest.mark.slow
def test_a_change_of_the_map_on_the_way_begins_no_route_anew(bench: NavigationBench) -> None:
    mission = follow(bench, [(0, 0), (4, 0), (0, 0), (4, 0)])
    bench.until(lambda: 5.0 < bench.state.action.distance_remaining < 6.0)
    ask_for_tile(bench)
    bench.until(lambda: bench.state.map.tile_id == "east")
    begin = bench.world.time
    assert bench.finish(mission) is Code.SUCCESS
    assert 4.5 < (bench.world.time - begin) * SPEED < 8.0


@pytest.mark.slow
def test_a_blocked_piece_of_a_given_route_is_driven_around_and_no_more(
    bench: NavigationBench,
) -> None:
    """The detour leads back to the route; the rest of it is driven, and what was left out told."""
    corners = [(0, 0), (4, 0), (8, 0), (8, 3), (0, 3), (0, 0)]
    mission = follow(bench, corners)
    bench.until(lambda: bench.world.robot.x > 2.0)
    bench.world.planning_fails, bench.world.detour = True, -1.5
    bench.until(lambda: bench.world.questions)
    assert bench.world.questions[-1].goal.distance(Pose2D(8.0, 0.0)) < 1e-6
    bench.until(lambda: bench.state.action.route_length > 20.0)
    bench.world.planning_fails = False
    track = []
    while not mission.is_final:
        bench.tick()
        track.append((bench.world.robot.x, bench.world.robot.y))
    assert mission.code is Code.SUCCESS
    assert passed_in_order(track, corners[2:])
    assert mission.text in [
        f"done, but for {x} m of the route that were blocked" for x in (5.9, 6.0)
    ]


def test_a_robot_far_from_its_route_is_led_to_its_beginning(bench: NavigationBench) -> None:
    bench.world.robot = Pose2D(0.0, 6.0)
    mission = follow(bench, [(5, 0), (9, 0), (5, 0)])
    bench.until(lambda: bench.world.questions)
    assert bench.world.questions[0].goal.distance(Pose2D(5.0, 0.0)) < 1e-6
    track = []
    while not mission.is_final:
        bench.tick()
        track.append((bench.world.robot.x, bench.world.robot.y))
    assert mission.code is Code.SUCCESS
    assert passed_in_order(track, [(5, 0), (9, 0), (5, 0)])


def test_a_route_that_moves_with_its_frame_is_driven_on_where_it_was(
    bench: NavigationBench,
) -> None:
    bench.world.frames["cart"] = Pose2D()
    mission = follow(bench, [(0, 0), (4, 0), (0, 0)], "cart")
    bench.until(lambda: 2.0 < bench.state.action.distance_remaining < 3.0)
    bench.world.frames["cart"] = Pose2D(0.0, 0.5)
    begin = bench.world.time
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.questions == []
    assert (bench.world.time - begin) * SPEED < 5.0
    assert bench.world.robot.distance(Pose2D(0.0, 0.5)) < 0.25


def test_a_route_in_a_frame_that_is_not_known_yet_is_waited_for(bench: NavigationBench) -> None:
    route = tuple(FramedPose("cart", Pose2D(x)) for x in (0.0, 2.0))
    mission = bench.submit(Kind.FOLLOW_ROUTE, route=route)
    bench.run(2.0)
    assert bench.state.action.phase is ActionPhase.ACCEPTED
    bench.world.frames["cart"] = Pose2D(1.0)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.x == pytest.approx(3.0, abs=0.25)


def test_a_route_planner_that_cannot_be_reset_is_no_reason_to_give_up(
    bench: NavigationBench,
) -> None:
    bench.world.reset_answer = None
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS


# -- routes ----------------------------------------------------------------------------------------


def test_a_route_within_the_threshold_is_taken(bench: NavigationBench) -> None:
    bench.world.route_delay = 19.9
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS
    assert causes(bench) == [RouteCause.NEW_ACTION] + 4 * [RouteCause.RETRY]


def test_without_a_route_the_action_fails_after_the_threshold(bench: NavigationBench) -> None:
    bench.world.route_delay = 20.2
    mission = bench.go(3.0)
    bench.until(lambda: bench.world.questions)
    waited = bench.until(lambda: mission.is_final)
    assert waited == pytest.approx(20.1, abs=0.11)
    assert mission.code is Code.NO_ROUTE
    assert "did not answer" in mission.text
    assert bench.world.maneuvers == []
    assert bench.state.action.phase is ActionPhase.FAILED
    assert (bench.action.executed, bench.action.completed) == (1, 0)


def test_why_there_is_no_route_is_told(bench: NavigationBench) -> None:
    bench.world.route_refusal = "the goal is in a wall"
    mission = bench.go(3.0)
    assert bench.finish(mission) is Code.NO_ROUTE
    assert "the goal is in a wall" in mission.text


def test_nobody_waits_for_a_route_while_the_robot_must_not_drive(bench: NavigationBench) -> None:
    bench.world.route_delay = None
    mission = bench.go(3.0)
    bench.run(15.0)
    bench.state.autonomy.effective = Level.MANUAL
    bench.run(30.0)
    bench.state.autonomy.effective = Level.AUTONOMOUS
    bench.run(19.0)
    assert not mission.is_final
    bench.run(2.0)
    assert mission.code is Code.NO_ROUTE


def test_a_blocked_way_is_left_for_another_route(bench: NavigationBench) -> None:
    bench.world.edges = ("a-b",)
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.planning_fails = True
    bench.world.detour = 2.0
    bench.until(lambda: RouteCause.REROUTE in causes(bench), 2.0)
    assert bench.state.planner.mode is FALLBACK
    assert bench.world.questions[-1].avoid_edges == ("a-b",)
    bench.until(lambda: bench.state.action.route_length > 7.5, 2.0)
    bench.world.planning_fails = False
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.state.action.reroutes == 1
    assert causes(bench).count(RouteCause.REROUTE) == 1


def test_only_the_edges_ahead_are_avoided(bench: NavigationBench) -> None:
    """The route is: robot, a, b, c, goal; the pieces at its ends are no edges."""
    bench.world.corners = ((2.0, 0.0), (4.0, 0.0), (8.0, 0.0))
    bench.world.edges = ("a-b", "b-c")
    bench.go(12.0)
    bench.until(lambda: bench.world.robot.x > 4.5)
    bench.world.planning_fails = True
    bench.until(lambda: RouteCause.REROUTE in causes(bench), 2.0)
    assert bench.world.questions[-1].avoid_edges == ("b-c",)


def test_a_mission_of_another_kind_is_no_action(bench: NavigationBench) -> None:
    assert bench.finish(bench.go(2.0)) is Code.SUCCESS
    bench.action.mission_started(MissionRequest("other", Kind.RUN_BEHAVIOR, name="stack"))
    assert bench.state.action.phase is ActionPhase.IDLE
    bench.world.localized = False
    bench.world.step()
    assert bench.action.failure() is None


def test_other_routes_are_asked_for_in_moderation(bench: NavigationBench) -> None:
    bench.planner.rules = type(bench.planner.rules)(
        failures_until_reroute=3, failures_until_give_up=10**6
    )
    bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.planning_fails = True
    bench.run(20.0)
    assert 3 <= causes(bench).count(RouteCause.REROUTE) <= 5


def test_a_way_that_clears_up_needs_no_other_route(bench: NavigationBench) -> None:
    mission = bench.go(30.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.route_delay = None
    bench.world.planning_fails = True
    bench.until(lambda: RouteCause.REROUTE in causes(bench), 2.0)
    bench.world.planning_fails = False
    assert bench.finish(mission) is Code.SUCCESS


def test_a_planner_that_keeps_failing_ends_the_action(bench: NavigationBench) -> None:
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.planning_fails = True
    assert bench.finish(mission) is Code.PLANNER_FAILED
    assert "40 times" in mission.text
    assert not driving(bench)
    bench.world.planning_fails = False
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS


# -- goals that move -------------------------------------------------------------------------------


def test_a_goal_that_moves_gets_a_new_route_while_the_robot_drives_on(
    bench: NavigationBench,
) -> None:
    bench.world.frames["cart"] = Pose2D(6.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.route_delay = 1.0
    bench.world.frames["cart"] = Pose2D(6.0, 3.0)
    bench.until(lambda: RouteCause.GOAL_MOVED in causes(bench), 1.0)
    x = bench.world.robot.x
    for _ in range(8):
        bench.tick()
        assert bench.state.planner.mode is NOMINAL
    assert bench.world.robot.x > x + 0.5 * SPEED
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(6.0, 3.0)) <= 0.25
    assert causes(bench) == [RouteCause.NEW_ACTION, RouteCause.GOAL_MOVED]
    assert bench.state.action.reroutes == 1


def test_a_goal_that_moves_away_in_the_last_moment_is_not_reached(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(3.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.action._check._ticks == 1)  # the next tick would be the last one
    bench.world.frames["cart"] = Pose2D(3.0, 4.0)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(3.0, 4.0)) <= 0.25


def test_the_old_place_of_a_goal_is_not_the_goal(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(3.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.route_delay = 8.0
    bench.world.frames["cart"] = Pose2D(6.0)
    bench.until(lambda: bench.world.robot.x > 2.95)
    bench.run(2.0)
    assert not mission.is_final  # it stands where the goal was, and waits
    assert bench.world.maneuvers[-1].goal.x == pytest.approx(3.0)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.x == pytest.approx(6.0, abs=0.25)


def test_a_goal_that_trembles_gets_no_new_route(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(5.0)
    mission = bench.go(0.0, frame="cart")
    while not mission.is_final:
        bench.world.frames["cart"] = Pose2D(5.0 + 0.15 * math.sin(30.0 * bench.world.time))
        bench.tick()
    assert causes(bench) == [RouteCause.NEW_ACTION]


@pytest.mark.slow
def test_a_goal_whose_frame_is_lost_fails(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(20.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.world.robot.x > 1.0)
    del bench.world.frames["cart"]
    assert bench.until(lambda: mission.is_final) == pytest.approx(3.1, abs=0.15)
    assert mission.code is Code.GOAL_FRAME_LOST
    assert "'cart'" in mission.text
    assert not driving(bench)


def test_a_goal_whose_frame_never_was_known_fails(bench: NavigationBench) -> None:
    mission = bench.go(0.0, frame="nowhere")
    assert bench.finish(mission) is Code.GOAL_FRAME_LOST
    assert bench.world.questions == []


def test_a_goal_whose_frame_is_missing_for_a_moment(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(6.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.world.robot.x > 1.0)
    del bench.world.frames["cart"]
    bench.run(2.5)
    assert driving(bench)
    bench.world.frames["cart"] = Pose2D(6.0)
    assert bench.finish(mission) is Code.SUCCESS


def test_a_goal_seen_from_the_robot_does_not_move_with_it(bench: NavigationBench) -> None:
    bench.world.robot = Pose2D(1.0, 1.0, math.pi / 2.0)
    bench.world.frame_in_map = lambda frame: (
        bench.state.localization.pose if frame == "base_link" else Pose2D()
    )
    mission = bench.go(3.0, frame="base_link")
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(1.0, 4.0)) <= 0.25
    assert causes(bench) == [RouteCause.NEW_ACTION]


# -- gates -----------------------------------------------------------------------------------------


def stands(bench: NavigationBench, seconds: float) -> None:
    """From the next tick on nothing drives, and no maneuver is published."""
    bench.tick()
    place, told = bench.world.robot, len(bench.world.maneuvers)
    for _ in range(round(10 * seconds)):
        assert not driving(bench)
        bench.tick()
    assert bench.world.robot == place
    assert len(bench.world.maneuvers) == told


def test_a_localization_that_comes_back_by_itself_is_not_reset(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.localized = False
    stands(bench, 1.5)
    bench.world.localized = True
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.localization_resets == 0
    assert causes(bench) == [RouteCause.NEW_ACTION]


def test_a_lost_localization_is_reset_once(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.localized = False
    stands(bench, 2.2)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.localization_resets == 1


def test_a_localization_that_stays_lost_is_sought_anew_and_fails(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.localized = bench.world.relocalizes = False
    stands(bench, 31.0)
    assert bench.finish(mission) is Code.LOCALIZATION_LOST
    assert "doubts" in mission.text
    assert bench.world.localization_resets == 3, "a search may have failed of what is over now"


def test_a_localizer_that_cannot_be_reset_fails(bench: NavigationBench) -> None:
    bench.world.localized = bench.world.relocalizes = False
    bench.world.localization_answer = CallResult(False, "switched off")
    assert bench.finish(bench.go(6.0)) is Code.LOCALIZATION_LOST


def test_pause_and_resume(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.control(Kind.PAUSE)
    assert not driving(bench)
    stands(bench, 60.0)
    assert bench.state.action.phase is ActionPhase.NAVIGATING
    bench.control(Kind.RESUME)
    assert bench.finish(mission) is Code.SUCCESS
    assert causes(bench) == [RouteCause.NEW_ACTION]
    assert (bench.action.executed, bench.action.completed) == (1, 1)


def test_pause_while_waiting_for_a_route(bench: NavigationBench) -> None:
    bench.world.route_delay = None
    mission = bench.go(6.0)
    bench.run(10.0)
    bench.control(Kind.PAUSE)
    stands(bench, 30.0)
    bench.world.route_delay = 0.2
    bench.control(Kind.RESUME)
    assert bench.finish(mission) is Code.SUCCESS


def test_a_goal_that_moves_during_a_pause(bench: NavigationBench) -> None:
    bench.world.frames["cart"] = Pose2D(6.0)
    mission = bench.go(0.0, frame="cart")
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.control(Kind.PAUSE)
    bench.world.frames["cart"] = Pose2D(0.0, 4.0)
    stands(bench, 5.0)
    bench.control(Kind.RESUME)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(0.0, 4.0)) <= 0.25


def test_cancel(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.control(Kind.CANCEL)
    assert mission.code is Code.CANCELED_BY_CLIENT
    assert bench.state.action.phase is ActionPhase.CANCELED
    stands(bench, 1.0)
    assert (bench.action.executed, bench.action.completed) == (1, 0)
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS


def test_a_new_action_takes_the_place_of_the_old_one(bench: NavigationBench) -> None:
    first = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    second = bench.go(1.0, 4.0)
    assert first.code is Code.REPLACED
    assert bench.finish(second) is Code.SUCCESS
    assert bench.world.robot.distance(Pose2D(1.0, 4.0)) <= 0.25
    assert (bench.action.executed, bench.action.completed) == (2, 1)
    assert bench.world.resets == 2


@pytest.mark.slow
@pytest.mark.parametrize("level", [Level.MANUAL, Level.TELEOPERATION, Level.HALTED])
def test_without_autonomy_the_robot_waits(bench: NavigationBench, level: Level) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.state.autonomy.effective = level
    stands(bench, 40.0)
    bench.state.autonomy.effective = Level.AUTONOMOUS
    assert bench.finish(mission) is Code.SUCCESS


def test_a_lost_deadman_switch_stops_the_robot(bench: NavigationBench) -> None:
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.state.autonomy.deadman_alive = False
    stands(bench, 2.0)
    bench.state.autonomy.deadman_alive = True
    assert bench.finish(mission) is Code.SUCCESS


def test_halting_the_tree_makes_the_planner_idle(bench: NavigationBench) -> None:
    bench.go(6.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    assert driving(bench)
    bench.run_now.halt()
    assert not driving(bench)
    assert "does not drive" in bench.state.planner.reason


# -- maps ------------------------------------------------------------------------------------------


def ask_for_tile(bench: NavigationBench, tile: str = "east") -> None:
    bench.change.request(TileRequest(tile, id=1))


def test_a_change_of_the_map_on_the_way(bench: NavigationBench) -> None:
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    ask_for_tile(bench)
    orders = []
    for module, name in zip(bench.world.modules.values(), NAMES, strict=True):
        module.set = lambda on, name=name, plain=module.set: (orders.append((name, on)), plain(on))[
            1
        ]
    phases = []
    while bench.state.map.tile_id != "east":
        bench.tick()
        if bench.state.map.changing:
            assert not driving(bench)
            phases.append(bench.state.map.phase)
    assert phases[0] is MapPhase.DISABLING
    assert {MapPhase.LOADING, MapPhase.WAIT_LOCALIZATION, MapPhase.ENABLING} <= set(phases)
    assert phases == sorted(phases)
    off, on = orders[:4], orders[4:]
    assert off == [(name, False) for name in reversed(NAMES)]
    assert on == [(name, True) for name in NAMES]
    assert bench.world.localization_resets == 1
    assert bench.world.resets == 2
    assert len(bench.world.republished) == 1
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.phases_at_maneuvers == {MapPhase.IDLE}
    assert causes(bench) == 2 * [RouteCause.NEW_ACTION]


@pytest.mark.slow
def test_the_map_changes_where_the_way_leaves_the_tile() -> None:
    tiles = (Tile("west", -5, -5, 6, 5), Tile("east", 3, -5, 15, 5))
    bench = NavigationBench(rules=ActionRules(tiles=TileRule(tiles, lookahead=1.0)))
    bench.world.map_id = "west"
    mission = bench.go(12.0)
    bench.until(lambda: bench.state.map.changing)
    assert 4.5 < bench.world.robot.x < 6.0
    assert all(told.path[:, 0].max() < 6.0 for told in bench.world.maneuvers)
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.tiles == ["east"]
    assert bench.state.map.tile_id == "east"
    back = bench.go(0.0)
    assert bench.finish(back) is Code.SUCCESS
    assert bench.world.tiles == ["east", "west"]


def spoil(bench: NavigationBench, phase: MapPhase) -> None:
    """Have a phase of the change fail."""
    world = bench.world
    if phase is MapPhase.DISABLING:
        world.modules["rpp"].silent = True
    elif phase is MapPhase.LOADING:
        world.load_refusal = "the disk is full"
    elif phase is MapPhase.REPUBLISH:
        world.load_delay = None  # no answer at all
    elif phase is MapPhase.RESET_ROUTE:
        world.reset_answer = CallResult(False, "busy")
    elif phase is MapPhase.RESET_LOCALIZATION:
        world.localization_answer = CallResult(False, "switched off")
    elif phase is MapPhase.WAIT_LOCALIZATION:
        world.localized = world.relocalizes = False
    else:
        world.modules["sdm"].refuses = "unconfigured"


def mend(bench: NavigationBench) -> None:
    world = bench.world
    for module in world.modules.values():
        module.silent, module.refuses = False, ""
    world.load_refusal, world.load_delay = "", 0.5
    world.reset_answer, world.localization_answer = CallResult(True), CallResult(True)
    world.localized = world.relocalizes = True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        (MapPhase.DISABLING, "rpp was not disabled"),
        (MapPhase.LOADING, "the disk is full"),
        (MapPhase.REPUBLISH, "did not answer within"),
        (MapPhase.RESET_ROUTE, "busy"),
        (MapPhase.RESET_LOCALIZATION, "switched off"),
        (MapPhase.WAIT_LOCALIZATION, "no good place in the new map"),
        (MapPhase.ENABLING, "sdm was not enabled: unconfigured"),
    ],
)
def test_each_phase_of_a_change_failing(
    bench: NavigationBench, phase: MapPhase, reason: str
) -> None:
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    ask_for_tile(bench)
    begun = MapPhase.LOADING if phase is MapPhase.ENABLING else MapPhase.DISABLING
    bench.until(lambda: bench.state.map.phase is begun)
    spoil(bench, phase)
    assert bench.finish(mission) is Code.MAP_FAILED
    assert reason in mission.text
    assert bench.state.map.phase is MapPhase.FAILED
    off = [name for name, module in bench.world.modules.items() if not module.on]
    silent = ["egm", "rpp"] if phase is MapPhase.DISABLING else []  # what could not be asked
    assert off == [name for name in NAMES if name not in silent]
    stands(bench, 3.0)
    assert bench.world.phases_at_maneuvers == {MapPhase.IDLE}
    # The next mission tries again.
    mend(bench)
    assert bench.finish(bench.go(8.0)) is Code.SUCCESS
    assert bench.state.map.tile_id == "east"
    assert all(module.on for module in bench.world.modules.values())


def test_a_mission_cancelled_during_a_change(bench: NavigationBench) -> None:
    bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    ask_for_tile(bench)
    bench.until(lambda: bench.state.map.phase is MapPhase.LOADING)
    bench.control(Kind.CANCEL)
    assert bench.state.map.phase is MapPhase.FAILED
    stands(bench, 2.0)
    assert bench.finish(bench.go(8.0)) is Code.SUCCESS
    assert bench.state.map.tile_id == "east"


def test_a_change_that_is_interrupted_begins_anew(bench: NavigationBench) -> None:
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    ask_for_tile(bench)
    bench.until(lambda: bench.state.map.phase is MapPhase.LOADING)
    bench.state.autonomy.effective = Level.MANUAL
    stands(bench, 3.0)
    assert bench.state.map.changing
    bench.state.autonomy.effective = Level.AUTONOMOUS
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.state.map.tile_id == "east"
    assert len(bench.world.loads) == 2


def test_load_map() -> None:
    bench = NavigationBench()
    mission = bench.submit(Kind.LOAD_MAP, map_id="east")
    bench.tick()
    assert bench.state.action.phase is ActionPhase.TILE_LOADING
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.state.map.tile_id == "east"
    again = bench.submit(Kind.LOAD_MAP, map_id="east")
    assert bench.finish(again) is Code.SUCCESS
    assert len(bench.world.loads) == 1  # it was there already
    bench.world.load_refusal = "no such tile"
    moon = bench.submit(Kind.LOAD_MAP, map_id="moon")
    assert bench.finish(moon) is Code.MAP_FAILED
    assert "no such tile" in moon.text
    bench.world.load_refusal = ""
    west = bench.submit(Kind.LOAD_MAP, map_id="west")
    assert bench.finish(west) is Code.SUCCESS
    assert bench.state.map.tile_id == "west"
    assert (bench.action.executed, bench.action.completed) == (4, 3)


def test_a_map_is_loaded_only_if_it_is_the_one_that_was_asked_for() -> None:
    bench = NavigationBench()
    mission = bench.submit(Kind.LOAD_MAP, map_id="east")
    bench.until(lambda: bench.state.map.phase is MapPhase.LOADING)
    bench.change.request(TileRequest("west", id=5))
    assert bench.finish(mission) is Code.MAP_FAILED
    assert "tile 'west' is in force, not 'east'" in mission.text
    assert bench.state.map.phase is MapPhase.IDLE
    assert bench.finish(bench.submit(Kind.LOAD_MAP, map_id="east")) is Code.SUCCESS


def test_a_tile_that_the_loader_does_not_know_changes_nothing(bench: NavigationBench) -> None:
    mission = bench.submit(Kind.LOAD_MAP, map_id="moon")
    bench.world.load_refusal = "unknown tile 'moon': choose among east, west"
    assert bench.finish(mission) is Code.MAP_FAILED
    assert "choose among" in mission.text
    assert bench.state.map.phase is MapPhase.IDLE
    assert all(module.on for module in bench.world.modules.values())
    assert bench.finish(bench.go(4.0)) is Code.SUCCESS
    assert len(bench.world.loads) == 1
    bench.world.load_refusal = ""
    assert bench.finish(bench.submit(Kind.LOAD_MAP, map_id="east")) is Code.SUCCESS
    assert bench.state.map.tile_id == "east"


def test_an_unknown_tile_asked_for_on_the_way_is_no_end_of_the_drive(
    bench: NavigationBench,
) -> None:
    mission = bench.go(8.0)
    bench.until(lambda: bench.world.robot.x > 1.0)
    bench.world.load_refusal = "unknown tile"
    ask_for_tile(bench, "moon")
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.world.loads[0][1] == "moon"


def tiled() -> NavigationBench:
    tiles = (Tile("west", -5, -5, 6, 5), Tile("east", 3, -5, 15, 5))
    bench = NavigationBench(rules=ActionRules(tiles=TileRule(tiles, lookahead=1.0)))
    bench.world.map_id = "west"
    return bench


@pytest.mark.slow
def test_a_tile_that_the_way_needs_and_nobody_knows_ends_the_drive() -> None:
    bench = tiled()
    bench.world.load_refusal = "unknown tile 'east'"
    mission = bench.go(12.0)
    assert bench.finish(mission) is Code.MAP_FAILED
    assert "unknown tile 'east'" in mission.text
    bench.world.robot = Pose2D()
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": Kind.LOAD_MAP, "map_id": "moon"}, "no tile 'moon': choose among east, west"),
        ({"goal": Pose2D(20.0, 0.0)}, "the goal (20.00, 0.00) lies outside of the map: 'west' is"),
        ({"goal": Pose2D(1e300, 0.0)}, "the goal is on no map"),
        ({"goal": Pose2D(math.nan, 0.0)}, "the goal is on no map"),
        ({"goal": Pose2D(0.0, -1e7), "frame": "nowhere"}, "the goal is on no map"),
        ({"route": [Pose2D(1.0), Pose2D(2.0, 9.0)]}, "pose 2 of the route (2.00, 9.00) lies"),
    ],
)
def test_what_is_on_no_map_is_refused_at_once(fields: dict, words: str) -> None:
    bench = tiled()
    frame = fields.pop("frame", "map")
    kind = fields.pop("kind", Kind.FOLLOW_ROUTE if "route" in fields else Kind.NAVIGATE_TO_POSE)
    if "goal" in fields:
        fields["goal"] = FramedPose(frame, fields["goal"])
    if "route" in fields:
        fields["route"] = tuple(FramedPose(frame, pose) for pose in fields["route"])
    with pytest.raises(MissionError) as caught:
        bench.submit(kind, **fields)
    assert caught.value.code is Code.INVALID_REQUEST
    assert words in str(caught.value)
    assert bench.state.map.phase is MapPhase.IDLE
    assert bench.finish(bench.go(4.0)) is Code.SUCCESS


def test_load_map_without_a_localization() -> None:
    bench = NavigationBench()
    bench.world.localized = False
    assert bench.finish(bench.submit(Kind.LOAD_MAP, map_id="east")) is Code.SUCCESS


def test_without_a_tile_loader() -> None:
    bench = NavigationBench(tile_loader=False)
    ask_for_tile(bench)
    assert bench.finish(bench.go(3.0)) is Code.SUCCESS
    assert bench.world.loads == []
    mission = bench.submit(Kind.LOAD_MAP, map_id="east")
    assert bench.finish(mission) is Code.MAP_FAILED
    assert "use_tile_loader" in mission.text


# -- variants --------------------------------------------------------------------------------------


def region(kind: int) -> RegionIndex:
    corners = [[4.0, -1.0], [5.0, -1.0], [5.0, 1.0], [4.0, 1.0]]
    return RegionIndex([Region("lab", kind, np.array(corners), 0.0)])


@pytest.mark.slow
def test_semantic_drives_around_forbidden_regions() -> None:
    bench = NavigationBench("navigation_semantic")
    bench.action.regions = region(2)
    bench.world.edges = ("a-b",)
    mission = bench.go(8.0)
    bench.until(lambda: RouteCause.REROUTE in causes(bench))
    assert not driving(bench)
    assert bench.world.questions[-1].avoid_edges == ("a-b",)
    bench.world.detour = 3.0
    assert bench.finish(mission) is Code.SUCCESS
    assert bench.state.action.reroutes >= 1


def test_semantic_fails_where_no_way_leads_around() -> None:
    bench = NavigationBench("navigation_semantic")
    bench.action.regions = region(2)
    mission = bench.go(8.0)
    assert bench.finish(mission) is Code.TREE_FAILED
    assert "no way is known around lab" in mission.text
    assert bench.world.robot.x < 4.0


@pytest.mark.slow
def test_semantic_lets_other_regions_pass() -> None:
    bench = NavigationBench("navigation_semantic")
    bench.action.regions = region(3)
    assert bench.finish(bench.go(8.0)) is Code.SUCCESS
    assert any(told.regions for told in bench.world.maneuvers)


def test_classic_does_not_look_at_regions(bench: NavigationBench) -> None:
    bench.action.regions = region(2)
    assert bench.finish(bench.go(8.0)) is Code.SUCCESS


def test_teleop_shows_the_way_and_waits_for_the_operator() -> None:
    bench = NavigationBench("navigation_teleop")
    mission = bench.go(6.0)
    bench.until(lambda: bench.world.maneuvers)
    assert bench.state.autonomy.selected is Level.MANUAL
    for x in np.arange(0.0, 6.1, 0.1):
        assert not driving(bench)
        assert not mission.is_final
        bench.world.robot = Pose2D(float(x))
        bench.tick()
    assert bench.world.maneuvers[-1].is_final
    assert bench.finish(mission) is Code.SUCCESS


@pytest.mark.parametrize(
    ("node", "known"),
    [
        ("<requestNewRouteOnBoard cause='WHIM'/>", "NEW_ACTION"),
        ("<regionsAreAllowed forbidden='SWAMP'/>", "RESTRICTED"),
        ("<avoidRegions forbidden='SWAMP'/>", "RESTRICTED"),
        ("<enterMapPhase phase='DREAMING'/>", "DISABLING"),
    ],
)
def test_ports_name_what_they_take(bench: NavigationBench, node: str, known: str) -> None:
    tree = bench.factory.create_tree_from_text(
        f"<root BTCPP_format='4'><BehaviorTree ID='t'>{node}</BehaviorTree></root>"
    )
    with pytest.raises(NodeExecutionError, match=known):
        tree.tick_exactly_once()


@pytest.mark.parametrize(
    "node", ["acceptAction", "completeAction", "generateManeuver", "requestNewRouteOnBoard"]
)
def test_without_an_action_nothing_is_done(bench: NavigationBench, node: str) -> None:
    tree = bench.factory.create_tree_from_text(
        f"<root BTCPP_format='4'><BehaviorTree ID='t'><{node}/></BehaviorTree></root>"
    )
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert "no" in tree.failure_reason().text
    assert bench.world.questions == []
    assert bench.world.maneuvers == []


# -- anything --------------------------------------------------------------------------------------


def disturb(bench: NavigationBench, what: str, on: bool) -> None:
    world, state = bench.world, bench.state
    running = bench.core.queue.running
    if what == "localization":
        world.localized = not on
    elif what == "autonomy":
        state.autonomy.effective = Level.MANUAL if on else Level.AUTONOMOUS
    elif what == "planner":
        world.planning_fails = on
    elif what == "route":
        world.route_delay = None if on else 0.2
    elif what == "goal":
        world.frames["cart"] = Pose2D(5.0, 1.0 if on else -1.0)
    elif what == "frame":
        world.frames.pop("cart", None)
        if not on:
            world.frames["cart"] = Pose2D(5.0)
    elif what == "tile":
        bench.change.request(TileRequest("east" if on else "west"))
    elif what == "loader":
        world.load_refusal = "no" if on else ""
    elif what == "module":
        world.modules["rpp"].silent = on
    elif running is not None and (running.state is State.PAUSED) is not on:
        bench.control(Kind.PAUSE if on else Kind.RESUME)


KINDS = (
    "localization autonomy planner route goal frame tile loader module pause".split()  # noqa: SIM905
)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.booleans(), st.integers(1, 40)), max_size=12),
)
@settings(max_examples=40, deadline=None)
def test_whatever_happens_the_rules_hold_and_the_next_mission_arrives(events: list) -> None:
    bench = NavigationBench()
    bench.world.frames["cart"] = Pose2D(5.0)
    mission = bench.go(0.0, frame="cart")
    for what, on, ticks in events:
        disturb(bench, what, on)
        for _ in range(ticks):
            bench.tick()  # checks that no maneuver comes while the map changes or in a pause
            state = bench.state
            free = (
                state.localization.good and state.autonomy.may_drive and not state.map.changing
            ) and not state.action.paused
            assert free or not driving(bench)
            assert not mission.is_final or not driving(bench)
            assert bench.action.completed <= bench.action.executed
    for what in KINDS:
        disturb(bench, what, False)
    bench.until(lambda: mission.is_final, 120.0)
    if mission.code is Code.SUCCESS:
        assert bench.action.completed == 1
        assert bench.world.robot.distance(bench.state.action.goal_in_map) <= 0.5
    else:
        assert mission.text
        assert bench.action.completed == 0
    report = Report()
    assert report.distance_remaining == -1.0
    bench.world.frames["cart"] = Pose2D(-3.0)
    assert bench.finish(bench.go(0.0, frame="cart")) is Code.SUCCESS
