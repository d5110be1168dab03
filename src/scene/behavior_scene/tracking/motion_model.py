# SPDX-License-Identifier: Apache-2.0
"""Where things are and how they move: three hypotheses for each, weighed by what is seen.

A thing rests, or goes steadily, or is handled, and a filter that suits one spoils the others: who
averages long enough to hold a resting block still within a millimetre lags behind a moving one;
who follows every turn cannot tell two that pass each other. So every track keeps three Kalman
filters and the probability of each (interacting multiple model: H. Blom and Y. Bar-Shalom, IEEE
Trans. Automatic Control 33 (1988) 780).

- **Rest**: the position wanders a little. The wandering is chosen such that, once settled, the
  filter is the exponential one with a time constant tau: with the variance
  ``r (1-e)^2 / e, e = exp(-dt/tau)`` of a step, r being the variance of a measurement, the gain
  becomes ``1 - e`` at every rate of the detector. Before that it averages all it has seen. What
  starts to move is noticed by the other hypotheses, so tau may be `PATIENCE` times the track's
  time constant.
- **Turn**: the velocity wanders and forgets itself within `AGILITY` (Ornstein-Uhlenbeck); it
  spreads such that `maximum_speed` is two standard deviations. The step is exact for every dt, so
  that one long step equals many short ones.
- **Cruise**: the same, with `STEADINESS` of its variances: the velocity hardly changes, and is
  remembered longer.

All functions are pure and take N tracks at once; the second axis of the arrays (H)
is the hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array

Indices = NDArray[np.intp]

REST, CRUISE, TURN = 0, 1, 2
HYPOTHESES = 3
PATIENCE = 3.0
"""What rests is averaged for so many of the track's time constants."""
AGILITY = 1.0
"""[s] within which a turning thing forgets its velocity ..."""
CRUISE_AGILITY = 5.0
"""... and a cruising one."""
STEADINESS = 0.02
"""What a cruising thing's velocity wanders, as part of what a turning one's does (variance)."""
CHANGES = 1.3
"""[1/s] how often things change their minds, ..."""
HABITS = (0.6, 0.25, 0.15)
"""... and how likely they rest, cruise or turn then."""
LEAST_PROBABILITY = 1e-12
"""Of a hypothesis; one of which nothing was left would have no state to come back with."""
_HABITS, _SAME = np.array(HABITS), np.eye(HYPOTHESES)
_AGILITIES = np.array([CRUISE_AGILITY, AGILITY])
_RESTLESS = np.array([STEADINESS, 1.0])
"""Of a cruising and of a turning thing's velocity."""
_PP, _PV, _VP, _VV = slice(0, 15, 7), slice(3, 18, 7), slice(18, 33, 7), slice(21, 36, 7)
"""Diagonals of the 3x3 blocks of a 6x6 matrix of positions and velocities."""
_EYE, _EYE6 = np.eye(3), np.eye(6)
_SERIES = 1e-3
"""dt / agility below which the variance of the position is taken from its series."""
_PLACES = HYPOTHESES * 1, HYPOTHESES * 7, HYPOTHESES * 43
"""Where the mean, the covariance and the noise begin in a row of all numbers of a track."""
_CHUNK = 2048
"""Pairs looked at together; arrays of more come from fresh pages: that takes twice as long."""
LOPSIDED = 1e-8
"""Variance that a measurement has at least along each axis, as a fraction of that along all three:
what is known ten thousand times better one way than another drowns in rounding."""
_ROUNDING = float(np.finfo(np.float64).eps)
_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known beforehand of N things."""

    maximum_speed: Array
    """N [m/s], two standard deviations of the speed along each axis."""
    time_constant: Array
    """N [s] of the filter of a resting thing."""

    def of(self, rows: Indices) -> Traits:
        """Those of some tracks."""
        return Traits(self.maximum_speed[rows], self.time_constant[rows])


@dataclass(slots=True)
class Motion:
    """State of N tracks under H hypotheses."""

    probability: Array
    """N x H of the hypotheses."""
    mean: Array
    """N x H x 6: position [m] and velocity [m/s]."""
    covariance: Array
    """N x H x 6 x 6 of the mean."""
    noise: Array
    """N, variance of the newest measurement along an axis [m^2]."""

    WIDTH = HYPOTHESES * (1 + 6 + 36) + 1
    """Numbers of one track."""

    def packed(self) -> Array:
        """N x `WIDTH` numbers, one row for each track."""
        count = len(self.noise)
        parts = (self.probability, self.mean, self.covariance, self.noise)
        return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)

    @staticmethod
    def unpacked(rows: Array) -> Motion:
        """The state from the rows that `packed` gave; a view."""
        first, second, last = _PLACES
        return Motion(
            rows[:, :first],
            rows[:, first:second].reshape(-1, HYPOTHESES, 6),
            rows[:, second:last].reshape(-1, HYPOTHESES, 6, 6),
            rows[:, last],
        )

    def of(self, rows: Indices) -> Motion:
        """The state of some tracks, a copy."""
        return Motion(
            self.probability[rows], self.mean[rows], self.covariance[rows], self.noise[rows]
        )

    def moments(self) -> tuple[Array, Array]:
        """Mean (N x 6) and covariance (N x 6 x 6) over all hypotheses: within and between them."""
        weight = self.probability[:, None, :]
        mean = (weight @ self.mean)[:, 0]
        apart = self.mean - mean[:, None]
        count = len(mean)
        within = (weight @ self.covariance.reshape(count, HYPOTHESES, 36)).reshape(count, 6, 6)
        between = (apart * self.probability[:, :, None]).swapaxes(1, 2) @ apart
        return mean, within + between


def newborn(position: Array, noise: Array, traits: Traits) -> Motion:
    """State of things seen for the first time at `position` (N x 3), with `noise` (N x 3 x 3)."""
    count = len(position)
    mean = np.zeros((count, HYPOTHESES, 6))
    mean[:, :, :3] = position[:, None]
    covariance = np.zeros((count, HYPOTHESES, 6, 6))
    covariance[:, :, :3, :3] = noise[:, None]
    speed = (0.5 * traits.maximum_speed)[:, None, None] ** 2 * _EYE
    covariance[:, CRUISE, 3:, 3:] = covariance[:, TURN, 3:, 3:] = speed
    return Motion(
        probability=np.tile(_HABITS, (count, 1)),
        mean=mean,
        covariance=covariance,
        noise=noise.trace(axis1=1, axis2=2) / 3.0,
    )


def predicted(motion: Motion, dt: Array, traits: Traits) -> Motion:
    """The state `dt` (N, not negative) seconds later, without a measurement."""
    mixed = _mixed(motion, dt)
    step, wandering_covariance = _steps(dt, mixed.noise, traits)
    return Motion(
        probability=mixed.probability,
        mean=(step @ mixed.mean[..., None])[..., 0],
        covariance=_congruent(step, mixed.covariance) + wandering_covariance,
        noise=mixed.noise,
    )


def corrected(motion: Motion, measured: Array, noise: Array) -> Motion:
    """The state after a measurement of each position.

    Args:
        motion: predicted to the time of the measurement.
        measured: N x 3 [m].
        noise: N x 3 x 3, its covariance, positive definite.
    """
    trace = noise.trace(axis1=1, axis2=2)
    noise = noise + LOPSIDED * trace[:, None, None] * _EYE
    covariance = motion.covariance
    inverse, log_determinant = _inverses(covariance[:, :, :3, :3] + noise[:, None])
    innovation = measured[:, None, :, None] - motion.mean[:, :, :3, None]
    weighed = inverse @ innovation
    squared = (innovation.swapaxes(2, 3) @ weighed)[..., 0, 0]
    joint = np.log(np.maximum(motion.probability, 1e-300)) - 0.5 * (squared + log_determinant)
    likelihood = np.exp(joint - joint.max(axis=1, keepdims=True))
    likelihood = np.maximum(likelihood, LEAST_PROBABILITY)
    gain = covariance[:, :, :, :3] @ inverse
    # Joseph's form: stays positive definite whatever the rounding.
    rest = np.empty_like(covariance)
    rest[:] = _EYE6
    rest[..., :3] -= gain
    after = _congruent(rest, covariance) + _congruent(gain, noise[:, None])
    return Motion(
        probability=likelihood / likelihood.sum(axis=1, keepdims=True),
        mean=motion.mean + (gain @ innovation)[..., 0],
        covariance=0.5 * (after + after.swapaxes(2, 3)),
        noise=trace / 3.0,
    )


def log_densities(
    motion: Motion,
    measured: Array,
    noise: Array,
    *,
    rows: Indices,
    columns: Indices,
    more: Array,
) -> tuple[Array, Array]:
    """How well measurements fit tracks, for some pairs of them.

    Args:
        motion: of N tracks, predicted to the time of the measurements.
        measured: D x 3 [m].
        noise: D x 3 x 3, their covariances.
        rows: M indices of tracks.
        columns: M indices of measurements.
        more: M, variance to be added to the noise of a pair along each axis [m^2].

    Returns:
        Logarithm of the probability density (M), and the squared Mahalanobis distance to the
        hypothesis that explains it better (M).
    """
    if len(rows) <= _CHUNK:
        return _log_densities(motion, measured, noise, rows, columns, more)
    parts = [
        _log_densities(
            motion, measured, noise, rows[start:stop], columns[start:stop], more[start:stop]
        )
        for start, stop in pairwise([*range(0, len(rows), _CHUNK), len(rows)])
    ]
    densities, squares = zip(*parts, strict=True)
    return np.concatenate(densities), np.concatenate(squares)


def _log_densities(  # noqa: PLR0917
    motion: Motion, measured: Array, noise: Array, rows: Indices, columns: Indices, more: Array
) -> tuple[Array, Array]:
    spread = motion.covariance[:, :, :3, :3].copy()[rows]
    seen = noise[columns] + more[:, None, None] * _EYE
    upper = _upper(spread) + _upper(seen)[:, :, None]
    innovation = measured[columns, None, :] - motion.mean[rows, :, :3]
    squared, log_determinant = _quadratic_forms(upper, [innovation[:, :, i] for i in range(3)])
    log_probability = np.log(np.maximum(motion.probability, 1e-300))[rows]
    each = log_probability - 1.5 * _LOG_2PI - 0.5 * (squared + log_determinant)
    return np.logaddexp.reduce(each, axis=1), squared.min(axis=1)


def _inverses(matrices: Array) -> tuple[Array, Array]:
    """Inverses and logarithms of the determinants of symmetric 3x3 matrices (... x 3 x 3).

    On whole arrays: LAPACK, called for each matrix, takes five times as long.
    """
    (p, q, r), (yx, zx, zy) = _factors(_upper(matrices))
    inverse = np.empty_like(matrices)
    inverse[..., 0, 0] = 1.0 / p + yx * yx / q + zx * zx / r
    inverse[..., 1, 1] = 1.0 / q + zy * zy / r
    inverse[..., 2, 2] = 1.0 / r
    inverse[..., 0, 1] = inverse[..., 1, 0] = yx / q + zx * zy / r
    inverse[..., 0, 2] = inverse[..., 2, 0] = zx / r
    inverse[..., 1, 2] = inverse[..., 2, 1] = zy / r
    return inverse, np.log(p * q * r)


def _quadratic_forms(upper: Array, vector: Sequence[Array]) -> tuple[Array, Array]:
    """``v^T M^-1 v`` and the logarithm of the determinant of M, for M symmetric 3x3."""
    (p, q, r), (yx, zx, zy) = _factors(upper)
    x, y, z = vector
    squared = x**2 / p + (y + yx * x) ** 2 / q + (z + zy * y + zx * x) ** 2 / r
    return squared, np.log(p * q * r)


def _upper(matrices: Array) -> Array:
    """Components xx, xy, xz, yy, yz, zz of symmetric matrices (6 x ...), each contiguous."""
    places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return np.array([matrices[..., i, j] for i, j in places])


def _factors(upper: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Of M = [[a b c], [b d e], [c e f]], positive definite: ``M^-1 = U^T diag(p, q, r)^-1 U``.

    U is the unit lower triangle with yx, zx and zy below its diagonal, the inverse of that of
    Cholesky's decomposition. Unlike cofactors it stays exact, and the pivots positive, where a
    matrix is a million times as wide along one axis as along another.

    Returns:
        The pivots p, q, r, and yx, zx, zy.
    """
    a, b, c, d, e, f = upper
    yx, zx = -b / a, -c / a
    q = np.maximum(d + b * yx, _ROUNDING * d)
    rest = e + c * yx
    zy = -rest / q
    r = np.maximum(f + c * zx + rest * zy, _ROUNDING * f)
    return (a, q, r), (yx, zx + zy * yx, zy)


