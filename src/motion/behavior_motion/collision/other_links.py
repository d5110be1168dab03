# SPDX-License-Identifier: Apache-2.0
"""The links that other groups of a robot move, as obstacles in a planner's scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import coal
import numpy as np

from behavior_motion.collision.scene import PlanningScene
from behavior_motion.collision.shapes import Box, Cylinder, Mesh, Shape, Sphere

SMALL = 5e-4
"""[m] and [-] by which a pose may differ before an obstacle is moved."""


def place_other_links(scene: PlanningScene, joints: Mapping[str, float]) -> None:
    """Bring the other links of the scene's robot to where they are, where it has any.

    Args:
        scene: of one group's planner.
        joints: positions by joint [rad, m], as for `OtherLinks.poses`.
    """
    others = scene.robot.others
    if others is None:
        return
    poses, there = others.poses(joints), set(scene.object_names())
    for name, geometry in others.geometries.items():
        if name in there:
            if not np.allclose(scene.object_pose(name), poses[name], atol=SMALL, rtol=0.0):
                scene.move_object(name, poses[name])
        elif (shape := _shape(geometry.geometry)) is not None:
            scene.add_object(name, shape, poses[name])
            for obstacle, link in others.may_touch:
                if obstacle == name:
                    scene.allow_collision(name, link)


def _shape(geometry: Any) -> Shape | None:
    """The shape in the planner's terms; None: one that it does not know."""
    if isinstance(geometry, coal.Box):
        x, y, z = (2.0 * float(half) for half in geometry.halfSide)
        return Box((x, y, z))
    if isinstance(geometry, coal.Cylinder):
        return Cylinder(radius=float(geometry.radius), height=2.0 * float(geometry.halfLength))
    if isinstance(geometry, coal.Sphere):
        return Sphere(float(geometry.radius))
    if isinstance(geometry, coal.BVHModelBase):
        return Mesh(vertices=np.array(geometry.vertices()))
    return None
