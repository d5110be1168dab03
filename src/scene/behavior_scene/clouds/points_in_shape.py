# SPDX-License-Identifier: Apache-2.0
"""How many points of a cloud lie in shapes, and their mean colour: one pass for all shapes.

A grid of 256 cells along each axis spans the boxes around all shapes; per cell and axis one bit per
shape tells whether its box covers the cell. The three words of a point leave the shapes that it can
lie in: three comparisons and three look-ups for a point, however many shapes there are. Only then
it is taken into the shapes' frames.

The pass is compiled. Until it is (:func:`prepare` does that in a thread), plain numpy counts the
same.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from behavior_motion.collision.convex import SURFACE, ConvexShape, bounds, contains, facets
from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_scene.clouds.cloud import Cloud
from behavior_scene.clouds.color import Hsv, mean_color, mean_of_sums
from behavior_scene.detections import Array

MARGIN = 1e-6
"""[m] by which the boxes around shapes are too large, against rounding."""
_BATCH = 64
_KINDS: dict[type, int] = {Sphere: 0, Box: 1, Cylinder: 2, Capsule: 3, Mesh: 4}


@dataclass(frozen=True, slots=True)
class PlacedShape:
    """A shape and where it is."""

    shape: ConvexShape
    pose: Array
    """4x4, in the frame of the cloud [m]."""


@dataclass(frozen=True, slots=True)
class PointCount:
    """What lies in a shape."""

    count: int
    mean: Hsv | None
    """None: no points, or a cloud without colours."""


class _Compiled:
    """The compiled pass, as soon as it is there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.kernel: ModuleType | None = None
        self.problem = ""
        self._thread: threading.Thread | None = None

    def prepare(self) -> threading.Thread:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._import, name="compile points in shapes", daemon=True
                )
                self._thread.start()
            return self._thread

    def _import(self) -> None:
        try:
            from behavior_scene.clouds import points_kernel
        except Exception as error:  # numba fails in many ways: numpy goes on counting
            self.problem = f"{type(error).__name__}: {error}"
        else:
            self.kernel = points_kernel


_COMPILED = _Compiled()


def prepare(*, wait: bool = False) -> str:
    """Compile in a thread, once.

    Args:
        wait: return only when it is done.

    Returns:
        Why it failed; empty: it did not, or is not done yet.
    """
    thread = _COMPILED.prepare()
    if wait:
        thread.join()
    return _COMPILED.problem


def is_prepared() -> bool:
    """Whether the compiled pass counts."""
    return _COMPILED.kernel is not None


def problem() -> str:
    """Why nothing could be compiled; empty: it could, or nobody tried yet."""
    return _COMPILED.problem


def count_points(cloud: Cloud, shapes: Sequence[PlacedShape]) -> list[PointCount]:
    """Count the points in each of some shapes; a point may lie in several.

    Args:
        cloud: points, those that are not finite are skipped.
        shapes: placed in the cloud's frame.
    """
    if _COMPILED.kernel is None:
        return count_points_plainly(cloud, shapes)
    found: list[PointCount] = []
    for first in range(0, len(shapes), _BATCH):
        found += _count_batch(_COMPILED.kernel, cloud, shapes[first : first + _BATCH])
    return found


def count_points_plainly(cloud: Cloud, shapes: Sequence[PlacedShape]) -> list[PointCount]:
    """The same by numpy, a shape after the other."""
    points = np.stack([cloud.x.ravel(), cloud.y.ravel(), cloud.z.ravel()]).astype(np.float64)
    finite = np.isfinite(points).all(axis=0)
    points, colors = points[:, finite], None
    if cloud.rgb is not None:
        colors = cloud.rgb.ravel()[finite]
    found = []
    for placed in shapes:
        inside = contains(placed.shape, _in_frame(points, placed.pose))
        mean = None if colors is None else mean_color(colors[inside])
        found.append(PointCount(int(inside.sum()), mean))
    return found


def _in_frame(points: Array, pose: Array) -> Array:
    """Points (3, N) as rows in the frame at `pose`; sums in the order of the compiled pass."""
    dx, dy, dz = (points[axis] - pose[axis, 3] for axis in range(3))
    rotation = pose[:3, :3]
    return np.stack(
        [rotation[0, i] * dx + rotation[1, i] * dy + rotation[2, i] * dz for i in range(3)], axis=1
    )


def _count_batch(
    kernel: ModuleType, cloud: Cloud, shapes: Sequence[PlacedShape]
) -> list[PointCount]:
    low, high, masks = _grid([bounds(s.shape, s.pose) for s in shapes], kernel.BINS)
    hulls = [facets(s.shape) if isinstance(s.shape, Mesh) else np.empty((0, 4)) for s in shapes]
    counts, sums = np.zeros(len(shapes), dtype=np.int64), np.zeros((len(shapes), 4))
    kernel.count(
        cloud.x,
        cloud.y,
        cloud.z,
        np.zeros((1, 1), dtype=np.uint32) if cloud.rgb is None else cloud.rgb,
        cloud.rgb is not None,
        low,
        high,
        masks,
        np.array([_KINDS[type(s.shape)] for s in shapes], dtype=np.int64),
        np.array([_numbers(s) for s in shapes]),
        np.cumsum([0, *map(len, hulls)], dtype=np.int64),
        np.concatenate(hulls),
        SURFACE,
        counts,
        sums,
    )
    return [
        PointCount(int(count), None if cloud.rgb is None else mean_of_sums(int(count), *row))
        for count, row in zip(counts, sums.tolist(), strict=True)
    ]


def _grid(boxes: Sequence[tuple[Array, Array]], bins: int) -> tuple[Array, Array, Any]:
    """Lowest and highest corner and the masks of the grid over some boxes; see the module's text.

    A mask has a cell more than the grid, for coordinates that rounding puts beyond it.
    """
    lows = np.array([low for low, _ in boxes]) - MARGIN
    highs = np.array([high for _, high in boxes]) + MARGIN
    low, high = lows.min(axis=0), highs.max(axis=0)
    scale = bins / (high - low)
    masks = np.zeros((3, bins + 1), dtype=np.uint64)
    first = np.maximum(np.floor((lows - low) * scale).astype(np.int64) - 1, 0)
    last = np.floor((highs - low) * scale).astype(np.int64) + 1
    for shape in range(len(boxes)):
        for axis in range(3):
            masks[axis, first[shape, axis] : last[shape, axis] + 1] |= np.uint64(1 << shape)
    return low, high, masks


def _numbers(placed: PlacedShape) -> list[float]:
    """A row of the kernel's table of shapes."""
    match placed.shape:
        case Sphere(radius=radius):
            lengths = (radius, 0.0, 0.0)
        case Box(size=size):
            lengths = (0.5 * size[0], 0.5 * size[1], 0.5 * size[2])
        case Cylinder(radius=radius, height=height) | Capsule(radius=radius, height=height):
            lengths = (radius, 0.5 * height, 0.0)
        case _:
            lengths = (0.0, 0.0, 0.0)
    pose = placed.pose
    return [*pose[:3, :3].ravel().tolist(), *pose[:3, 3].tolist(), *lengths]
