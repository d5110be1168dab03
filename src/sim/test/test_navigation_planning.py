# SPDX-License-Identifier: Apache-2.0
"""Routes, paths, speeds and tracking: every way they succeed and fail."""

import math
from dataclasses import replace

import numpy as np
import pytest

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.grid import Grid, resampled
from behavior_sim.navigation.path_planner import Maneuver, Mode, PathPlanner, Plan, Reason
from behavior_sim.navigation.routes import RoutePlanner
from behavior_sim.navigation.speed import SpeedDecision, SpeedZone
from behavior_sim.navigation.tracker import Tracker, TrajectoryCode
from behavior_sim.navigation.world import NavigationWorld
from behavior_sim.worlds.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
RADIUS = CONFIG.robot.radius


@pytest.fixture
def routes() -> RoutePlanner:
    return RoutePlanner(CONFIG, NavigationWorld(CONFIG).walls)


@pytest.fixture
def grid() -> Grid:
    """A hall of 12 m by 6 m."""
    hall = Grid.empty((0.0, 0.0, 12.0, 6.0), 0.1)
    for wall in ((0, 0, 12, 0.2), (0, 5.8, 12, 6), (0, 0, 0.2, 6), (11.8, 0, 12, 6)):
        hall.fill(wall)
    return hall


STRAIGHT = Maneuver(np.array([[1.0, 3.0], [9.0, 3.0]]), Pose2D(9.0, 3.0), True)


START = Pose2D(1.0, 3.0)


def plan(grid, robot=START, maneuver=STRAIGHT, mode=Mode.NOMINAL, **settings) -> Plan:
    maneuver = replace(maneuver, place=max(0.0, robot.x - START.x))
    return PathPlanner(RADIUS, **settings).plan(0.0, robot, maneuver, grid, mode)


class TestRoutes:
    def test_the_shortest_way_is_found(self, routes):
        route = routes.plan(Pose2D(2.0, 2.0), Pose2D(8.5, 5.5))
        assert route.edges == ["w00-w01", "w01-w11"]
        assert route.length == pytest.approx(3.5 + 6.5)
        assert route.points[0] == pytest.approx([2.0, 2.0])
        assert route.points[-1] == pytest.approx([8.5, 5.5])

    def test_it_leads_through_the_doorway_into_the_other_tile(self, routes):
        route = routes.plan(Pose2D(2.0, 2.0), Pose2D(32.0, 14.0))
        assert {"door-door_west", "door-door_east"} <= set(route.edges)

    def test_within_one_edge_it_goes_straight(self, routes):
        route = routes.plan(Pose2D(4.0, 1.5), Pose2D(7.0, 1.5))
        assert route.edges == ["w00-w10"]
        assert route.length == pytest.approx(3.0)

    def test_what_is_to_be_avoided_is_not_used(self, routes):
        straight = routes.plan(Pose2D(2.0, 2.0), Pose2D(8.5, 5.5))
        other = routes.plan(Pose2D(2.0, 2.0), Pose2D(8.5, 5.5), ["w01-w11"])
        assert "w01-w11" not in other.edges
        assert other.length > straight.length

    def test_a_blocked_edge_is_left_the_way_the_robot_came(self, routes):
        routes.plan(Pose2D(8.5, 10.5), Pose2D(10.0, 1.5))
        standing = Pose2D(15.0, 7.6)
        for _ in range(2):  # also when it is asked for once more
            route = routes.plan(standing, Pose2D(10.0, 1.5), ["door_west-w21"])
            assert route.points[2, 1] > standing.y
            assert route.edges[:3] == ["door_west-w21", "door_west-w22", "w12-w22"]

    def test_without_a_way_the_answer_says_why(self, routes):
        cut = ["door-door_west"]
        assert "no way over the waypoints" in routes.plan(Pose2D(2, 2), Pose2D(32, 14), cut).text
        assert (
            "unknown edges to avoid: a-b" in routes.plan(Pose2D(2, 2), Pose2D(3, 2), ["a-b"]).text
        )
        assert (
            "the goal (8.00, 8.00) is in an obstacle"
            in routes.plan(Pose2D(2, 2), Pose2D(8.0, 8.0)).text
        )

    def test_far_from_every_waypoint_there_is_no_route(self, routes):
        lonely = CONFIG.model_copy(update={"edges": [("e21", "e22")]})
        planner = RoutePlanner(lonely, NavigationWorld(CONFIG).walls)
        assert "reached from the start" in planner.plan(Pose2D(2, 2), Pose2D(32, 14)).text


