# SPDX-License-Identifier: Apache-2.0
"""How much of each thing the cameras of a world see, by rays from their lenses.

Each face of the box around a thing that looks towards a camera has some points; a point is seen if
nothing stands before it. Faces count by how large they look.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from behavior_sim.worlds.config import extents
from behavior_sim.worlds.model import GROUP_VISUAL
from behavior_sim.worlds.world import World

_INNER = 0.6
"""Part of the way from the middle of a face to its edges at which points are looked for."""
_NEAR = 0.01
"""[m] What is hit so little before a point is the thing itself, or touches it."""
_SPOTS = np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]]) * _INNER


class Visibility:
    """Looks at a world from the cameras that are fixed to it.

    Args:
        world: its present state counts.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        cameras = world.config.cameras.values()
        self._eyes = [np.array(c.position, float) for c in cameras if c.parent == "world"]
        self._half = {
            name: np.array(extents(obj.shape, obj.size)) / 2
            for name, obj in world.visible_objects.items()
        }
        # The robot counts by its hulls.
        self._groups = np.ones(6, np.uint8)
        self._groups[GROUP_VISUAL] = 0

    def parts(self) -> dict[str, float]:
        """Part of each thing that the camera that sees most of it sees, 0..1; no cameras: all."""
        names = list(self._half)
        if not self._eyes or not names:
            return dict.fromkeys(names, 1.0)
        seen = [self._from(eye) for eye in self._eyes]
        return {name: max(parts[name] for parts in seen) for name in names}

    def _from(self, eye: NDArray[np.float64]) -> dict[str, float]:
        spots = {name: self._spots(name, eye) for name in self._half}
        free = self._free(eye, np.concatenate([points for points, _ in spots.values()]))
        parts, start = {}, 0
        for name, (points, weights) in spots.items():
            parts[name] = float(weights @ free[start : start + len(points)] / weights.sum())
            start += len(points)
        return parts

    def _spots(
        self, name: str, eye: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points (n, 3) on the faces that look towards the eye [m], and what each counts (n,)."""
        pose, half = self._world.visible_pose(name), self._half[name]
        to_eye = pose[:3, :3].T @ (eye - pose[:3, 3])
        points, weights = [], []
        for axis in range(3):
            if abs(to_eye[axis]) <= half[axis]:
                continue  # neither this face nor the one across looks there
            face = np.zeros((len(_SPOTS), 3))
            others = [k for k in range(3) if k != axis]
            face[:, axis] = np.copysign(half[axis], to_eye[axis])
            face[:, others] = _SPOTS * half[others]
            area = float(np.prod(half[others]) * (abs(to_eye[axis]) - half[axis]))
            points.append(face)
            weights.append(np.full(len(face), area))
        if not points:  # the lens is in the thing
            return pose[None, :3, 3], np.ones(1)
        local = np.concatenate(points)
        return local @ pose[:3, :3].T + pose[:3, 3], np.concatenate(weights)

    def _free(self, eye: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
        """1 for each point (n, 3) that nothing stands before, else 0."""
        rays = points - eye
        lengths = np.linalg.norm(rays, axis=1)
        geoms = np.full(len(points), -1, np.int32)
        hits = np.full(len(points), -1.0)
        mujoco.mj_multiRay(
            self._world.model,
            self._world.data,
            eye,
            (rays / lengths[:, None]).ravel(),
            self._groups,
            1,
            -1,
            geoms,
            hits,
            None,
            len(points),
            float(lengths.max()),
        )
        return np.asarray((hits < 0.0) | (hits > lengths - _NEAR), dtype=float)
