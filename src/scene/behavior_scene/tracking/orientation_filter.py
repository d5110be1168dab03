# SPDX-License-Identifier: Apache-2.0
"""Orientations of N tracks, filtered with regard to the time step.

The filter has one variance for each track. It averages what it has seen, weighed by the variances,
until it has settled; then, after a step of dt, the orientation goes the part
``1 - exp(-dt / tau)`` of the way to the measured one along the shortest rotation, at every rate of
the detector (see `motion_model.wandering`). A turn beyond `SNAP_ANGLE` is taken over at once: a
thing that somebody turned over, or one with symmetry whose detector changed its mind; filtering
would show an orientation that it never had.
"""

from __future__ import annotations

import math

import numpy as np

from behavior_scene.detections import Array
from behavior_scene.tracking.motion_model import wandering

SNAP_ANGLE = 0.3
"""[rad]."""
_EYE = np.eye(3)


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
    turn = rotation.swapaxes(1, 2).copy() @ measured
    snaps = turn.trace(axis1=1, axis2=2) < 1.0 + 2.0 * math.cos(SNAP_ANGLE)
    after = rotation @ _part_of(turn, gain)
    after[snaps] = measured[snaps]
    return after, np.where(snaps, noise, gain * noise)


def _part_of(turn: Array, part: Array) -> Array:
    """Rotations about the same axes by a part of the angle; for angles below half a turn."""
    skew = 0.5 * (turn - turn.swapaxes(1, 2))  # sin(angle) times the axis's cross matrix
    sine = np.sqrt(skew[:, 0, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 2] ** 2)
    angle = np.arctan2(sine, 0.5 * (turn.trace(axis1=1, axis2=2) - 1.0))
    axis = skew / np.where(sine > 0.0, sine, 1.0)[:, None, None]
    goal = part * angle
    first = np.sin(goal)[:, None, None] * axis
    return np.asarray(_EYE + first + (1.0 - np.cos(goal))[:, None, None] * (axis @ axis))
