# SPDX-License-Identifier: Apache-2.0
"""What coal is given: of a mesh that is used again nothing is built again."""

import gc

import coal
import numpy as np
import pytest

from behavior_motion import (
    Box,
    ErrorCode,
    HeightField,
    Mesh,
    MotionError,
    PointCloud,
    Sphere,
)
from behavior_motion.collision import geometry
from behavior_motion.collision.geometry import coal_geometry, mesh_triangles
from behavior_motion.collision.scene import PlanningScene
from behavior_motion.collision.world import CollisionWorld

CORNERS = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.5], [0.2, 0.2, 0.2]])


def test_a_mesh_is_built_once_however_often_a_world_is(robot, monkeypatch):
    built = []
    build = geometry._coal_mesh
    monkeypatch.setattr(geometry, "_coal_mesh", lambda mesh: built.append(mesh) or build(mesh))
    mesh, at = Mesh(vertices=CORNERS), np.eye(4)
    at[:3, 3] = 0.4, 0.0, 0.2
    scene = PlanningScene(robot)
    scene.add_object("rock", mesh, at)
    q = np.zeros(robot.dof)
    first = CollisionWorld(robot, scene.snapshot()).distance(q)
    scene.allow_collision("rock", robot.base_frame)
    scene.add_object("same rock elsewhere", mesh, np.eye(4))
    scene.remove_object("same rock elsewhere")
    again = CollisionWorld(robot, scene.snapshot()).distance(q)
    assert built == [mesh]
    assert again.distance == first.distance


def test_meshes_of_equal_corners_are_not_taken_for_each_other():
    small, large = Mesh(vertices=CORNERS), Mesh(vertices=CORNERS, scale=2.0)
    assert coal_geometry(small) is coal_geometry(small)
    assert coal_geometry(small) is not coal_geometry(large)
    assert 2.0 * np.ptp(mesh_triangles(small)[0]) == np.ptp(mesh_triangles(large)[0])


def test_a_mesh_that_nobody_uses_any_more_is_not_kept():
    mesh = Mesh(vertices=CORNERS)
    coal_geometry(mesh)
    before = len(geometry._meshes)
    del mesh
    gc.collect()
    assert len(geometry._meshes) == before - 1


def test_simple_shapes_are_made_anew():
    box = Box((0.1, 0.2, 0.3))
    assert coal_geometry(box) is not coal_geometry(box)


TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FLAT = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
LEANING = FLAT @ np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
"""Coordinates that are rounded: not quite flat, which ended the process in coal's search."""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mesh(vertices=FLAT), "span no volume"),
        (lambda: Mesh(vertices=LEANING + 0.3), "span no volume"),
        (lambda: Mesh(vertices=TETRAHEDRON * [1, 1, 1e-9]), "span no volume"),
        (lambda: Mesh(vertices=np.zeros((5, 3))), "span no volume"),
        (lambda: Mesh(vertices="corners"), "an array of numbers wanted"),
        (lambda: Mesh(vertices=TETRAHEDRON * 1e9), "give them in metres"),
        (lambda: Mesh(vertices=TETRAHEDRON, scale=1e200), "Mesh.scale: at most"),
        (lambda: triangles([[0, 1, 4]]), "indices of 4 vertices wanted, got 0 to 4"),
        (lambda: triangles([[0, 1, -1]]), "indices of 4 vertices wanted, got -1 to 1"),
        (lambda: triangles([[0.0, 1.0, 2.0]]), "whole numbers"),
        (lambda: triangles(np.zeros((0, 3), dtype=int)), "M >= 1, 3"),
        (lambda: Box((1e200, 1.0, 1.0)), "Box.size: at most"),
        (lambda: Sphere(None), "Sphere.radius: a number above zero wanted, got None"),
        (lambda: PointCloud(np.array([[40.0, 0, 0]]), 0.001), "below 32.767 m wanted, got 40"),
        (lambda: HeightField(np.full((2, 2), 1e9), (1, 1)), "give them in metres"),
    ],
)
def test_shapes_that_cannot_be_are_refused(make, words):
    with pytest.raises(MotionError, match=words) as caught:
        make()
    assert caught.value.code is ErrorCode.INVALID_GEOMETRY


def triangles(indices):
    return Mesh(vertices=TETRAHEDRON, triangles=np.array(indices), convex=False)


@pytest.mark.parametrize("scale", [[1, 1, 1e-5], [1, 1e-3, 1e-3], [1e-12, 1e-12, 1e-12]])
def test_thin_and_tiny_meshes_have_a_hull(scale):
    assert coal_geometry(Mesh(vertices=TETRAHEDRON * np.array(scale))).num_points == 4


def test_every_cell_of_a_cloud_up_to_its_limit_is_seen(robot):
    points = 0.001 * np.array([[32766.5, 0.5, 0.5], [-32766.5, 0.5, 0.5], [400.5, 0.5, 0.5]])
    cloud, ball = coal_geometry(PointCloud(points, 0.001)), coal.Sphere(0.0004)
    for point in points:
        at = coal.Transform3s(np.eye(3), point)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        assert coal.collide(cloud, coal.Transform3s(), ball, at, request, result)


@pytest.mark.parametrize("convex", [True, False])
def test_what_is_wrong_with_the_file_of_a_mesh_is_told_with_it(tmp_path, convex):
    (tmp_path / "part.stl").write_text("solid\nendsolid\n")
    with pytest.raises(MotionError, match=r"Mesh.path: .*part.stl cannot be read: ") as caught:
        coal_geometry(Mesh(tmp_path / "part.stl", convex=convex))
    assert "project" not in str(caught.value)
