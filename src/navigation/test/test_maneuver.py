# SPDX-License-Identifier: Apache-2.0
"""Maneuvers: the part of a route around the robot."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.rules.maneuver import Horizons, RouteFollower, route_polyline
from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.regions import Region, RegionIndex
from behavior_navigation.rules.tiles import Tile

NONE = RegionIndex(())
GOAL = Pose2D(10.0, 0.0, 1.0)
STRAIGHT = [(0.0, 0.0), (10.0, 0.0)]
POINT = st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0))


def follower(points: list, front: float = 4.0, rear: float = 1.0, **more: float) -> RouteFollower:
    return RouteFollower("r", Polyline(points), Horizons(front, rear, **more))


def test_slice_around_the_robot_ends_on_the_route() -> None:
    told = follower(STRAIGHT).maneuver(Pose2D(3.0, 0.5), GOAL, NONE)
    assert told.path.tolist() == [[2.0, 0.0], [7.0, 0.0]]
    assert (told.s_start, told.s_robot, told.s_end) == (2.0, 3.0, 7.0)
    assert (told.lateral_offset, told.route_length) == (0.5, 10.0)
    assert told.goal == Pose2D(7.0, 0.0, 0.0)
    assert not told.is_final
    assert told.distance_remaining == 7.0


def test_the_last_slice_ends_at_the_goal_with_its_own_heading() -> None:
    told = follower(STRAIGHT).maneuver(Pose2D(6.0, 0.0), GOAL, NONE)
    assert told.is_final
    assert told.goal == GOAL
    assert told.path[-1].tolist() == [10.0, 0.0]


def test_before_the_start() -> None:
    told = follower(STRAIGHT).maneuver(Pose2D(-5.0, 0.0), GOAL, NONE)
    assert (told.s_start, told.s_robot, told.s_end) == (0.0, 0.0, 4.0)


def test_past_the_end_the_goal_is_still_told() -> None:
    told = follower(STRAIGHT, rear=0.0).maneuver(Pose2D(12.0, 0.0), GOAL, NONE)
    assert told.s_robot == told.s_end == 10.0
    assert told.is_final
    assert told.goal == GOAL
    assert told.path.tolist() == [[10.0, 0.0]]


def test_horizons_of_zero_tell_the_robots_place_and_follow_it_all_the_same() -> None:
    route = follower(STRAIGHT, front=0.0, rear=0.0)
    for x in np.arange(0.0, 10.5, 0.5):
        told = route.maneuver(Pose2D(float(x), 0.2), GOAL, NONE)
        assert told.s_start == told.s_robot == told.s_end == pytest.approx(min(x, 10.0))
        assert len(told.path) == 1
    assert told.is_final


def test_a_route_that_ends_where_it_begins_is_driven_all_the_way() -> None:
    circle = np.linspace(0.0, 2.0 * math.pi, 65)
    points = np.column_stack([5.0 * np.cos(circle), 5.0 * np.sin(circle)])
    route = follower(points.tolist(), front=3.0)
    last = -1.0
    for angle in np.linspace(0.0, 2.0 * math.pi, 200):
        robot = Pose2D(5.02 * math.cos(angle), 5.02 * math.sin(angle))
        told = route.maneuver(robot, GOAL, NONE)
        assert told.s_robot >= last - 1e-6
        assert told.is_final is (told.s_end >= told.route_length)
        last = told.s_robot
        if angle == 0.0:
            assert told.s_robot < 0.5
            assert not told.is_final
    assert told.s_robot == pytest.approx(told.route_length, abs=0.1)


def test_one_point_leads_there_straight() -> None:
    robot = Pose2D(1.0, 1.0)
    line = route_polyline(np.array([[4.0, 5.0]]), robot)
    assert line.points.tolist() == [[1.0, 1.0], [4.0, 5.0]]
    told = RouteFollower("r", line, Horizons(10.0, 1.0)).maneuver(robot, GOAL, NONE)
    assert told.is_final
    assert told.route_length == 5.0
    there = route_polyline(np.array([[1.0, 1.0], [1.0, 1.0]]), robot)
    assert there.length == 0.0
    told = RouteFollower("r", there, Horizons(10.0, 1.0)).maneuver(robot, GOAL, NONE)
    assert told.is_final
    assert told.path.tolist() == [[1.0, 1.0]]


@given(
    st.lists(POINT, min_size=1, max_size=10),
    st.lists(POINT, min_size=1, max_size=8),
    st.floats(0.0, 15.0),
    st.floats(0.0, 5.0),
)
@settings(max_examples=80, deadline=None)
def test_slices_stay_within_horizons_and_never_go_back(
    points: list, robots: list, front: float, rear: float
) -> None:
    route = follower(points, front, rear)
    before = 0.0
    for x, y in robots:
        told = route.maneuver(Pose2D(x, y), GOAL, NONE)
        length = told.route_length
        assert told.s_start == pytest.approx(max(0.0, told.s_robot - rear))
        assert told.s_end == pytest.approx(min(length, told.s_robot + front))
        assert told.is_final is (told.s_end >= length)
        assert (told.goal == GOAL) or not told.is_final
        assert told.s_robot >= before
        assert told.distance_remaining == route.remaining
        before = told.s_robot


def test_a_maneuver_ends_before_its_tile_does() -> None:
    tile = Tile("west", -1.0, -5.0, 6.0, 5.0)
    route = follower(STRAIGHT, front=8.0)
    told = route.maneuver(Pose2D(2.0, 0.0), GOAL, NONE, tile)
    assert told.s_end == pytest.approx(5.9)
    assert not told.is_final
    assert route.maneuver(Pose2D(8.0, 0.0), GOAL, NONE, tile).is_final  # not on it at all
    inner = Tile("inner", 1.5, -5.0, 20.0, 5.0)
    told = follower(STRAIGHT, 20.0, 1.0).maneuver(Pose2D(2.0, 0.0), GOAL, NONE, inner)
    assert told.s_start == pytest.approx(1.6)
    assert told.is_final


@given(st.lists(POINT, min_size=2, max_size=10), st.floats(0.0, 1.0))
@settings(max_examples=80, deadline=None)
def test_what_is_told_lies_in_the_tile(points: list, share: float) -> None:
    tile = Tile("t", -10.0, -8.0, 10.0, 8.0)
    route = follower(points, front=100.0, rear=100.0)
    robot = Pose2D(*route.route.point(share * route.route.length))
    told = route.maneuver(robot, GOAL, NONE, tile)
    assert told.s_start <= told.s_robot <= told.s_end
    if tile.contains(*route.route.point(told.s_robot)):
        for x, y in told.path:
            assert tile.contains(x, y, 1e-6)


@given(st.lists(POINT, min_size=2, max_size=10), st.floats(0.0, 1.0))
@settings(max_examples=80, deadline=None)
def test_a_tile_that_holds_all_of_a_route_changes_nothing(points: list, share: float) -> None:
    tile = Tile("t", -21.0, -21.0, 21.0, 21.0)
    route = follower(points, front=15.0, rear=5.0)
    robot = Pose2D(*route.route.point(share * route.route.length))
    told = route.maneuver(robot, GOAL, NONE, tile)
    assert told.s_end == min(told.route_length, told.s_robot + 15.0)
    assert told.s_start == max(0.0, told.s_robot - 5.0)
    assert told.is_final is (told.s_robot + 15.0 >= told.route_length)


def test_regions_of_the_slice_are_attached() -> None:
    def square(name: str, x: float) -> Region:
        corners = np.array([[x, -1.0], [x + 1.0, -1.0], [x + 1.0, 1.0], [x, 1.0]])
        return Region(name, 3, corners, 0.5)

    regions = RegionIndex([square("behind", 0.2), square("here", 3.5), square("far", 9.0)])
    told = follower(STRAIGHT).maneuver(Pose2D(3.0, 0.0), GOAL, regions)
    assert [region.id for region in told.regions] == ["here"]


@pytest.mark.parametrize("numbers", [(-1.0, 0.0, 1.0), (0.0, -1.0, 1.0), (1.0, 1.0, 0.0)])
def test_horizons_must_make_sense(numbers: tuple) -> None:
    with pytest.raises(ValueError, match="negative"):
        Horizons(*numbers)


def test_a_maneuver_of_a_long_route_costs_milliseconds_at_most() -> None:
    s = np.linspace(0.0, 1000.0, 10_000)
    route = follower(np.column_stack([s, np.sin(s)]).tolist(), front=10.0)
    route.update(Pose2D(500.0, 0.0))
    costs = []
    for i in range(20):
        begin = time.thread_time()
        route.maneuver(Pose2D(500.0 + 0.1 * i, 0.0), GOAL, NONE)
        costs.append(time.thread_time() - begin)
    assert min(costs) < 3e-3
