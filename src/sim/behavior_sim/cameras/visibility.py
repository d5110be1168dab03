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
_FACES = np.stack([np.insert(_SPOTS, axis, 0.0, axis=1) for axis in range(3)])
"""Points on the face across each axis, as parts of half the size (3, 5, 3)."""


class Visibility:
    """Looks at a world from the cameras that are fixed to it.

    Args:
        world: its present state counts.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        cameras = world.config.cameras.values()
        self._eyes = [np.array(c.position, float) for c in cameras if c.parent == "world"]
        things = world.visible_objects
        self._names = list(things)
        self._half = np.array([extents(obj.shape, obj.size) for obj in things.values()]) / 2.0
        """(n, 3) [m]."""
        # The robot counts by its hulls.
        self._groups = np.ones(6, np.uint8)
        self._groups[GROUP_VISUAL] = 0

    def parts(self) -> dict[str, float]:
        """Part of each thing that the camera that sees most of it sees, 0..1; no cameras: all."""
        names = self._names
        if not self._eyes or not names:
            return dict.fromkeys(names, 1.0)
        seen = np.max([self._from(eye) for eye in self._eyes], axis=0)
        return dict(zip(names, seen.tolist(), strict=True))

    def _from(self, eye: NDArray[np.float64]) -> NDArray[np.float64]:
        """Part of each thing that is seen from there, (n,)."""
        poses, half = np.array([self._world.visible_pose(name) for name in self._names]), self._half
        turns, centres = poses[:, :3, :3], poses[:, :3, 3]
        to_eye = np.einsum("nji,nj->ni", turns, eye - centres)
        before = np.abs(to_eye) - half
        # Of the others neither this face nor the one across looks there.
        rows, axes = np.nonzero(before > 0.0)
        areas = half.prod(axis=1)[rows] / half[rows, axes] * before[rows, axes]
        faces = _FACES[axes] * half[rows, None]
        faces[np.arange(len(axes)), :, axes] = np.copysign(half, to_eye)[rows, axes, None]
        spots = faces @ np.swapaxes(turns[rows], 1, 2) + centres[rows, None]
        inside = np.setdiff1d(np.arange(len(half)), rows)  # the lens is in the thing
        free = self._free(eye, np.concatenate([spots.reshape(-1, 3), centres[inside]]))
        of_faces = free[: spots[..., 0].size].reshape(spots.shape[:2]).mean(axis=1)
        seen = np.bincount(rows, weights=areas * of_faces, minlength=len(half))
        all_of_it = np.bincount(rows, weights=areas, minlength=len(half))
        seen[inside], all_of_it[inside] = free[spots[..., 0].size :], 1.0
        return np.asarray(seen / all_of_it)

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
