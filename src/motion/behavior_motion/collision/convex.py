# SPDX-License-Identifier: Apache-2.0
"""Geometry of single convex shapes: what lies in them, how far they reach, what rests on what.

The shapes are those of :mod:`behavior_motion.collision.shapes` that are convex and bounded, centred
at their own frame. Points are (N, 3) in the shape's frame [m]. Nothing here needs a collision
world, so questions about a scene can be answered without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_motion.errors import ErrorCode, MotionError

Array = NDArray[np.float64]

ConvexShape = Box | Sphere | Cylinder | Capsule | Mesh
DIMENSIONS = {"sphere": 1, "box": 3, "cylinder": 2, "capsule": 2}
"""Numbers that make a shape: radius; x, y, z; height, radius; length without the caps, radius."""
SURFACE = 1e-9
"""[m] points this much outside a facet of a hull count as in it: its own corners must."""


def convex_shape(
    kind: str, dimensions: Sequence[float], vertices: ArrayLike | None = None
) -> ConvexShape:
    """A shape from the numbers of a message or file.

    Args:
        kind: a key of `DIMENSIONS`, or ``convex_mesh``.
        dimensions: as many numbers as `DIMENSIONS` says [m].
        vertices: convex_mesh: corners, (N >= 4, 3) [m].

    Raises:
        MotionError: INVALID_GEOMETRY or NOT_FINITE; the text says what was wanted.
    """
    numbers = tuple(float(number) for number in dimensions)
    if kind == "convex_mesh":
        corners = np.array([] if vertices is None else vertices, dtype=np.float64)
        return Mesh(vertices=corners)
    if kind not in DIMENSIONS:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY,
            f"shape {kind!r} is unknown; choose from {[*DIMENSIONS, 'convex_mesh']}",
        )
    if len(numbers) != DIMENSIONS[kind]:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY,
            f"a {kind} takes {DIMENSIONS[kind]} dimensions [m], got {list(numbers)}",
        )
    if kind == "sphere":
        return Sphere(numbers[0])
    if kind == "box":
        return Box((numbers[0], numbers[1], numbers[2]))
    if kind == "cylinder":
        return Cylinder(radius=numbers[1], height=numbers[0])
    return Capsule(radius=numbers[1], height=numbers[0])


@lru_cache(maxsize=256)
def facets(mesh: Mesh) -> Array:
    """Planes of a mesh's convex hull, (M, 4): outward unit normal n and offset d, n·p + d <= 0.

    Raises:
        MotionError: INVALID_GEOMETRY: the corners span no volume, or are still in a file.
    """
    if mesh.vertices is None:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY, f"Mesh {mesh.path}: load it, and give its vertices"
        )
    try:
        equations = ConvexHull(_corners(mesh)).equations
    except QhullError as error:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY,
            f"Mesh.vertices: {len(mesh.vertices)} corners that span no volume; "
            "give at least 4 that do not lie in a plane",
        ) from error
    # Facets are triangles: those of one face have the same plane.
    planes: Array = np.unique(np.round(equations, 12), axis=0)
    planes.flags.writeable = False
    return planes


def _corners(mesh: Mesh) -> Array:
    return np.asarray(mesh.vertices, dtype=np.float64) * mesh.scale


def contains(shape: ConvexShape, points: Array) -> NDArray[np.bool_]:
    """Which points lie in a shape, its surface included."""
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    match shape:
        case Sphere(radius=radius):
            return np.asarray(x * x + y * y + z * z <= radius * radius)
        case Box(size=size):
            hx, hy, hz = (0.5 * edge for edge in size)
            return np.asarray((abs(x) <= hx) & (abs(y) <= hy) & (abs(z) <= hz))
        case Cylinder(radius=radius, height=height):
            return np.asarray((abs(z) <= 0.5 * height) & (x * x + y * y <= radius * radius))
        case Capsule(radius=radius, height=height):
            beyond = np.maximum(abs(z) - 0.5 * height, 0.0)
            return np.asarray(x * x + y * y + beyond * beyond <= radius * radius)
    inside = np.ones(len(points), dtype=np.bool_)
    for nx, ny, nz, d in facets(shape):
        inside &= nx * x + ny * y + nz * z + d <= SURFACE
    return inside


def signed_distance(shape: ConvexShape, points: Array) -> Array:
    """Distance of points from a shape's surface, negative inside [m].

    For a mesh it is exact inside; outside it is the distance from the farthest of the facets'
    planes, which is at most the true one.
    """
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    across = np.hypot(x, y)
    match shape:
        case Sphere(radius=radius):
            return np.asarray(np.hypot(across, z) - radius)
        case Capsule(radius=radius, height=height):
            return np.asarray(np.hypot(across, np.maximum(abs(z) - 0.5 * height, 0.0)) - radius)
        case Box(size=size):
            beyond = abs(points) - 0.5 * np.array(size)
        case Cylinder(radius=radius, height=height):
            beyond = np.stack([across - radius, abs(z) - 0.5 * height], axis=1)
        case _:
            planes = facets(shape)
            return np.asarray((points @ planes[:, :3].T + planes[:, 3]).max(axis=1))
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return np.asarray(outside + np.minimum(beyond.max(axis=1), 0.0))


def support(shape: ConvexShape, direction: Array) -> float:
    """How far a shape reaches along a unit vector given in its frame, from its origin [m]."""
    x, y, z = (float(part) for part in direction)
    match shape:
        case Sphere(radius=radius):
            return radius
        case Box(size=size):
            return 0.5 * (abs(x) * size[0] + abs(y) * size[1] + abs(z) * size[2])
        case Cylinder(radius=radius, height=height):
            return 0.5 * height * abs(z) + radius * float(np.hypot(x, y))
        case Capsule(radius=radius, height=height):
            return 0.5 * height * abs(z) + radius
    return float((_corners(shape) @ direction).max())


def bounds(shape: ConvexShape, parent_T_shape: Array) -> tuple[Array, Array]:
    """Lowest and highest corner of the axis-aligned box around a shape in another frame [m]."""
    centre, axes = parent_T_shape[:3, 3], parent_T_shape[:3, :3]
    low = [centre[i] - support(shape, -axes[i]) for i in range(3)]
    high = [centre[i] + support(shape, axes[i]) for i in range(3)]
    return np.array(low), np.array(high)


def line_interval(
    shape: ConvexShape, origin: Array, direction: Array
) -> tuple[float, float] | None:
    """Where a line runs through a shape.

    Args:
        shape: the shape.
        origin: a point of the line in the shape's frame [m].
        direction: unit vector of the line in the shape's frame.

    Returns:
        Distances from the origin along the direction [m] between which the line is inside, or None
        where it passes by.
    """
    match shape:
        case Sphere(radius=radius):
            return _through_ball(origin, direction, radius)
        case Box(size=size):
            half = 0.5 * np.array(size)
            normals = np.vstack([np.eye(3), -np.eye(3)])
            return _through_planes(origin, direction, normals, np.concatenate([half, half]))
        case Cylinder(radius=radius, height=height):
            return _through_cylinder(origin, direction, radius, height)
        case Capsule(radius=radius, height=height):
            end = np.array([0.0, 0.0, 0.5 * height])
            parts = [
                _through_cylinder(origin, direction, radius, height),
                _through_ball(origin - end, direction, radius),
                _through_ball(origin + end, direction, radius),
            ]
            # A capsule is convex: what lies between two of its points belongs to it.
            found = [part for part in parts if part is not None]
            return (min(p[0] for p in found), max(p[1] for p in found)) if found else None
    planes = facets(shape)
    return _through_planes(origin, direction, planes[:, :3], -planes[:, 3])


def _through_ball(origin: Array, direction: Array, radius: float) -> tuple[float, float] | None:
    middle = -float(origin @ direction)
    square = radius * radius - float(origin @ origin) + middle * middle
    if square < 0.0:
        return None
    half = float(np.sqrt(square))
    return middle - half, middle + half


def _through_planes(
    origin: Array, direction: Array, normals: Array, offsets: Array
) -> tuple[float, float] | None:
    """Through the points p with ``normals @ p <= offsets``."""
    speed, room = normals @ direction, offsets - normals @ origin
    along = np.abs(speed) < 1e-12
    if np.any(room[along] < 0.0):
        return None
    at = room[~along] / speed[~along]
    enter = float(at[speed[~along] < 0.0].max(initial=-np.inf))
    leave = float(at[speed[~along] > 0.0].min(initial=np.inf))
    return (enter, leave) if enter <= leave else None


def _through_cylinder(
    origin: Array, direction: Array, radius: float, height: float
) -> tuple[float, float] | None:
    ends = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    slab = _through_planes(origin, direction, ends, np.full(2, 0.5 * height))
    if slab is None:
        return None
    across = float(np.hypot(direction[0], direction[1]))
    if across < 1e-12:
        return slab if np.hypot(origin[0], origin[1]) <= radius else None
    flat = np.array([*direction[:2], 0.0]) / across
    round_ = _through_ball(np.array([*origin[:2], 0.0]), flat, radius)
    if round_ is None:
        return None
    enter, leave = max(slab[0], round_[0] / across), min(slab[1], round_[1] / across)
    return (enter, leave) if enter <= leave else None


def gap_above(
    upper: ConvexShape, world_T_upper: Array, lower: ConvexShape, world_T_lower: Array
) -> float | None:
    """How far one shape hovers over another, z of the world being up.

    Returns:
        Height of the upper shape's lowest point above the lower one's surface straight below the
        upper one's origin [m], negative where they overlap; None where the lower shape is not
        below that origin at all.
    """
    down = np.array([0.0, 0.0, -1.0])
    lowest = world_T_upper[2, 3] - support(upper, world_T_upper[:3, :3].T @ down)
    lower_R_world = world_T_lower[:3, :3].T
    above = lower_R_world @ (world_T_upper[:3, 3] - world_T_lower[:3, 3])
    interval = line_interval(lower, above, lower_R_world @ down)
    if interval is None or interval[1] < 0.0:
        return None
    return float(lowest - (world_T_upper[2, 3] - interval[0]))
