# SPDX-License-Identifier: Apache-2.0
"""How noisy the detections of a track are, learned where the detector does not tell.

A wrong guess costs either way: if the noise is more than believed, a resting thing seems to
tremble; if it is less, a moving one lags. Three detections in a row tell the noise whether the
thing rests or moves steadily: with the times between them in the ratio q,
``z3 - z2 - q (z2 - z1)`` has the variance ``(1 + (1+q)^2 + q^2) r`` along each axis. The squares
are averaged, one after the other with less weight; what a push adds is limited.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array
from behavior_scene.tracking.assignment import Indices

PRIOR_WEIGHT = 4.0
"""Detections that the class's `position_deviation` counts for."""
LEAST_GAIN = 0.05
LARGEST_RATIO = 6.0
"""More than this many times the variance is no noise."""
LONGEST_STEP = 1.0
"""[s] between detections that are compared."""
SMALLEST, LARGEST = 0.2, 4.0
"""Deviation learned, as a multiple of the class's."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What was learned of N tracks."""

    variance: Array
    """N [m^2] along an axis."""
    weight: Array
    """N, detections that it rests on."""
    stamps: Array
    """N x 2 [s] of the last two detections, the newer first."""
    positions: Array
    """N x 2 x 3 [m], theirs."""

    WIDTH = 1 + 1 + 2 + 6
    """Numbers of one track."""

    def of(self, rows: Indices) -> Noise:
        """Those of some tracks."""
        return Noise(
            self.variance[rows], self.weight[rows], self.stamps[rows], self.positions[rows]
        )

    def packed(self) -> Array:
        """N x `WIDTH` numbers, one row for each track."""
        count = len(self.variance)
        parts = (self.variance, self.weight, self.stamps, self.positions)
        return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)

    @staticmethod
    def unpacked(rows: Array) -> Noise:
        """What the rows of `packed` tell; a view."""
        return Noise(rows[:, 0], rows[:, 1], rows[:, 2:4], rows[:, 4:].reshape(-1, 2, 3))


def unlearned(
    variance: Array, stamps: Array, positions: Array, weight: Array | None = None
) -> Noise:
    """Nothing learned: the variances [m^2], and where things are now.

    With a `weight`, what was learned is kept, but the next detection has no predecessor.
    """
    return Noise(
        variance=variance,
        weight=np.full(len(variance), PRIOR_WEIGHT) if weight is None else weight,
        stamps=np.repeat(stamps[:, None], 2, axis=1),
        positions=np.repeat(positions[:, None], 2, axis=1),
    )


def learned(
    before: Noise, stamps: Array, positions: Array, prior: Array, telling: NDArray[np.bool_]
) -> Noise:
    """The noise with regard to one more detection of each.

    Args:
        before: learned so far.
        stamps: N [s].
        positions: N x 3 [m].
        prior: N [m], the class's deviation.
        telling: N of bool, whether a detection tells something: not where the thing jumped, nor
            where the detector told its noise.
    """
    step = stamps - before.stamps[:, 0]
    last = before.stamps[:, 0] - before.stamps[:, 1]
    usable = telling & (step > 0.0) & (step < LONGEST_STEP) & (last > 0.0) & (last < LONGEST_STEP)
    variance = before.variance
    if usable.any():  # detectors often tell it
        ratio = np.where(usable, step, 0.0) / np.where(usable, last, 1.0)
        variance = _adjusted(before, positions, ratio, usable)
    variance = np.minimum(np.maximum(variance, (SMALLEST * prior) ** 2), (LARGEST * prior) ** 2)
    newest = step > 0.0
    shifted = np.concatenate([positions[:, None], before.positions[:, :1]], axis=1)
    times = np.concatenate([stamps[:, None], before.stamps[:, :1]], axis=1)
    return Noise(
        variance=variance,
        weight=before.weight + usable,
        stamps=np.where(newest[:, None], times, before.stamps),
        positions=np.where(newest[:, None, None], shifted, before.positions),
    )


def _adjusted(before: Noise, positions: Array, ratio: Array, usable: NDArray[np.bool_]) -> Array:
    """Variances with regard to how far the usable positions are off the line of the last two.

    `ratio` (N) is that of the newest step in time to the one before it.
    """
    newer, older = before.positions[:, 0], before.positions[:, 1]
    off = positions - newer - ratio[:, None] * (newer - older)
    square = (off * off).sum(axis=1) / 3.0 / (1.0 + (1.0 + ratio) ** 2 + ratio**2)
    square = np.minimum(square, LARGEST_RATIO * before.variance)
    gain = np.maximum(1.0 / (before.weight + 1.0), LEAST_GAIN)
    return np.asarray(before.variance + np.where(usable, gain * (square - before.variance), 0.0))
