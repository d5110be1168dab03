# SPDX-License-Identifier: Apache-2.0
"""Shapes of objects in the collision world. Lengths in metres; origins as stated per class."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from behavior_motion.checks import as_vector, check_coordinates, check_corners, positive
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.limits import LARGEST

CELLS = 2**15
"""[-] of a point cloud's grid, from its origin to either side: coal drops what lies beyond."""


def _impossible(message: str) -> MotionError:
    return MotionError(ErrorCode.INVALID_GEOMETRY, message)


def _finite(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Read-only copy of numbers."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _impossible(
            f"{name}: an array of numbers wanted, got {reprlib.repr(values)}"
        ) from error
    check_coordinates(name, array)
    array.flags.writeable = False
    return array


def _positive(name: str, value: float) -> float:
    return positive(name, value, ErrorCode.INVALID_GEOMETRY, at_most=LARGEST)


@dataclass(frozen=True)
class Box:
    """A box centred at its frame's origin."""

    size: tuple[float, float, float]
    """Full edge lengths along x, y, z [m]."""

    def __post_init__(self) -> None:
        size = as_vector("Box.size", self.size, 3, code=ErrorCode.INVALID_GEOMETRY)
        for value in size:
            _positive("Box.size", value)
        object.__setattr__(self, "size", tuple(size.tolist()))


@dataclass(frozen=True)
class Sphere:
    """A sphere centred at its frame's origin."""

    radius: float
    """Radius [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _positive("Sphere.radius", self.radius))


@dataclass(frozen=True)
class Cylinder:
    """A cylinder centred at its frame's origin, its axis along z."""

    radius: float
    """Radius [m]."""
    height: float
    """Full height along z [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _positive("Cylinder.radius", self.radius))
        object.__setattr__(self, "height", _positive("Cylinder.height", self.height))


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half spheres on both ends, centred at its frame's origin."""

    radius: float
    """Radius of cylinder and caps [m]."""
    height: float
    """Height of the cylindrical part along z, without the caps [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _positive("Capsule.radius", self.radius))
        object.__setattr__(self, "height", _positive("Capsule.height", self.height))


@dataclass(frozen=True)
class HalfSpace:
    """Everything at or below the plane z = 0 of its frame (a floor, or a wall when turned)."""


Plane = HalfSpace


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh from a file (STL, OBJ, DAE) or from vertices.

    Vertices without triangles, and any mesh with ``convex=True``, stand for their convex hull.
    """

    path: str | Path | None = None
    """File to load; exclusive with ``vertices``."""
    vertices: NDArray[np.float64] | None = field(default=None, repr=False)
    """Points, (N, 3) [m]."""
    triangles: NDArray[np.int64] | None = field(default=None, repr=False)
    """Vertex indices, (M, 3)."""
    convex: bool = True
    """Take the convex hull: some ten times faster to check than the bare triangles."""
    scale: float = 1.0
    """Factor applied to all coordinates."""

    def __post_init__(self) -> None:
        if (self.path is None) == (self.vertices is None):
            raise _impossible("Mesh: give either path or vertices")
        if self.path is not None and not Path(self.path).is_file():
            raise _impossible(f"Mesh.path: no such file {str(self.path)!r}")
        _positive("Mesh.scale", self.scale)
        if self.vertices is not None:
            self._check_vertices(self.vertices)

    def _check_vertices(self, vertices: ArrayLike) -> None:
        points = _finite("Mesh.vertices", vertices)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
            raise _impossible(f"Mesh.vertices: (N >= 4, 3) wanted, got {points.shape}")
        object.__setattr__(self, "vertices", points)
        if not self.convex and self.triangles is None:
            raise _impossible("Mesh.triangles: wanted where convex=False")
        if self.triangles is not None:
            object.__setattr__(self, "triangles", _indices(self.triangles, len(points)))
        check_corners("Mesh.vertices", points * self.scale, convex=self.convex)


def _indices(triangles: ArrayLike, count: int) -> NDArray[np.int64]:
    """Read-only copy of a mesh's triangles, of ``count`` vertices."""
    array = np.array(triangles)
    if array.ndim != 2 or array.shape[1:] != (3,) or not len(array) or array.dtype.kind not in "iu":
        raise _impossible(
            f"Mesh.triangles: whole numbers (M >= 1, 3) wanted, got {array.dtype} {array.shape}"
        )
    if array.min() < 0 or array.max() >= count:
        raise _impossible(
            f"Mesh.triangles: indices of {count} vertices wanted, got {array.min()} to "
            f"{array.max()}"
        )
    array.flags.writeable = False
    return array.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class HeightField:
    """Solid ground under a surface of heights over a regular grid, centred at its frame's origin.

    Between grid points the surface consists of triangles.
    """

    heights: NDArray[np.float64] = field(repr=False)
    """Heights over the plane z = 0 of its frame, (nx >= 2, ny >= 2): rows along x, columns along y
    [m]."""
    size: tuple[float, float]
    """Full extent along x and y, from the first grid point to the last [m]."""
    thickness: float = 0.1
    """How far the ground reaches down below its lowest point [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", _finite("HeightField.heights", self.heights))
        if self.heights.ndim != 2 or min(self.heights.shape) < 2:
            raise _impossible(
                f"HeightField.heights: (nx >= 2, ny >= 2) wanted, got {self.heights.shape}"
            )
        size = as_vector("HeightField.size", self.size, 2, code=ErrorCode.INVALID_GEOMETRY)
        for value in size:
            _positive("HeightField.size", value)
        object.__setattr__(self, "size", tuple(size.tolist()))
        _positive("HeightField.thickness", self.thickness)


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points of a depth sensor; each fills the cell of a regular grid that it lies in."""

    points: NDArray[np.float64] = field(repr=False)
    """(N >= 1, 3) [m]."""
    resolution: float
    """Edge length of the cells [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _finite("PointCloud.points", self.points))
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) < 1:
            raise _impossible(f"PointCloud.points: (N >= 1, 3) wanted, got {self.points.shape}")
        _positive("PointCloud.resolution", self.resolution)
        farthest, most = float(np.abs(self.points).max()), (CELLS - 1) * self.resolution
        if farthest >= most:
            raise _impossible(
                f"PointCloud.points: in cells of {self.resolution:g} m coordinates below {most:g} "
                f"m wanted, got {farthest:g}; drop farther points, or take larger cells"
            )


Shape = Box | Sphere | Cylinder | Capsule | HalfSpace | Mesh | HeightField | PointCloud
