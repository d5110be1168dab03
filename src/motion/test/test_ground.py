# SPDX-License-Identifier: Apache-2.0
"""Height fields and point clouds: what depth sensors and maps know of the surroundings."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import at, down, joints

from behavior_motion import (
    Box,
    ErrorCode,
    HeightField,
    Mesh,
    MotionError,
    MotionPlanner,
    PlanOptions,
    PointCloud,
)

LOWEST_FINGER = 0.0095
"""The fingers reach this far below the tool's centre [m]."""


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A plane that rises along x and, differently, along y: shows swapped or turned axes."""
    return 0.1 + 0.4 * x - 0.2 * y


def hillside() -> HeightField:
    xs, ys = np.linspace(-0.3, 0.3, 31), np.linspace(-0.5, 0.5, 41)
    return HeightField(slope(*np.meshgrid(xs, ys, indexing="ij")), (0.6, 1.0))


@pytest.mark.parametrize(("x", "y"), [(0.4, -0.3), (0.4, 0.3), (0.6, -0.3), (0.6, 0.3)])
def test_ground_lies_where_its_heights_say(planner: MotionPlanner, x: float, y: float) -> None:
    """The hand above (free) and inside (not) each corner of the slope."""
    planner.scene.add_object("hill", hillside(), at(0.5, 0.0, 0.0))
    ground = slope(np.array(x - 0.5), np.array(y)).item()
    above = joints(planner, down(x, y, ground + 0.09))
    report = planner.check_state(above)
    assert report.ok, report.text
    distance = planner.distance(above, gripper_width=0.0)
    # The closed fingers end in a small block: between its corner and its middle.
    steep = np.sqrt(1 + 0.4**2 + 0.2**2)
    assert 0.05 < distance.distance < (0.09 - LOWEST_FINGER) / steep + 1e-3
    planner.scene.move_object("hill", at(0.5, 0.0, 0.095))
    inside = planner.check_state(above)
    assert not inside.ok
    assert all(depth > 0 for _, _, depth in inside.pairs)
    assert planner.distance(above).distance < 0


def test_what_is_buried_collides(planner: MotionPlanner) -> None:
    """A link that is inside altogether touches no surface."""
    ground = HeightField(np.full((5, 5), 0.9), (3.0, 3.0), thickness=0.8)
    planner.scene.add_object("hill", ground, at(1.6, 0, 0))
    q = planner.robot.named["home"]
    report = planner.check_state(q)
    assert "panda_hand" in {a for a, _, _ in report.pairs}
    assert planner.distance(q).distance < -0.1


def test_a_cloud_fills_the_cells_of_its_points(planner: MotionPlanner) -> None:
    q = joints(planner, down(0.5, 0.0, 0.5))
    xs = np.arange(-0.05, 0.05, 0.005)
    flat = np.array([[x, y, 0.005] for x in xs for y in xs])
    planner.scene.add_object("cloud", PointCloud(flat, 0.01), at(0.5, 0.0, 0.47))
    top = 0.48
    gap = 0.5 - LOWEST_FINGER - top
    assert planner.distance(q, gripper_width=0.0).distance == pytest.approx(gap, abs=1e-4)
    assert planner.check_state(q).ok
    planner.scene.move_object("cloud", at(0.5, 0.0, 0.49))
    assert {b for _, b, _ in planner.check_state(q).pairs} == {"cloud"}


def test_plans_go_about_a_cloud(wall: MotionPlanner) -> None:
    """The points of a wall stop the arm as the wall does."""
    rng = np.random.default_rng(0)
    start, goal = joints(wall, down(0.5, 0.35, 0.2)), joints(wall, down(0.5, -0.35, 0.2))
    wall.scene.remove_object("wall")
    assert len(wall.plan_to_joints(start, goal).path) == 2
    points = rng.uniform([-0.3, -0.02, -0.25], [0.3, 0.02, 0.25], (5000, 3))
    wall.scene.add_object("seen", PointCloud(points, 0.02), at(0.6, 0.0, 0.25))
    plan = wall.plan_to_joints(start, goal, options=PlanOptions(allowed_planning_time=5.0))
    assert plan.ok, plan.message
    assert len(plan.path) > 2
    wall.scene.add_object("wall", Box((0.55, 0.03, 0.45)), at(0.6, 0.0, 0.25))
    assert wall.is_plan_valid(plan)


def test_carried_meshes_meet_the_ground(planner: MotionPlanner) -> None:
    """Bare triangles against a height field: the library has no check of the pair."""
    corners = np.array([[0, 0, 0], [0.05, 0, 0], [0, 0.05, 0], [0, 0, 0.05]])
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    scene = planner.scene
    scene.add_object("thing", Mesh(vertices=corners, triangles=faces, convex=False), at(2, 0, 0))
    scene.attach_object("thing", "tool", link_T_object=at(0, 0, 0.02))
    scene.add_object("ground", HeightField(np.zeros((3, 3)), (2.0, 2.0)), at(0.5, 0, 0.2))
    scene.allow_collision("ground", "panda_link*")
    q = joints(planner, down(0.5, 0.0, 0.3))
    assert planner.check_state(q).ok
    scene.move_object("ground", at(0.5, 0.0, 0.25))
    assert {(a, b) for a, b, _ in planner.check_state(q).pairs} == {("thing", "ground")}


def test_impossible_ground_is_refused(planner: MotionPlanner) -> None:
    for make, code in (
        (lambda: HeightField(np.zeros(3), (1, 1)), ErrorCode.INVALID_GEOMETRY),
        (lambda: HeightField(np.full((2, 2), np.nan), (1, 1)), ErrorCode.NOT_FINITE),
        (lambda: HeightField(np.zeros((2, 2)), (1, -1)), ErrorCode.INVALID_GEOMETRY),
        (lambda: PointCloud(np.zeros((0, 3)), 0.1), ErrorCode.INVALID_GEOMETRY),
        (lambda: PointCloud(np.zeros((4, 3)), 0.0), ErrorCode.INVALID_GEOMETRY),
        (lambda: PointCloud(np.full((4, 3), np.inf), 0.1), ErrorCode.NOT_FINITE),
    ):
        with pytest.raises(MotionError) as caught:
            make()
        assert caught.value.code is code
    planner.scene.add_object("hill", hillside(), at(0.5, 0, 0))
    with pytest.raises(MotionError, match="cannot be carried") as caught:
        planner.scene.attach_object("hill", "panda_hand", link_T_object=at(0, 0, 0))
    assert caught.value.code is ErrorCode.INVALID_GEOMETRY
