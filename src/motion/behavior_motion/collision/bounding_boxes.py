# SPDX-License-Identifier: Apache-2.0
"""Which pairs of geometries may be near each other, by axis-aligned boxes around them.

To measure a pair takes a microsecond or two, and of hundreds a few are near: boxes of all are
compared at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from behavior_motion.checks import Matrix, Vector

_EVERYWHERE = 1e6
"""[m] half the edge of a box around what has no end."""


class BoundingBoxes:
    """Boxes around the geometries of a model, and the pairs of them that are compared.

    What no joint moves stays where the model has it: where that is changed, others must be made.
    """

    def __init__(self, *models: Any, pairs: Sequence[tuple[int, int]]) -> None:
        """Enclose geometries as each model has them.

        Args:
            models: ``pinocchio.GeometryModel``, alike but for the geometries themselves.
            pairs: indices of geometries.
        """
        corners = np.array(
            [[_corners(g.geometry) for g in m.geometryObjects] for m in models]
        ).reshape(len(models), -1, 2, 3)
        low, high = corners[:, :, 0].min(axis=0), corners[:, :, 1].max(axis=0)
        objects = models[0].geometryObjects
        self._middles, self._halves = 0.5 * (low + high), 0.5 * (high - low)
        self._moving = [i for i, item in enumerate(objects) if item.parentJoint != 0]
        self._first, self._second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        self._low, self._high = np.zeros((2, len(low), 3))
        self._enclose(range(len(low)), [item.placement for item in objects])

    def nearer_than(self, within: float, placements: Any) -> list[int]:
        """Positions of the pairs whose boxes are less than ``within`` [m] apart, ascending.

        Args:
            within: [m]; all pairs that are nearer than this themselves are among them.
            placements: ``pinocchio.SE3`` of each geometry, in the root frame.
        """
        self._enclose(self._moving, placements)
        first, second = self._first, self._second
        gaps = np.maximum(
            self._low[first] - self._high[second], self._low[second] - self._high[first]
        )
        gaps = gaps.clip(0.0)
        near: list[int] = np.flatnonzero(np.einsum("ki,ki->k", gaps, gaps) < within**2).tolist()
        return near

    def _enclose(self, which: Sequence[int], placements: Any) -> None:
        """Bring the boxes of some geometries up to date."""
        if not len(which):
            return
        at = [placements[i] for i in which]
        rotations = np.array([placement.rotation for placement in at])
        rows = np.array(which, dtype=np.intp)
        turned = np.concatenate(
            [
                rotations @ self._middles[rows, :, None],
                np.abs(rotations) @ self._halves[rows, :, None],
            ],
            axis=2,
        )
        middles = turned[:, :, 0] + np.array([placement.translation for placement in at])
        self._low[rows] = middles - turned[:, :, 1]
        self._high[rows] = middles + turned[:, :, 1]


def _corners(geometry: Any) -> tuple[Vector, Vector]:
    """Least and greatest coordinates in the geometry's own frame [m]."""
    geometry.computeLocalAABB()
    box: Matrix = np.array([geometry.aabb_local.min_, geometry.aabb_local.max_]).reshape(2, 3)
    low, high = np.nan_to_num(box, nan=0.0).clip(-_EVERYWHERE, _EVERYWHERE)
    return low, high
