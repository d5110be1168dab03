# SPDX-License-Identifier: Apache-2.0
"""Shapes of objects as bodies in space: what lies in an object, what rests on it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from behavior_motion.collision.convex import ConvexShape, convex_shape, gap_above, signed_distance
from behavior_motion.collision.shapes import Sphere
from behavior_scene.detections import Array
from behavior_scene.library import Shape
from behavior_scene.objects.snapshot import SceneObject

SHAPE_KINDS = ("sphere", "box", "cylinder", "capsule", "convex_mesh")
"""In the order of the constants of behavior_msgs/SceneShape."""

POINT = 1e-6
"""[m] Radius of what stands for a point."""


@lru_cache(maxsize=1024)
def body_of(shape: Shape) -> ConvexShape:
    """The body of an object's shape; a mere frame is a point."""
    if shape.kind == "none":
        return Sphere(POINT)
    return convex_shape(shape.kind, shape.size)


def gap_between(upper: SceneObject, lower: SceneObject) -> float | None:
    """How far an object hovers over another [m], see `collision.convex.gap_above`."""
    return gap_above(
        body_of(upper.shape), upper.world_T_object, body_of(lower.shape), lower.world_T_object
    )


def depth_within(body: ConvexShape, world_T_body: Array, position: Array) -> float:
    """Distance of a point of the world from a body's surface [m], negative inside."""
    local = world_T_body[:3, :3].T @ (position - world_T_body[:3, 3])
    return float(np.asarray(signed_distance(body, local[None]))[0])