class TestPaths:
    def test_a_free_maneuver_is_the_path(self, grid):
        found = plan(grid)
        assert found.succeeded
        assert found.final
        assert found.points[:, 1] == pytest.approx(np.full(len(found.points), 3.0))

    def test_it_leads_round_an_obstacle_with_room_for_the_robot(self, grid):
        grid.fill((4.5, 2.5, 5.0, 3.4))
        found = plan(grid)
        assert found.succeeded
        assert grid.clearance_at(found.points).min() > RADIUS
        assert np.linalg.norm(np.diff(found.points, axis=0), axis=1).max() < 0.25
        way = np.linalg.norm(np.diff(found.points, axis=0), axis=1).sum()
        assert 8.0 < way < 9.0

    def test_a_fallback_path_keeps_further_away(self, grid):
        grid.fill((4.5, 0.0, 5.0, 2.6))
        grid.fill((4.5, 3.5, 5.0, 6.0))
        assert plan(grid).succeeded
        assert plan(grid, mode=Mode.FALLBACK).reason is Reason.NO_PATH

    def test_a_path_ends_where_the_maneuver_turns_back_until_the_robot_is_there(self, grid):
        back = Maneuver(np.array([[1.0, 3.0], [6.0, 3.0], [1.0, 3.0]]), Pose2D(1.0, 3.0), True)
        there = plan(grid, Pose2D(3.0, 3.0), back)
        assert there.points[-1] == pytest.approx([6.0, 3.0])
        assert not there.final
        planner = PathPlanner(RADIUS)
        turned = planner.plan(0.0, Pose2D(5.95, 3.0), replace(back, place=4.95), grid, Mode.NOMINAL)
        assert turned.points[-1] == pytest.approx([1.0, 3.0])
        assert turned.final
        homeward = planner.plan(0.0, Pose2D(3.0, 3.0), replace(back, place=8.0), grid, Mode.NOMINAL)
        assert homeward.points[:, 0].max() == pytest.approx(3.0)

    def test_a_path_that_comes_by_the_robot_again_is_driven_in_order(self, grid):
        corners = [[2, 2], [4, 2], [4, 4], [2, 4], [2, 2], [1, 2]]
        loop = Maneuver(np.array(corners, dtype=float), Pose2D(1.0, 2.0), True)
        found = PathPlanner(RADIUS).plan(0.0, Pose2D(2.0, 2.1), loop, grid, Mode.NOMINAL)
        way = np.linalg.norm(np.diff(found.points, axis=0), axis=1).sum()
        assert way == pytest.approx(9.0, abs=0.5)
        told = Tracker(RADIUS, 1.2, 1.6, 1.0).track(
            0.1, Pose2D(2.0, 2.1), 0.5, found, 0.0, mode=Mode.NOMINAL, limit=1.0, grid=grid
        )
        assert told.linear > 0.3
        assert abs(told.angular) < 0.6

    def test_idle_plans_nothing(self, grid):
        found = plan(grid, mode=Mode.IDLE)
        assert found.succeeded
        assert len(found.points) == 0

    @pytest.mark.parametrize(
        ("reason", "obstacle", "robot"),
        [
            (Reason.NO_PATH, (4.5, 0.0, 5.0, 6.0), Pose2D(1.0, 3.0)),
            (Reason.START_OCCUPIED, (1.1, 2.8, 1.4, 3.2), Pose2D(1.0, 3.0)),
            (Reason.GOAL_OCCUPIED, (8.8, 2.8, 9.2, 3.2), Pose2D(8.0, 3.0)),
            (Reason.OFF_ROUTE, None, Pose2D(5.0, 5.3)),
            (Reason.NO_MAP, None, Pose2D(-1.0, 3.0)),
        ],
    )
    def test_failures_by_circumstance(self, grid, reason, obstacle, robot):
        if obstacle:
            grid.fill(obstacle)
        found = plan(grid, robot)
        assert found.reason is reason
        assert len(found.points) == 0
        assert found.text

    def test_no_map_and_too_large_a_search(self, grid):
        assert plan(None).reason is Reason.NO_MAP
        grid.fill((4.5, 2.5, 5.0, 3.4))
        assert plan(grid, max_cells=100).reason is Reason.TIMEOUT

    def test_towards_an_occupied_goal_it_goes_as_far_as_it_can(self, grid):
        grid.fill((8.8, 2.8, 9.2, 3.2))
        found = plan(grid)
        assert found.succeeded
        assert not found.final
        assert 8.0 < found.points[-1, 0] < 8.6

    def test_another_route_is_recommended_when_patience_is_over(self, grid):
        grid.fill((4.5, 0.0, 5.0, 6.0))
        planner = PathPlanner(RADIUS, patience=3.0)

        def at(now, mode=Mode.NOMINAL):
            return planner.plan(now, Pose2D(1.0, 3.0), STRAIGHT, grid, mode).reroute

        assert [at(0.0), at(2.9), at(3.0), at(5.0, Mode.IDLE), at(5.1)] == [
            False,
            False,
            True,
            False,
            False,
        ]


