# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator"
# ruff: noqa: PLR0917 (compiled code takes plain arrays, not objects)
"""The compiled counting of points, see :mod:`behavior_scene.clouds.points_in_shape`.

Importing this module compiles it (some seconds), or loads what an earlier process compiled. A row
of `shapes` holds the rotation cloud_R_shape (9 numbers, row-major), the origin in the cloud (3)
and the lengths (3): radius; half edges; radius and half height. Of a hull the facets' planes count.
"""

import math

import numpy as np
from numba import njit, types

SPHERE, BOX, CYLINDER, CAPSULE, HULL = range(5)
BINS = 256
"""Cells of the grid along each axis."""
BLOCK = 1024
"""Points that are sifted at once."""

# What need be neither writable nor aligned takes every other array too: one compilation for all.
_AXIS = types.Array(types.float32, 2, "A", readonly=True, aligned=False)
_PACKED = types.Array(types.uint32, 2, "A", readonly=True, aligned=False)
_FLOATS, _INTS = types.float64[::1], types.int64[::1]
_TABLE = types.float64[:, ::1]


@njit(
    types.boolean(
        types.int64, _TABLE, types.uint32, _TABLE, _INTS, types.float64, *[types.float64] * 3
    ),
    cache=True,
)
def _inside(
    kind, shapes, s, planes, plane_starts, surface, x, y, z
):  # pragma: no cover (runs compiled)
    """Whether a point of the cloud lies in a shape, as `collision.convex.contains` says."""
    dx, dy, dz = x - shapes[s, 9], y - shapes[s, 10], z - shapes[s, 11]
    x = shapes[s, 0] * dx + shapes[s, 3] * dy + shapes[s, 6] * dz
    y = shapes[s, 1] * dx + shapes[s, 4] * dy + shapes[s, 7] * dz
    z = shapes[s, 2] * dx + shapes[s, 5] * dy + shapes[s, 8] * dz
    if kind == SPHERE:
        return x * x + y * y + z * z <= shapes[s, 12] * shapes[s, 12]
    if kind == BOX:
        return abs(x) <= shapes[s, 12] and abs(y) <= shapes[s, 13] and abs(z) <= shapes[s, 14]
    if kind == CYLINDER:
        return abs(z) <= shapes[s, 13] and x * x + y * y <= shapes[s, 12] * shapes[s, 12]
    if kind == CAPSULE:
        beyond = max(abs(z) - shapes[s, 13], 0.0)
        return x * x + y * y + beyond * beyond <= shapes[s, 12] * shapes[s, 12]
    for k in range(plane_starts[s], plane_starts[s + 1]):
        if planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z + planes[k, 3] > surface:
            return False
    return True


@njit(types.void(types.uint32, _TABLE, types.uint32), cache=True)
def _add_color(packed, sums, s):  # pragma: no cover (runs compiled)
    """Add a point's colour; as `behavior_scene.clouds.color.mean_color`."""
    red = ((packed >> 16) & 255) / 255.0
    green = ((packed >> 8) & 255) / 255.0
    blue = (packed & 255) / 255.0
    largest = max(red, green, blue)
    chroma = largest - min(red, green, blue)
    sums[s, 3] += largest
    if chroma > 0.0:
        if largest == red:
            sixth = (green - blue) / chroma
        elif largest == green:
            sixth = 2.0 + (blue - red) / chroma
        else:
            sixth = 4.0 + (red - green) / chroma
        angle = sixth * (math.pi / 3.0)
        sums[s, 0] += chroma * math.cos(angle)
        sums[s, 1] += chroma * math.sin(angle)
        sums[s, 2] += chroma / largest


@njit(
    types.void(
        _AXIS, _AXIS, _AXIS, _PACKED, types.boolean,
        _FLOATS, _FLOATS, types.uint64[:, ::1],
        _INTS, _TABLE, _INTS, _TABLE, types.float64,
        _INTS, _TABLE,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def count(
    xs,
    ys,
    zs,
    packed,
    colored,
    low,
    high,
    masks,
    kinds,
    shapes,
    plane_starts,
    planes,
    surface,
    counts,
    sums,
):  # pragma: no cover (runs compiled)
    """Count points and add up their colours.

    Args:
        xs: of the points, (rows, columns) [m].
        ys: likewise.
        zs: likewise.
        packed: colours 0x..RRGGBB, (rows, columns); anything where there are none.
        colored: whether there are.
        low: corner of the grid, 3 numbers [m].
        high: opposite corner.
        masks: (3, BINS + 1); bit s of cell (axis, bin): the box around shape s covers the bin.
        kinds: of each of at most 64 shapes.
        shapes: see the module's text.
        plane_starts: row of each shape's first plane, and the end.
        planes: of all hulls.
        surface: tolerance of hulls [m].
        counts: gets the number of points per shape.
        sums: gets per shape the sums for `behavior_scene.clouds.color.mean_of_sums`.
    """
    low_x, low_y, low_z = low[0], low[1], low[2]
    high_x, high_y, high_z = high[0], high[1], high[2]
    scale_x, scale_y, scale_z = (
        BINS / (high_x - low_x),
        BINS / (high_y - low_y),
        BINS / (high_z - low_z),
    )
    # Points are sifted without branches, which a processor would guess wrong: first by the box
    # around the grid, which what is not finite fails too, then by the masks.
    columns = np.empty(BLOCK, dtype=np.uint32)
    nears = np.empty(BLOCK, dtype=np.uint64)
    for i in range(xs.shape[0]):
        for begin in range(0, xs.shape[1], BLOCK):
            within = types.uint32(0)
            for j in range(begin, min(begin + BLOCK, xs.shape[1])):
                x, y, z = xs[i, j], ys[i, j], zs[i, j]
                columns[within] = j
                within += types.uint32(
                    (x >= low_x)
                    & (x < high_x)
                    & (y >= low_y)
                    & (y < high_y)
                    & (z >= low_z)
                    & (z < high_z)
                )
            candidates = types.uint32(0)
            for k in range(within):
                j = columns[k]
                near = (
                    masks[0, types.uint32((xs[i, j] - low_x) * scale_x)]
                    & masks[1, types.uint32((ys[i, j] - low_y) * scale_y)]
                    & masks[2, types.uint32((zs[i, j] - low_z) * scale_z)]
                )
                columns[candidates], nears[candidates] = j, near
                candidates += types.uint32(near != 0)
            for k in range(candidates):
                j, near = columns[k], nears[k]
                s = types.uint32(0)
                while near != 0:
                    if near & types.uint64(1) and _inside(
                        kinds[s],
                        shapes,
                        s,
                        planes,
                        plane_starts,
                        surface,
                        xs[i, j],
                        ys[i, j],
                        zs[i, j],
                    ):
                        counts[s] += 1
                        if colored:
                            _add_color(packed[i, j], sums, s)
                    near >>= types.uint64(1)
                    s += types.uint32(1)
