# SPDX-License-Identifier: Apache-2.0
"""What the viewer draws, without the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Colour = tuple[int, int, int]
PartKind = Literal["box", "sphere", "cylinder", "cone"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A simple solid."""

    kind: PartKind
    size: Vector
    """Edges of the box around it [m]; a cylinder and a cone stand along z."""
    offset: Vector = (0.0, 0.0, 0.0)
    """Of its centre in the frame of the object [m]."""


@dataclass(frozen=True, kw_only=True)
class ShownObject:
    """An object as the page draws it."""

    parts: tuple[Part, ...]
    position: Vector
    """[m]."""
    wxyz: tuple[float, float, float, float]
    """Orientation, quaternion w x y z."""
    colour: Colour
    """0..255."""
    label: str
    height: float
    """Of the label above the centre [m]."""
    solid: bool = True
    """False: a mere room or place, through which one sees."""


def open_box(size: Vector, *, wall: float, floor: float) -> tuple[Part, ...]:
    """A container open at the top: a floor and four walls.

    Args:
        size: outer edges [m].
        wall: thickness [m].
        floor: thickness [m].
    """
    x, y, z = size
    inner = max(y - 2 * wall, 0.0)
    parts = [Part(kind="box", size=(x, y, floor), offset=(0.0, 0.0, (floor - z) / 2))]
    for side in (-1.0, 1.0):
        high = z - floor
        parts += [
            Part(kind="box", size=(wall, y, high), offset=(side * (x - wall) / 2, 0.0, floor / 2)),
            Part(
                kind="box",
                size=(max(x - 2 * wall, 0.0), wall, high),
                offset=(0.0, side * (inner + wall) / 2, floor / 2),
            ),
        ]
    return tuple(parts)


def cone_mesh(size: Vector, corners: int = 32) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices [m] (n, 3) and faces (m, 3) of a cone along z, its tip up."""
    angles = np.linspace(0.0, 2 * np.pi, corners, endpoint=False)
    ring = np.column_stack(
        [
            0.5 * size[0] * np.cos(angles),
            0.5 * size[1] * np.sin(angles),
            np.full(corners, -0.5 * size[2]),
        ]
    )
    vertices = np.vstack([ring, [[0.0, 0.0, 0.5 * size[2]], [0.0, 0.0, -0.5 * size[2]]]])
    here = np.arange(corners)
    there = (here + 1) % corners
    tip, middle = np.full(corners, corners), np.full(corners, corners + 1)
    sides = np.column_stack([here, there, tip])
    return vertices, np.vstack([sides, np.column_stack([there, here, middle])])


@dataclass(frozen=True, kw_only=True)
class GroundMap:
    """A map to drive on."""

    image: NDArray[np.uint8]
    """(rows, columns, 3), its first row at the largest y."""
    width: float
    """[m] along x."""
    height: float
    """[m] along y."""
    centre: tuple[float, float]
    """[m] in the map's frame."""


_FREE, _SOLID, _UNKNOWN = (245, 245, 242), (70, 74, 82), (205, 208, 212)


def ground_map(
    cells: Sequence[int], *, columns: int, resolution: float, origin: tuple[float, float]
) -> GroundMap:
    """An occupancy grid as a picture.

    Args:
        cells: 0 free to 100 occupied, -1 unknown; row by row from the smallest y.
        columns: of a row.
        resolution: edge of a cell [m].
        origin: of the first cell's corner [m].
    """
    grid = np.asarray(cells, dtype=np.int16).reshape(-1, max(columns, 1))[::-1]
    image = np.empty((*grid.shape, 3), np.uint8)
    image[:] = _FREE
    image[grid < 0] = _UNKNOWN
    image[grid >= 50] = _SOLID
    width, height = columns * resolution, grid.shape[0] * resolution
    centre = (origin[0] + width / 2, origin[1] + height / 2)
    return GroundMap(image=image, width=width, height=height, centre=centre)
