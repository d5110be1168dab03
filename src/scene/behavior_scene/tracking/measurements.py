# SPDX-License-Identifier: Apache-2.0
"""The detections of one image as arrays, with the noise that each must be expected to have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import UNKNOWN_COVARIANCE, Array, Detection
from behavior_scene.library import ObjectClass

ORIENTATION_DEVIATION = 0.05
"""[rad] of a measured orientation where the detector tells no covariance."""
SMALLEST_DEVIATION = 1e-4
"""[m], [rad]; no detector is better, and filters need a little noise."""
_EYE = np.eye(3)


@dataclass(frozen=True, slots=True)
class Measurements:
    """D detections."""

    detections: Sequence[Detection]
    stamps: Array
    """D [s]."""
    poses: Array
    """D x 4 x 4."""
    noise: Array
    """D x 3 x 3, covariance of the positions, positive definite [m^2]."""
    given: NDArray[np.bool_]
    """D, whether the detector told the noise of the position."""
    turn_noise: Array
    """D, variance of the orientations about each axis [rad^2]."""
    sizes: Array
    """D x 3 [m]; zeros: unknown."""

    @property
    def positions(self) -> Array:
        """D x 3 [m]."""
        return self.poses[:, :3, 3]


def measurements(detections: Sequence[Detection], classes: Sequence[ObjectClass]) -> Measurements:
    """Arrays of detections and of what is known of their classes (as many).

    The covariance is the detector's where it tells one, else it follows from the class's
    `position_deviation`.
    """
    count = len(detections)
    variance = np.array([known.position_deviation for known in classes]) ** 2
    noise = variance.reshape(count, 1, 1) * _EYE
    turn_noise = np.full(count, ORIENTATION_DEVIATION**2)
    known = np.array(
        [d.covariance is not UNKNOWN_COVARIANCE and any(d.covariance) for d in detections],
        dtype=bool,
    )
    given = np.zeros(count, dtype=bool)
    if known.any():
        (rows,) = known.nonzero()
        some = [detections[row].covariance for row in rows.tolist()]
        matrices = np.array(some).reshape(-1, 6, 6)
        trace = matrices[:, :3, :3].trace(axis1=1, axis2=2)
        given[rows] = trace > 0.0
        noise[given] = matrices[trace > 0.0, :3, :3]
        trace = matrices[:, 3:, 3:].trace(axis1=1, axis2=2)
        turn_noise[rows[trace > 0.0]] = trace[trace > 0.0] / 3.0
    return Measurements(
        detections=detections,
        stamps=np.array([detection.stamp for detection in detections]),
        poses=np.array([d.world_T_object for d in detections]).reshape(count, 4, 4),
        given=given,
        noise=noise + SMALLEST_DEVIATION**2 * _EYE,
        turn_noise=turn_noise + SMALLEST_DEVIATION**2,
        sizes=np.array([detection.size for detection in detections]).reshape(count, 3),
    )