def wandering(noise: Array, dt: Array, time_constant: Array) -> Array:
    """Variance that something at rest gains in `dt` (N) [s]; see the module's text.

    Beyond one time constant it grows in proportion to the time.
    """
    short = np.minimum(dt, time_constant)
    growth = 4.0 * np.sinh(0.5 * short / time_constant) ** 2
    return np.asarray(noise * growth * np.maximum(dt / time_constant, 1.0))


def _congruent(left: Array, middle: Array) -> Array:
    """``A M A^T`` for stacks of matrices."""
    # A copy of the transpose: numpy multiplies a strided view four times slower.
    return np.asarray(left @ middle @ left.swapaxes(-1, -2).copy())


def _mixed(motion: Motion, dt: Array) -> Motion:
    """Each hypothesis starts the step from what all say, as likely as it may have changed."""
    fade = np.exp(-CHANGES * dt)[:, None, None]
    change = fade * _SAME + (1.0 - fade) * _HABITS  # from, to
    joint = change * motion.probability[:, :, None]
    probability = joint.sum(axis=1)
    weight = (joint / np.maximum(probability, 1e-300)[:, None, :]).swapaxes(1, 2)  # to, from
    # Moments about a point near by: far from the origin the squares would swamp the variances.
    origin = motion.mean[:, :1]
    near = motion.mean - origin
    mean = weight @ near
    squares = motion.covariance + near[..., :, None] * near[..., None, :]
    count = len(dt)
    mixed = (weight @ squares.reshape(count, HYPOTHESES, 36)).reshape(squares.shape)
    return Motion(
        probability=probability,
        mean=origin + mean,
        covariance=mixed - mean[..., :, None] * mean[..., None, :],
        noise=motion.noise,
    )


