# SPDX-License-Identifier: Apache-2.0
"""The truth of the navigation world: grids, beams, people, slip, collisions."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from behavior_motion.planar_pose import Pose2D
from behavior_packages import packages
from behavior_sim.navigation.config import edge_id, load_navigation_world
from behavior_sim.navigation.grid import Grid, in_polygon, resampled
from behavior_sim.navigation.people import RADIUS, Person
from behavior_sim.navigation.world import REACH, NavigationWorld, UnknownName
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
DT = 0.02


def test_poses_compose_and_invert():
    a, b = Pose2D(1.0, -2.0, 0.7), Pose2D(0.3, 0.4, -2.9)
    back = (a @ b) @ b.inverse()
    assert (back.x, back.y, back.yaw) == pytest.approx((a.x, a.y, a.yaw))
    assert a.points(b.position) == pytest.approx((a @ b).position)


def test_a_box_fills_its_cells_and_clearance_is_the_distance_to_them():
    grid = Grid.empty((0.0, 0.0, 4.0, 3.0), 0.1)
    grid.fill((2.0, 1.0, 2.5, 1.2))
    assert grid.occupied.sum() == 5 * 2
    assert grid.clearance_at(np.array([1.05, 1.05])) == pytest.approx(1.0)
    assert grid.clearance_at(np.array([9.0, 9.0])) == 0.0
    assert not grid.line_is_free(np.array([1.0, 1.1]), np.array([3.0, 1.1]), 0.05)
    assert grid.line_is_free(np.array([1.0, 2.0]), np.array([3.0, 2.0]), 0.5)


def test_a_cut_out_part_agrees_with_the_whole():
    part = NavigationWorld(CONFIG).walls.crop(CONFIG.tiles["east"])
    whole = NavigationWorld(CONFIG).walls
    places = np.array([[17.05, 1.0], [22.0, 4.0], [25.5, 8.0], [33.9, 9.0]])
    for grid in (part, whole):
        rows, columns = grid.cells(places)
        assert list(grid.occupied[rows, columns]) == [True, True, False, True]


def test_beams_end_at_walls():
    grid = Grid.empty((0.0, 0.0, 10.0, 10.0), 0.1)
    grid.fill((5.0, 0.0, 5.2, 10.0))
    ranges = grid.beams(Pose2D(2.0, 5.0, 0.0), np.array([0.0, math.pi / 4, math.pi]), 8.0)
    assert ranges == pytest.approx([3.0, 3.0 * math.sqrt(2.0), 8.0], abs=0.1)


def test_a_person_is_seen_as_a_disc():
    world = NavigationWorld(CONFIG)
    robot = world.robot
    world.people = {"p": Person("p", robot @ Pose2D(2.0, 0.0, 0.0), 0.0)}
    scan = world.scan()
    front = int(np.abs(scan.angles).argmin())
    assert scan.ranges[front] == pytest.approx(2.0 - RADIUS, abs=0.06)
    assert scan.ranges.max() == REACH


def test_polylines_are_resampled_evenly():
    points = resampled(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 0.1)
    assert len(points) == 21
    assert np.linalg.norm(np.diff(points, axis=0), axis=1) == pytest.approx(np.full(20, 0.1))


def test_points_in_polygons():
    corner = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])
    inside = [in_polygon(corner, *place) for place in ((0.5, 1.5), (1.5, 0.5), (1.5, 1.5), (3, 1))]
    assert inside == [True, True, False, False]


def drive(world, linear, angular, seconds):
    for _ in range(round(seconds / DT)):
        world.base.command(linear, angular, world.time)
        world.step(DT)


def test_the_robot_stops_at_a_wall_and_that_counts_once():
    world = NavigationWorld(CONFIG)
    world.people = {}
    world.base.yaw = math.pi  # towards the west wall
    drive(world, 0.8, 0.0, 6.0)
    gap = world.robot.x - 0.2 - CONFIG.robot.radius
    assert abs(gap) < 0.1  # a cell
    assert world.collisions == 1
    drive(world, -0.8, 0.0, 2.0)
    assert world.robot.x > 1.0
    assert world.collisions == 1


def test_an_obstacle_put_onto_the_robot_does_not_hold_it_for_ever():
    world = NavigationWorld(CONFIG)
    world.people = {}
    world.block("box", Pose2D(1.6, 1.5), (0.4, 0.4))
    world.base.yaw = 0.0
    drive(world, 0.5, 0.0, 4.0)
    assert world.robot.x > 3.0


@pytest.mark.slow
def test_odometry_slips_and_the_same_seed_slips_the_same():
    ends = []
    for seed in (1, 1, 2):
        world = NavigationWorld(CONFIG, seed)
        world.people = {}
        drive(world, 0.8, 0.0, 8.0)
        odometry, way = world.odometry, world.distance
        assert 0.0 < math.dist((odometry.x, odometry.y), (way, 0.0)) < 0.5
        ends.append((odometry.x, odometry.y, odometry.yaw))
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.slow
def test_people_walk_to_and_fro_and_turn_at_what_is_in_the_way():
    world = NavigationWorld(CONFIG)
    picker = world.people["picker"]
    seen = []
    for _ in range(round(20.0 / DT)):
        world.step(DT)
        seen.append(picker.pose.x)
    assert min(seen) < 6.3
    assert max(seen) > 11.2
    world.block("crate", Pose2D(9.0, 11.4), (0.6, 0.6))
    picker.pose = Pose2D(7.0, 11.4)
    xs = []
    for _ in range(round(20.0 / DT)):
        world.step(DT)
        xs.append(picker.pose.x)
    assert max(xs) < 8.7


@pytest.mark.parametrize("yields", [True, False])
def test_who_yields_does_not_run_into_the_robot(yields):
    world = NavigationWorld(CONFIG)
    world.people = {"p": Person("p", world.robot @ Pose2D(3.0, 0.0, math.pi), 1.0, yields)}
    for _ in range(round(4.0 / DT)):
        world.step(DT)
    closest = world.people["p"].pose.distance_to(world.robot.x, world.robot.y)
    assert (world.touches == 0) == yields
    assert world.collisions == 0
    assert closest > CONFIG.robot.radius


def test_names_that_nothing_has_are_told_with_those_there_are():
    world = NavigationWorld(CONFIG)
    with pytest.raises(UnknownName, match="no frame 'carp': choose among cart"):
        world.move_frame("carp", Pose2D())
    with pytest.raises(UnknownName, match="no obstacle 'x': choose among none"):
        world.unblock("x")
    with pytest.raises(UnknownName, match="picker"):
        world.remove_person("nobody")
    with pytest.raises(ValueError, match="give its edges"):
        world.block("box", Pose2D(), (0.0, 1.0))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("tile: west", "tile: north", "start.tile 'north' is none of"),
        ("- [w00, w10]", "- [w00, w99]", "'w99' is no waypoint"),
        ("resolution: 0.1", "resolution: 9", "resolution: Input should be less"),
        ("  west: [0.0, 0.0, 19.5, 16.0]", "  west: [5, 0, 1, 16]", "tile 'west' must be"),
        ("name: warehouse", "nam: x", "nam: Extra inputs"),
        ("size: [34.0, 16.0]", "size: [-34.0, 16.0]", "size.0: Input should be greater than 0"),
        ("  w00: [2.0, 1.5]", "  w00: [.nan, 1.5]", "waypoints.w00.0: Input should be a finite"),
        ("pose: [2.0, 1.5, 1.571]", "pose: [30, 1, 0]", "start.pose (30, 1) lies outside of tile"),
    ],
)
def test_a_wrong_description_is_told_with_file_and_key(tmp_path: Path, old, new, words):
    text = find_navigation_world("warehouse").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "world.yaml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(WorldError, match=re.escape(words)) as error:
        load_navigation_world(file)
    assert str(file) in str(error.value)
    if words.startswith("resolution"):
        line = text[: text.index(old)].count("\n") + 1
        assert str(error.value).startswith(f"{file}:{line}: resolution: ")


def test_a_description_in_another_encoding_is_told_with_its_file(tmp_path: Path):
    (tmp_path / "world.yaml").write_bytes("name: Lager für Äpfel".encode("latin-1"))
    with pytest.raises(WorldError, match=r"world\.yaml: cannot be read: 'utf-8' codec"):
        load_navigation_world(tmp_path / "world.yaml")


def test_an_edge_has_one_name_both_ways():
    assert edge_id("b", "a") == edge_id("a", "b") == "a-b"


def test_every_world_that_packages_offer_is_one() -> None:
    for name in packages().names("navigation_worlds"):
        load_navigation_world(find_navigation_world(name))
