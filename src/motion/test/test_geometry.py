# SPDX-License-Identifier: Apache-2.0
"""What coal is given: of a mesh that is used again nothing is built again."""

import gc

import numpy as np

from behavior_motion import Box, Mesh
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
