# SPDX-License-Identifier: Apache-2.0
"""Orientations of N tracks, filtered with regard to the time step.

The filter has one variance for each track. It averages what it has seen, weighed by the variances,
until it has settled; then, after a step of dt, the orientation goes the part
``1 - exp(-dt / tau)`` of the way to the measured one along the shortest rotation, at every rate of
the detector (see :func:`behavior_scene.motion_model.wandering`). A turn beyond `SNAP_ANGLE` is
taken over at once: a thing that somebody turned over, or one with symmetry whose detector changed
its mind; filtering would show an orientation that it never had.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_scene.detections import Array
from behavior_scene.motion_model import wandering

SNAP_ANGLE = 0.3
"""[rad]."""


def turned(
    rotation: Array,
    variance: Array,
    measured: Array,
    noise: Array,
    *,
    dt: Array,
    time_constant: Array,
) -> tuple[Array, Array]:
    """Orientations after a measurement of each.

    Args:
        rotation: N x 3 x 3, filtered so far.
        variance: N, of them about each axis [rad^2].
        measured: N x 3 x 3.
        noise: N, variance of the measurements about each axis [rad^2].
        dt: N, time since the last measurement, not negative [s].
        time_constant: N [s].

    Returns:
        N x 3 x 3 orientations and N variances.
    """
    before = variance + wandering(noise, dt, time_constant)
    gain = before / (before + noise)
    turn = Rotation.from_matrix(rotation.transpose(0, 2, 1) @ measured).as_rotvec()
    snaps = np.linalg.norm(turn, axis=1) > SNAP_ANGLE
    gain = np.where(snaps, 1.0, gain)
    after = rotation @ Rotation.from_rotvec(gain[:, None] * turn).as_matrix()
    after[snaps] = measured[snaps]
    return after, np.where(snaps, noise, gain * noise)
