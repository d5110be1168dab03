# SPDX-License-Identifier: Apache-2.0
"""Which detections and tracks tell of the same thing, because no two things are in one place.

Detectors report things twice: two boxes about one cup, or the cup as a cup and as a can. Two
reports are of one thing where they are no further apart than their noise explains, or than half an
edge of what they are of; unless their known sizes differ too much, as those of a ball and its bowl.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from behavior_scene.detections import Array

SQUARED_DISTANCE = 16.3
"""In variances of the difference: 99.9 % of reports of one thing are nearer."""
EDGE_SHARE = 0.5
"""Part of the shortest edge that two things keep between their centres at least."""
LARGEST_RATIO = math.log(1.6)
"""Between the edges of two reports of one thing (natural logarithm)."""
LARGEST_TURN = 0.9
"""[rad] between two reports of one thing, where its class compares orientations."""


@dataclass(frozen=True, slots=True)
class Reports:
    """N reports of things."""

    poses: Array
    """N x 4 x 4 [m]."""
    variances: Array
    """N, of the positions along an axis [m^2]."""
    sizes: Array
    """N x 3, edges [m]; zeros: unknown."""
    turned: NDArray[np.bool_]
    """N, whether orientations tell things of its class apart."""

    def of(self, rows: Sequence[int]) -> Reports:
        """Some of them."""
        some = list(rows)
        return Reports(self.poses[some], self.variances[some], self.sizes[some], self.turned[some])


def neighbours(reports: Reports, of: Sequence[int]) -> list[list[int]]:
    """For each of some reports those that are near enough to be looked at, itself among them."""
    if not len(of):
        return []
    noise = math.sqrt(2.0 * SQUARED_DISTANCE * float(reports.variances.max()))
    reach = max(noise, EDGE_SHARE * float(reports.sizes.max()))
    places = reports.poses[:, :3, 3]
    found: Any = KDTree(places).query_ball_point(places[list(of)], reach)
    return [list(near) for near in found]


def same_object(one: Reports, others: Reports) -> NDArray[np.bool_]:
    """Which of N others may be of the thing that one report is of."""
    apart = others.poses[:, :3, 3] - one.poses[0, :3, 3]
    squared = np.einsum("na,na->n", apart, apart)
    near = np.asarray(squared <= SQUARED_DISTANCE * (one.variances[0] + others.variances))
    size = one.sizes[0]
    if size.all():
        known = np.asarray(others.sizes.all(axis=1))
        edges = np.sort(np.where(known[:, None], others.sizes, size), axis=1)
        alike = np.abs(np.log(edges / np.sort(size))).max(axis=1) <= LARGEST_RATIO
        edge = EDGE_SHARE * np.minimum(edges[:, 0], size.min())
        near = np.where(known, (near | (squared <= edge**2)) & alike, near)
    if one.turned[0]:
        cosine = np.einsum("nab,ab->n", others.poses[:, :3, :3], one.poses[0, :3, :3])
        near = near & (0.5 * (cosine - 1.0) >= math.cos(LARGEST_TURN))
    return np.asarray(near)