def _steps(dt: Array, noise: Array, traits: Traits) -> tuple[Array, Array]:
    """Transition matrices and covariances of what is added (N x H x 6 x 6 each)."""
    restless = 2.0 / AGILITY * (0.5 * traits.maximum_speed) ** 2
    drift, keep, qpp, qpv, qvv = _wandering_velocity(dt[:, None], restless[:, None] * _RESTLESS)
    step = np.zeros((len(dt), HYPOTHESES, 36))
    added = np.zeros_like(step)
    step[:, :, _PP] = 1.0
    step[:, CRUISE:, _PV] = drift[..., None]
    step[:, CRUISE:, _VV] = keep[..., None]
    added[:, REST, _PP] = wandering(noise, dt, PATIENCE * traits.time_constant)[:, None]
    added[:, CRUISE:, _PP] = qpp[..., None]
    added[:, CRUISE:, _PV] = added[:, CRUISE:, _VP] = qpv[..., None]
    added[:, CRUISE:, _VV] = qvv[..., None]
    shape = (len(dt), HYPOTHESES, 6, 6)
    return step.reshape(shape), added.reshape(shape)


def _wandering_velocity(dt: Array, spectral: Array) -> tuple[Array, ...]:
    """Steps of a velocity that wanders, with a spectral density [m^2/s^3], and fades.

    ``p += drift v``, ``v *= keep``, and the variances of both and their covariance (N x 2 each, of
    what cruises and what turns).
    """
    agility = _AGILITIES
    gone = -np.expm1(-dt / agility)
    twice = -np.expm1(-2.0 * dt / agility)
    exact = agility**2 * (dt - 2.0 * agility * gone + 0.5 * agility * twice)
    qpp = spectral * np.where(dt < _SERIES * agility, dt**3 / 3.0, exact)
    qpv = spectral * 0.5 * (agility * gone) ** 2
    return agility * gone, 1.0 - gone, qpp, qpv, spectral * 0.5 * agility * twice
