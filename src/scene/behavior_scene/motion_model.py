# SPDX-License-Identifier: Apache-2.0
"""Where things are and how they move: two hypotheses for each, weighed by what is seen.

A thing either rests or moves, and a filter that suits one spoils the other: who averages long
enough to hold a resting block still within a millimetre lags behind a moving one. So every track
keeps two Kalman filters and the probability of each (interacting multiple model: H. Blom and
Y. Bar-Shalom, IEEE Trans. Automatic Control 33 (1988) 780).

- **Rest**: the position wanders a little. The wandering is chosen such that, once settled, the
  filter is the exponential one with the track's time constant tau: with the variance
  ``r (1-e)^2 / e, e = exp(-dt/tau)`` of a step, r being the variance of a measurement, the gain
  becomes ``1 - e`` at every rate of the detector. Before that it averages all it has seen.
- **Motion**: the velocity wanders and forgets itself within `AGILITY` (Ornstein-Uhlenbeck); it
  spreads such that `maximum_speed` is two standard deviations. The step is exact for every dt, so
  that one long step equals many short ones.

All functions are pure and take N tracks at once; the second axis of the arrays is the hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array

Indices = NDArray[np.intp]

REST, MOTION = 0, 1
AGILITY = 1.0
"""[s] within which a moving thing forgets its velocity."""
STARTS, STOPS = 0.3, 1.0
"""[1/s] how often a resting thing starts, and a moving one stops."""
REST_AT_FIRST = 0.5
"""Probability that something new rests."""
_SERIES = 1e-3
"""dt / AGILITY below which the variance of the position is taken from its series."""
_CHUNK = 4096
"""Pairs looked at together; arrays of more come from fresh pages: that takes twice as long."""
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
    """State of N tracks."""

    probability: Array
    """N x 2 of the hypotheses."""
    position: Array
    """N x 2 x 3 [m]."""
    velocity: Array
    """N x 2 x 3 [m/s]."""
    pp: Array
    """N x 2 x 3 x 3 covariance of the position [m^2]."""
    pv: Array
    """N x 2 x 3 x 3 of position with velocity [m^2/s]."""
    vv: Array
    """N x 2 x 3 x 3 of the velocity [m^2/s^2]."""
    noise: Array
    """N, variance of the newest measurement along an axis [m^2]."""

    WIDTH = 2 + 6 + 6 + 18 + 18 + 18 + 1
    """Numbers of one track."""

    def packed(self) -> Array:
        """N x `WIDTH` numbers, one row for each track."""
        parts = (self.probability, self.position, self.velocity, self.pp, self.pv, self.vv)
        count = len(self.noise)
        return np.hstack([*(part.reshape(count, -1) for part in parts), self.noise[:, None]])

    @staticmethod
    def unpacked(rows: Array) -> Motion:
        """The state from the rows that `packed` gave; a view."""
        count = len(rows)
        probability, position, velocity, pp, pv, vv, noise = np.split(
            rows, (2, 8, 14, 32, 50, 68), axis=1
        )
        return Motion(
            probability,
            position.reshape(count, 2, 3),
            velocity.reshape(count, 2, 3),
            pp.reshape(count, 2, 3, 3),
            pv.reshape(count, 2, 3, 3),
            vv.reshape(count, 2, 3, 3),
            noise[:, 0],
        )

    def of(self, rows: Indices) -> Motion:
        """The state of some tracks, a copy."""
        return Motion.unpacked(self.packed()[rows])

    def mean_position(self) -> Array:
        """N x 3 [m], over both hypotheses."""
        return np.asarray(np.einsum("nj,nja->na", self.probability, self.position))

    def mean_velocity(self) -> Array:
        """N x 3 [m/s]."""
        return np.asarray(np.einsum("nj,nja->na", self.probability, self.velocity))

    def position_covariance(self) -> Array:
        """N x 3 x 3 [m^2] of `mean_position`: within the hypotheses and between them."""
        apart = self.position - self.mean_position()[:, None, :]
        within = np.einsum("nj,njab->nab", self.probability, self.pp)
        between = np.einsum("nj,nja,njb->nab", self.probability, apart, apart)
        return np.asarray(within + between)

    def velocity_covariance(self) -> Array:
        """N x 3 x 3 [m^2/s^2] of `mean_velocity`."""
        apart = self.velocity - self.mean_velocity()[:, None, :]
        within = np.einsum("nj,njab->nab", self.probability, self.vv)
        between = np.einsum("nj,nja,njb->nab", self.probability, apart, apart)
        return np.asarray(within + between)


def newborn(position: Array, noise: Array, traits: Traits) -> Motion:
    """State of things seen for the first time at `position` (N x 3), with `noise` (N x 3 x 3)."""
    count = len(position)
    zeros = np.zeros((count, 2, 3, 3))
    vv = zeros.copy()
    vv[:, MOTION] = (0.5 * traits.maximum_speed)[:, None, None] ** 2 * np.eye(3)
    return Motion(
        probability=np.tile([REST_AT_FIRST, 1.0 - REST_AT_FIRST], (count, 1)),
        position=np.repeat(position[:, None, :], 2, axis=1),
        velocity=np.zeros((count, 2, 3)),
        pp=np.repeat(noise[:, None], 2, axis=1),
        pv=zeros,
        vv=vv,
        noise=np.trace(noise, axis1=1, axis2=2) / 3.0,
    )


def predicted(motion: Motion, dt: Array, traits: Traits) -> Motion:
    """The state `dt` (N, not negative) seconds later, without a measurement."""
    mixed = _mixed(motion, dt)
    drift, keep, qpp, qpv, qvv = _steps(dt, mixed.noise, traits)
    a, b = drift[:, :, None, None], keep[:, :, None, None]
    eye = np.eye(3)
    pv = mixed.pv + a * mixed.vv
    return Motion(
        probability=mixed.probability,
        position=mixed.position + drift[:, :, None] * mixed.velocity,
        velocity=keep[:, :, None] * mixed.velocity,
        pp=mixed.pp
        + a * (mixed.pv + mixed.pv.transpose(0, 1, 3, 2))
        + a * a * mixed.vv
        + qpp[:, :, None, None] * eye,
        pv=b * pv + qpv[:, :, None, None] * eye,
        vv=b * b * mixed.vv + qvv[:, :, None, None] * eye,
        noise=mixed.noise,
    )


def corrected(motion: Motion, measured: Array, noise: Array) -> tuple[Motion, Array]:
    """The state after a measurement of each position.

    Args:
        motion: predicted to the time of the measurement.
        measured: N x 3 [m].
        noise: N x 3 x 3, its covariance, positive definite.

    Returns:
        The state, and the logarithm of the probability density of the measurement (N).
    """
    inverse, log_determinant = _inverses(motion.pp + noise[:, None])
    innovation = measured[:, None, :] - motion.position
    log_each = _log_normal(innovation, inverse, log_determinant)
    joint = np.log(np.maximum(motion.probability, 1e-300)) + log_each
    log_density = np.logaddexp(joint[:, REST], joint[:, MOTION])
    gain = motion.pp @ inverse
    gain_v = motion.pv.transpose(0, 1, 3, 2) @ inverse
    rest = np.eye(3) - gain
    rest_t, gain_t, gain_v_t = (m.transpose(0, 1, 3, 2) for m in (rest, gain, gain_v))
    noisy, noisy_v = gain @ noise[:, None], gain_v @ noise[:, None]
    # Joseph's form: stays positive definite whatever the rounding.
    kept = rest @ motion.pp
    cross = rest @ motion.pv - kept @ gain_v_t
    vp = motion.pv.transpose(0, 1, 3, 2) - gain_v @ motion.pp
    state = Motion(
        probability=np.exp(joint - log_density[:, None]),
        position=motion.position + np.einsum("njab,njb->nja", gain, innovation),
        velocity=motion.velocity + np.einsum("njab,njb->nja", gain_v, innovation),
        pp=_symmetric(kept @ rest_t + noisy @ gain_t),
        pv=cross + noisy @ gain_v_t,
        vv=_symmetric(motion.vv - gain_v @ motion.pv - vp @ gain_v_t + noisy_v @ gain_v_t),
        noise=np.trace(noise, axis1=1, axis2=2) / 3.0,
    )
    return state, log_density


def log_densities(
    motion: Motion, measured: Array, noise: Array, rows: Indices, columns: Indices
) -> tuple[Array, Array]:
    """How well measurements fit tracks, for some pairs of them.

    Args:
        motion: of N tracks, predicted to the time of the measurements.
        measured: D x 3 [m].
        noise: D x 3 x 3, their covariances.
        rows: M indices of tracks.
        columns: M indices of measurements.

    Returns:
        Logarithm of the probability density (M), and the squared Mahalanobis distance to the
        hypothesis that explains it better (M).
    """
    parts = [
        _log_densities(motion, measured, noise, rows[start:stop], columns[start:stop])
        for start, stop in pairwise([*range(0, len(rows), _CHUNK), len(rows)])
    ]
    if not parts:
        return np.zeros(0), np.zeros(0)
    densities, squares = zip(*parts, strict=True)
    return np.concatenate(densities), np.concatenate(squares)


def _log_densities(
    motion: Motion, measured: Array, noise: Array, rows: Indices, columns: Indices
) -> tuple[Array, Array]:
    each, squares = [], []
    seen = [np.take(component, columns) for component in _upper(noise)]
    at = [np.take(np.ascontiguousarray(measured[:, axis]), columns) for axis in range(3)]
    for hypothesis in (REST, MOTION):
        position = motion.position[:, hypothesis]
        innovation = [
            at[axis] - np.take(np.ascontiguousarray(position[:, axis]), rows) for axis in range(3)
        ]
        covariance = [
            np.take(component, rows) + variance
            for component, variance in zip(_upper(motion.pp[:, hypothesis]), seen, strict=True)
        ]
        squared, log_determinant = _quadratic_forms(covariance, innovation)
        log_probability = np.log(np.maximum(motion.probability[:, hypothesis], 1e-300))
        constant = np.take(log_probability - 1.5 * _LOG_2PI, rows)
        each.append(constant - 0.5 * (squared + log_determinant))
        squares.append(squared)
    return np.logaddexp(*each), np.minimum(*squares)


def _inverses(matrices: Array) -> tuple[Array, Array]:
    """Inverses and logarithms of the determinants of symmetric 3x3 matrices (... x 3 x 3).

    By cofactors on whole arrays: LAPACK, called for each matrix, takes five times as long.
    """
    (aa, bb, cc, ab, ac, bc), determinant = _cofactors(_upper(matrices))
    inverse = np.empty_like(matrices)
    inverse[..., 0, 0], inverse[..., 1, 1], inverse[..., 2, 2] = aa, bb, cc
    inverse[..., 0, 1] = inverse[..., 1, 0] = ab
    inverse[..., 0, 2] = inverse[..., 2, 0] = ac
    inverse[..., 1, 2] = inverse[..., 2, 1] = bc
    inverse /= determinant[..., None, None]
    return inverse, np.log(determinant)


def _quadratic_forms(upper: Sequence[Array], vector: Sequence[Array]) -> tuple[Array, Array]:
    """``v^T M^-1 v`` and the logarithm of the determinant of M, for M symmetric 3x3."""
    (aa, bb, cc, ab, ac, bc), determinant = _cofactors(upper)
    x, y, z = vector
    squared = x * (aa * x + 2.0 * (ab * y + ac * z)) + y * (bb * y + 2.0 * bc * z) + cc * z * z
    return squared / determinant, np.log(determinant)


def _upper(matrices: Array) -> tuple[Array, ...]:
    """Components xx, xy, xz, yy, yz, zz of symmetric matrices, each contiguous."""
    places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return tuple(np.ascontiguousarray(matrices[..., i, j]) for i, j in places)


def _cofactors(upper: Sequence[Array]) -> tuple[tuple[Array, ...], Array]:
    """Cofactors xx, yy, zz, xy, xz, yz of [[a b c], [b d e], [c e f]], and the determinants."""
    a, b, c, d, e, f = upper
    aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = np.maximum(a * aa + b * ab + c * ac, 1e-300)
    return (aa, a * f - c * c, a * d - b * b, ab, ac, b * c - a * e), determinant


def wandering(noise: Array, dt: Array, time_constant: Array) -> Array:
    """Variance that something at rest gains in `dt` (N) [s]; see the module's text.

    Beyond one time constant it grows in proportion to the time.
    """
    short = np.minimum(dt, time_constant)
    growth = 4.0 * np.sinh(0.5 * short / time_constant) ** 2
    return np.asarray(noise * growth * np.maximum(dt / time_constant, 1.0))


def _log_normal(innovation: Array, inverse: Array, log_determinant: Array) -> Array:
    squared = np.einsum("nja,nja->nj", innovation, np.einsum("njab,njb->nja", inverse, innovation))
    return np.asarray(-0.5 * (squared + log_determinant + 3.0 * _LOG_2PI))


def _mixed(motion: Motion, dt: Array) -> Motion:
    """Each hypothesis starts the step from what both say, as likely as it may have changed."""
    total = STARTS + STOPS
    fade = np.exp(-total * dt)
    change = np.empty((len(dt), 2, 2))  # from, to
    change[:, REST, MOTION] = STARTS * (1.0 - fade) / total
    change[:, MOTION, REST] = STOPS * (1.0 - fade) / total
    change[:, REST, REST] = 1.0 - change[:, REST, MOTION]
    change[:, MOTION, MOTION] = 1.0 - change[:, MOTION, REST]
    joint = change * motion.probability[:, :, None]
    probability = joint.sum(axis=1)
    weight = joint / np.maximum(probability, 1e-300)[:, None, :]
    position = np.einsum("nij,nia->nja", weight, motion.position)
    velocity = np.einsum("nij,nia->nja", weight, motion.velocity)
    dp = motion.position[:, :, None] - position[:, None]
    dv = motion.velocity[:, :, None] - velocity[:, None]
    spread = weight[..., None, None]
    return Motion(
        probability=probability,
        position=position,
        velocity=velocity,
        pp=(spread * (motion.pp[:, :, None] + dp[..., :, None] * dp[..., None, :])).sum(axis=1),
        pv=(spread * (motion.pv[:, :, None] + dp[..., :, None] * dv[..., None, :])).sum(axis=1),
        vv=(spread * (motion.vv[:, :, None] + dv[..., :, None] * dv[..., None, :])).sum(axis=1),
        noise=motion.noise,
    )


def _steps(dt: Array, noise: Array, traits: Traits) -> tuple[Array, Array, Array, Array, Array]:
    """Coefficients (N x 2 each) of a step: p += drift v; v *= keep; variances qpp, qpv, qvv."""
    zero = np.zeros_like(dt)
    e = np.exp(-dt / AGILITY)
    gone = -np.expm1(-dt / AGILITY)
    twice = -np.expm1(-2.0 * dt / AGILITY)
    spectral = 2.0 / AGILITY * (0.5 * traits.maximum_speed) ** 2
    exact = AGILITY**2 * (dt - 2.0 * AGILITY * gone + 0.5 * AGILITY * twice)
    qpp = spectral * np.where(dt < _SERIES * AGILITY, dt**3 / 3.0, exact)
    qpv = spectral * 0.5 * (AGILITY * gone) ** 2
    qvv = spectral * 0.5 * AGILITY * twice
    wander = wandering(noise, dt, traits.time_constant)
    return (
        np.stack([zero, AGILITY * gone], axis=1),
        np.stack([zero, e], axis=1),
        np.stack([wander, qpp], axis=1),
        np.stack([zero, qpv], axis=1),
        np.stack([zero, qvv], axis=1),
    )


def _symmetric(matrices: Array) -> Array:
    return np.asarray(0.5 * (matrices + matrices.transpose(0, 1, 3, 2)))
