# SPDX-License-Identifier: Apache-2.0
"""Where a box of known size is that stands on one of its faces, from a part of its faces.

The mean of the points depends on how much of each face is seen; the faces do not. In the frame of
the box, mirrored so that the camera is on its positive sides, every point p of the surface seen
satisfies max_k (p_k - c_k - h_k) = 0 with centre c and half edges h, and the k of the maximum is
the face that it lies on. So for a turn about z: start with the corner nearest to the camera, assign
each point to a face, put each face through its points, and do so again. A face that shows far fewer
points than its size has (something stands on it) tells nothing; along its normal, the middle of the
points on the other faces counts. Of all turns the one whose box the points lie on best is taken:
first in coarse steps, then in fine ones about the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array

COARSE, FINE = math.radians(6.0), math.radians(1.0)
"""Steps of the turn [rad]."""
ROUNDS = 4
"""Of assigning points and moving faces."""
SUPPORT = 0.25
"""A face with less than this part of the points that it should have tells nothing."""
FEWEST = 8
"""A face with fewer points than these tells nothing."""
_CLIP = 0.005
"""[m] a point further off counts no more than this: it belongs to something else."""
_MOST = 300
"""More points than these do not make the turn surer."""
_MISSING = 0.001
"""[m] What a box costs of which nothing is seen: where points lie as well on one face as on
another, the face that they fill counts."""
RESTING = (
    np.eye(3),
    np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
)
"""Rotations (3, 3) of a box that stands on its faces across z, x and y."""


@dataclass(frozen=True)
class BoxFit:
    """A box through points."""

    turn: Array
    """(3, 3) its rotation."""
    center: Array
    """(3,) [m]"""
    uncertain: Array
    """(3,) how far the centre may be off along each edge because too little is seen [m]."""
    cost: float
    """How ill it fits [m]."""


def fit_resting_box(points: Array, half: Array, eye: Array, density: float) -> BoxFit:
    """Fit a box that stands on any of its faces; see `fit_upright_box`."""
    fits: list[BoxFit] = []
    heights: list[float] = []
    for rest in RESTING:
        edges = np.abs(rest) @ half
        if any(math.isclose(edges[2], height, rel_tol=1e-3) for height in heights):
            continue
        heights.append(edges[2])
        fit = fit_upright_box(points, edges, eye, density, missing=_MISSING)
        fits.append(replace(fit, turn=fit.turn @ rest, uncertain=np.abs(rest.T) @ fit.uncertain))
    return min(fits, key=lambda fit: fit.cost)


def fit_upright_box(
    points: Array, half: Array, eye: Array, density: float, *, missing: float = 0.0
) -> BoxFit:
    """Fit a box that stands upright.

    Args:
        points: (n, 3) on its faces, z up [m].
        half: (3,) half edges [m].
        eye: (3,) where the camera is [m].
        density: points per area across the line of sight [1/m^2].
        missing: what a box costs of which nothing is seen [m]; 0: what is hidden costs nothing.
    """
    few = points[:: max(1, len(points) // _MOST)]
    share = density * len(few) / len(points)
    whole_turn = math.pi / 2 if math.isclose(half[0], half[1], rel_tol=1e-3) else math.pi
    coarse = _Fits(
        few, half, eye, share, angles=np.arange(0.0, whole_turn, COARSE), missing=missing
    )
    around = coarse.angles[coarse.best] + np.arange(-5, 6) * FINE
    fine = _Fits(few, half, eye, share, angles=around, missing=missing)
    best = fine.angles[fine.best : fine.best + 1]
    last = _Fits(points, half, eye, density, angles=best, missing=missing)
    return last.result()


class _Fits:
    """Fits for several turns at once; all arrays have the turns as their first axis."""

    def __init__(
        self,
        points: Array,
        half: Array,
        eye: Array,
        density: float,
        *,
        angles: Array,
        missing: float,
    ) -> None:
        self.angles = angles
        self._half = half
        cos, sin = np.cos(angles), np.sin(angles)
        self._turns = np.zeros((len(angles), 3, 3))
        self._turns[:, 0, 0] = self._turns[:, 1, 1] = cos
        self._turns[:, 0, 1], self._turns[:, 1, 0], self._turns[:, 2, 2] = -sin, sin, 1.0
        middle = points.mean(axis=0)
        sight = (eye - middle) / np.linalg.norm(eye - middle)
        directions = sight @ self._turns
        self._sides = np.copysign(1.0, directions)
        # (turns, 3, n): coordinates along the edges, positive towards the camera.
        self._at = (np.swapaxes(self._turns, 1, 2) @ points.T) * self._sides[:, :, None]
        areas = 4.0 * np.prod(half) / half * np.abs(directions)
        self._fewest = np.maximum(FEWEST, SUPPORT * density * areas)
        whole = density * areas.sum(axis=1)
        self._hidden = missing * np.maximum(0.0, 1.0 - len(points) / whole)
        ordered = np.sort(self._at, axis=2)
        margin = len(points) // 200
        self._low, self._high = ordered[:, :, margin], ordered[:, :, -1 - margin]
        self._centers = self._high - half
        for _ in range(ROUNDS):
            self._move()
        self.best = int(np.argmin(self._cost()))

    def _beyond(self) -> Array:
        """How far each point is beyond each face (turns, 3, n) [m]."""
        return np.asarray(self._at - (self._centers + self._half)[:, :, None])

    def _move(self) -> None:
        on: NDArray[np.bool_] = np.argmax(self._beyond(), axis=1)[:, None] == np.arange(3)[:, None]
        counts = on.sum(axis=2)
        sums = (self._at * on).sum(axis=2)
        self._supported = counts >= self._fewest
        faces = sums / np.maximum(counts, 1) - self._half
        self._centers = np.where(self._supported, faces, (self._low + self._high) / 2.0)

    def _cost(self) -> Array:
        """What each box costs (turns,) [m].

        The mean distance of the points from the faces seen, or from the box behind; and what is
        missing of the faces.
        """
        off = np.abs(self._beyond().max(axis=1))
        behind = (self._centers - self._half)[:, :, None] - self._at
        off = np.maximum(off, behind.max(axis=1))
        return np.asarray(np.minimum(off, _CLIP).mean(axis=1) + self._hidden)

    def result(self) -> BoxFit:
        """The best of them."""
        k = self.best
        gap = np.maximum(self._half - (self._high[k] - self._low[k]) / 2.0, 0.0)
        return BoxFit(
            turn=self._turns[k],
            center=self._turns[k] @ (self._sides[k] * self._centers[k]),
            uncertain=np.where(self._supported[k], 0.0, gap),
            cost=float(self._cost()[k]),
        )
