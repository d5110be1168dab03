# SPDX-License-Identifier: Apache-2.0
"""Coal's geometries of shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import coal
import numpy as np
from numpy.typing import NDArray

from behavior_motion.checks import Matrix, check_corners
from behavior_motion.collision.shapes import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    PointCloud,
    Shape,
    Sphere,
)
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.robot.meshes import convex_hull, unreadable

_meshes: WeakKeyDictionary[Mesh, Any] = WeakKeyDictionary()
"""What was built of meshes that are still used. Nobody changes it, so that all may share it: hulls
of a robot's links would take longer than a plan among them."""


def coal_geometry(shape: Shape) -> Any:
    """Coal's geometry of a shape; of the same mesh always the same."""
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.height)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.height)
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, HeightField):
        return _coal_height_field(shape)
    if isinstance(shape, PointCloud):
        return coal.makeOctree(np.array(shape.points), shape.resolution)
    return _shared_mesh(shape)


def distance_geometry(shape: Shape) -> Any | None:
    """The geometry to measure distances to where coal has none for :func:`coal_geometry`'s."""
    return _triangles(*height_field_triangles(shape)) if isinstance(shape, HeightField) else None


def _coal_height_field(field: HeightField) -> Any:
    lowest = float(field.heights.min()) - field.thickness
    # Coal's rows run against y, its columns along x.
    rows = np.ascontiguousarray(field.heights.T[::-1])
    return coal.HeightFieldOBBRSS(*field.size, rows, lowest)


def height_field_triangles(field: HeightField) -> tuple[Matrix, NDArray[np.int64]]:
    """Points (N, 3) [m] and triangles (M, 3) of the upper surface."""
    nx, ny = field.heights.shape
    xs, ys = (np.linspace(-0.5 * s, 0.5 * s, n) for s, n in zip(field.size, (nx, ny), strict=True))
    points = np.stack([*np.meshgrid(xs, ys, indexing="ij"), field.heights], axis=-1)
    corner = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[:-1, 1:], corner[1:, 1:]
    triangles = np.concatenate(
        [np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (b, d, c))]
    )
    return points.reshape(-1, 3), triangles


def mesh_triangles(mesh: Mesh) -> tuple[Matrix, NDArray[np.int64]]:
    """Points (N, 3) [m] and triangles (M, 3) of a mesh, or of its convex hull."""
    geometry = _shared_mesh(mesh)
    if isinstance(geometry, coal.ConvexBase):
        points = np.array([geometry.point(i) for i in range(geometry.num_points)])
        faces = [geometry.polygons(i) for i in range(geometry.num_polygons)]
    else:
        points = np.array(geometry.vertices())
        faces = [geometry.tri_indices(i) for i in range(geometry.num_tris)]
    triangles = np.array([[face[k] for k in range(3)] for face in faces], dtype=np.int64)
    return points, triangles


def _shared_mesh(mesh: Mesh) -> Any:
    built = _meshes.get(mesh)
    if built is None:
        built = _meshes[mesh] = _coal_mesh(mesh)
    return built


def _coal_mesh(mesh: Mesh) -> Any:
    if mesh.path is not None:
        model = _loaded(Path(mesh.path), mesh.scale)
        return convex_hull(f"Mesh.path: {mesh.path}", model) if mesh.convex else model
    points = np.asarray(mesh.vertices) * mesh.scale
    if mesh.convex or mesh.triangles is None:
        return coal.Convex.convexHull(_std_points(points), True, "Qt")
    return _triangles(points, np.asarray(mesh.triangles))


def _loaded(path: Path, scale: float) -> Any:
    """The triangles of a file; raises `MotionError`."""
    try:
        model = coal.MeshLoader().load(str(path), np.full(3, scale))
    except ValueError as error:
        raise MotionError(ErrorCode.INVALID_GEOMETRY, f"Mesh.path: {unreadable(error)}") from error
    check_corners(f"Mesh.path: {path}", np.array(model.vertices()), convex=False)
    return model


def _triangles(points: Matrix, triangles: NDArray[np.int64]) -> Any:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    for a, b, c in triangles:
        model.addTriangle(points[a], points[b], points[c])
    model.endModel()
    return model


def _std_points(points: Matrix) -> Any:
    std = coal.StdVec_Vec3s()
    for point in points:
        std.append(point)
    return std
