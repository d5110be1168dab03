# SPDX-License-Identifier: Apache-2.0
"""What a camera far away sees of a solid: how large it looks and where the middle of that lies.

Each pixel of the picture counts the same, so a piece of the surface counts by its area as it
appears, area times cosine; that is what the mean of an object's depth points approaches. All three
solids are convex, so each point of the surface is seen or not by its normal alone.

- Box, edges 2h: the face of normal e_i towards the camera appears as A_i |d_i| and has its middle
  at h_i e_i; the mean is the weighted one of three faces.
- Sphere, radius r: the half towards the camera appears as a disc; the mean height over it is 2/3 r.
- Cylinder, radius r, height l: a cap appears as pi r^2 |d_z| with its middle at l/2; the side
  appears as 2 r l sin, and the mean of cos^2 over cos on the half circle puts its middle at
  pi/4 r.
"""

from __future__ import annotations

import math

import numpy as np

from behavior_scene.detections import Array
from behavior_scene.library import Shape


def _parts(shape: Shape, direction: Array) -> tuple[Array, Array]:
    """Areas (k,) as they appear [m^2] and middles (k, 3) [m] of the parts that are seen."""
    if shape.kind == "sphere":
        (radius,) = shape.size
        return np.array([math.pi * radius**2]), 2.0 / 3.0 * radius * direction[None]
    if shape.kind == "cylinder":
        height, radius = shape.size
        across = float(np.hypot(direction[0], direction[1]))
        side = direction * [1.0, 1.0, 0.0] / max(across, 1e-9) * math.pi / 4.0 * radius
        cap = np.array([0.0, 0.0, math.copysign(height / 2.0, direction[2])])
        areas = [2.0 * radius * height * across, math.pi * radius**2 * abs(direction[2])]
        return np.array(areas), np.stack([side, cap])
    halves = np.array(shape.half_extents)
    faces = 4.0 * np.prod(halves) / halves
    return faces * np.abs(direction), np.diag(np.copysign(halves, direction))


def visible_area(shape: Shape, direction: Array) -> float:
    """Area of a shape's silhouette [m^2].

    Args:
        shape: box, sphere or cylinder, centred.
        direction: (3,) of length 1, from the shape to the camera, in the shape's frame.
    """
    areas, _ = _parts(shape, direction)
    return float(areas.sum())


def visible_centroid(shape: Shape, direction: Array, kept: float = 1.0) -> Array:
    """Mean (3,) of the surface as seen, in the shape's frame [m].

    Args:
        shape: box, sphere or cylinder, centred.
        direction: (3,) of length 1, from the shape to the camera, in the shape's frame.
        kept: part of the silhouette that is looked at when its rim is left out. The rim is what
            lies furthest back: what is left recedes from the point nearest to the camera by less,
            in proportion to the width of the silhouette where faces are flat and to its area where
            they are round.
    """
    areas, middles = _parts(shape, direction)
    mean = np.asarray(areas @ middles / areas.sum())
    nearest = _reach(shape, direction)
    share = math.sqrt(kept) if shape.kind == "box" else kept
    return mean + (1.0 - share) * (nearest - float(mean @ direction)) * direction


def _reach(shape: Shape, direction: Array) -> float:
    """How far the shape reaches from its centre towards the camera [m]."""
    if shape.kind == "sphere":
        return shape.size[0]
    if shape.kind == "cylinder":
        height, radius = shape.size
        across = float(np.hypot(direction[0], direction[1]))
        return radius * across + height / 2.0 * abs(float(direction[2]))
    return float(np.abs(direction) @ np.array(shape.half_extents))