class TestSpeed:
    ZONE = SpeedZone("zone", np.array([[5.0, 0], [7.0, 0], [7.0, 6.0], [5.0, 6.0]]), 0.5)

    @pytest.mark.parametrize(("x", "limit"), [(2.0, 1.0), (4.5, 0.5), (6.0, 0.5), (8.0, 1.0)])
    def test_zones_count_where_one_is_and_goes(self, grid, x, limit):
        decision = SpeedDecision(RADIUS, 1.0)
        robot = Pose2D(x, 3.0)
        assert decision.limit(robot, plan(grid, robot), [self.ZONE], grid)[0] == limit

    def test_narrow_places_are_slow(self, grid):
        grid.fill((2.0, 0.0, 3.0, 2.5))
        assert SpeedDecision(RADIUS, 1.0).limit(Pose2D(2.5, 2.95), None, [], grid) == (
            0.5,
            "narrow",
        )


class TestTracking:
    def tracker(self) -> Tracker:
        return Tracker(RADIUS, 1.2, 1.6, 1.0)

    def track(self, grid, robot=START, found=None, tracker=None, **changes):
        settings = {"mode": Mode.NOMINAL, "limit": 1.0, "grid": grid, **changes}
        found = found or plan(grid, robot)
        now = settings.pop("now", 0.0)
        at = settings.pop("planned_at", now)
        return (tracker or self.tracker()).track(now, robot, 0.5, found, at, **settings)

    def test_it_drives_along(self, grid):
        told = self.track(grid)
        assert told.status is TrajectoryCode.OK
        assert told.linear == 1.0
        assert told.angular == pytest.approx(0.0, abs=1e-6)

    def test_it_turns_towards_a_path_behind(self, grid):
        told = self.track(grid, Pose2D(1.0, 3.0, math.pi * 0.9))
        assert told.linear == 0.0
        assert told.angular == pytest.approx(-1.6)

    @pytest.mark.parametrize(
        ("changes", "highest"),
        [({"mode": Mode.FALLBACK}, 0.3), ({"limit": None}, 0.2), ({"mode": Mode.IDLE}, 0.0)],
    )
    def test_modes_and_limits(self, grid, changes, highest):
        assert self.track(grid, **changes).linear == pytest.approx(highest)

    def test_it_stops_at_the_end_and_turns_to_the_heading(self, grid):
        maneuver = replace(STRAIGHT, goal=Pose2D(9.0, 3.0, 1.0))
        robot = Pose2D(8.97, 3.0)
        found = plan(grid, robot, maneuver)
        told = self.track(grid, robot, found)
        assert told.linear == 0.0
        assert told.angular > 0.5
        there = Pose2D(8.97, 3.0, 1.0)
        assert self.track(grid, there, found).angular == 0.0

    @pytest.mark.parametrize(
        ("code", "case"),
        [
            (TrajectoryCode.INVALID_TRAJECTORY, {"planned_at": -5.0}),
            (TrajectoryCode.INVALID_TRAJECTORY, {"points": np.zeros((0, 2))}),
            (TrajectoryCode.INVALID_TRAJECTORY, {"points": np.full((5, 2), np.nan)}),
            (TrajectoryCode.INVALID_TRAJECTORY, {"robot": Pose2D(1.0, 4.2)}),
            (TrajectoryCode.OUT_OF_MEMORY, {"points": np.zeros((5000, 2))}),
            (TrajectoryCode.CONSTRAINT_FAILED, {"box": (1.2, 2.8, 1.4, 3.2)}),
            (TrajectoryCode.LINE_SEARCH_FAILED, {"box": (1.4, 2.5, 1.5, 3.5)}),
            (TrajectoryCode.UNSATISFIED_CONSTRAINTS, {"robot": Pose2D(1.0, 3.5)}),
        ],
    )
    def test_solver_statuses_by_circumstance(self, grid, code, case):
        line = resampled(STRAIGHT.points, 0.1)
        found = Plan(case.get("points", line), STRAIGHT.goal, True, Mode.NOMINAL)
        if "box" in case:
            grid.fill(case["box"])
        robot = case.get("robot", Pose2D(1.0, 3.0))
        told = self.track(grid, robot, found, planned_at=case.get("planned_at", 0.0))
        assert told.status is code
        assert (told.linear > 0.0) == (code is TrajectoryCode.UNSATISFIED_CONSTRAINTS)

    def test_motion_that_is_commanded_and_does_not_come(self, grid):
        tracker = self.tracker()
        statuses = [self.track(grid, tracker=tracker, now=0.2 * k).status for k in range(30)]
        assert statuses[0] is TrajectoryCode.OK
        assert statuses[-1] is TrajectoryCode.COST_FAILED
