# SPDX-License-Identifier: Apache-2.0
"""The filters of position, orientation and noise, against what mathematics says."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from scipy.stats import multivariate_normal

from behavior_scene.tracking import motion_model
from behavior_scene.tracking.motion_model import (
    CRUISE,
    HYPOTHESES,
    TURN,
    Motion,
    Traits,
    corrected,
    log_densities,
    newborn,
    predicted,
    wandering,
)
from behavior_scene.tracking.noise_estimate import learned, unlearned
from behavior_scene.tracking.orientation_filter import turned

ONE = Traits(np.array([2.0]), np.array([0.15]))


def one(value):
    return np.array([float(value)])


def moving(rng, count=1):
    """States after a few noisy measurements of things that move."""
    traits = Traits(np.full(count, 2.0), np.full(count, 0.15))
    noise = np.tile(1e-4 * np.eye(3), (count, 1, 1))
    start, velocity = rng.normal(size=(count, 3)), rng.normal(size=(count, 3))
    state = newborn(start, noise, traits)
    for step in range(1, 4):
        state = predicted(state, np.full(count, 0.1), traits)
        measured = start + 0.1 * step * velocity + rng.normal(0.0, 0.01, (count, 3))
        state = corrected(state, measured, noise)
    return state, traits


@given(st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_one_long_step_of_motion_equals_two_short_ones(first, second):
    for hypothesis in (CRUISE, TURN):
        step, added = motion_model._steps(one(first + second), one(1e-4), ONE)
        one_step, one_added = motion_model._steps(one(first), one(1e-4), ONE)
        two_step, two_added = motion_model._steps(one(second), one(1e-4), ONE)
        np.testing.assert_allclose(
            step[0, hypothesis], two_step[0, hypothesis] @ one_step[0, hypothesis], atol=1e-12
        )
        both = (
            two_step[0, hypothesis] @ one_added[0, hypothesis] @ two_step[0, hypothesis].T
            + two_added[0, hypothesis]
        )
        np.testing.assert_allclose(added[0, hypothesis], both, rtol=1e-6, atol=1e-9)


@given(st.floats(0.02, 1.0), st.floats(0.01, 1.0))
def test_a_settled_filter_at_rest_has_its_time_constant_at_every_rate(tau, part):
    dt, noise, variance = part * tau, 1e-4, 1e-4
    gain = 0.0
    for _ in range(int(8.0 / part) + 20):
        before = variance + float(wandering(one(noise), one(dt), one(tau))[0])
        gain = before / (before + noise)
        variance = gain * noise
    assert gain == pytest.approx(1.0 - math.exp(-dt / tau), rel=1e-5)


@settings(max_examples=20)
@given(st.floats(2.0, 60.0), st.floats(0.1, 0.5), st.floats(-0.25, 0.25))
def test_a_settled_orientation_follows_a_step_alike_at_every_rate(rate, tau, angle):
    still, goal = np.eye(3)[None], Rotation.from_rotvec([0, angle, 0]).as_matrix()[None]
    rotation, variance, dt = still, one(1e-3), min(1.0 / rate, tau)
    for _ in range(int(8.0 * tau / dt) + 20):
        _, variance = turned(still, variance, still, one(1e-3), dt=one(dt), time_constant=one(tau))
    steps = 6
    for _ in range(steps):
        rotation, variance = turned(
            rotation, variance, goal, one(1e-3), dt=one(dt), time_constant=one(tau)
        )
    left = Rotation.from_matrix(rotation[0].T @ goal[0]).magnitude()
    assert left == pytest.approx(abs(angle) * math.exp(-steps * dt / tau), abs=1e-5)


def test_a_large_turn_is_taken_over_at_once():
    goal = Rotation.from_rotvec([0, 0, 0.31]).as_matrix()[None]
    rotation, variance = turned(
        np.eye(3)[None], one(1e-6), goal, one(1e-2), dt=one(0.1), time_constant=one(0.2)
    )
    np.testing.assert_array_equal(rotation, goal)
    assert variance[0] == 1e-2


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_moments_far_from_the_origin_are_those_near_it(seed):
    state, traits = moving(np.random.default_rng(seed), 3)
    far = Motion(state.probability, state.mean.copy(), state.covariance, state.noise)
    far.mean[:, :, :3] += 1e4
    dt = np.full(3, 0.2)
    mean, covariance = predicted(state, dt, traits).moments()
    mean_far, covariance_far = predicted(far, dt, traits).moments()
    np.testing.assert_allclose(mean_far[:, :3] - 1e4, mean[:, :3], atol=1e-9)
    np.testing.assert_allclose(covariance_far, covariance, rtol=1e-5, atol=1e-9)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.lists(
        st.tuples(
            st.floats(0.0, 3.0), st.floats(-5.0, 5.0), st.floats(-5.0, 1.0), st.floats(-5.0, 1.0)
        ),
        min_size=1,
        max_size=12,
    ),
)
@example(0, [(0.0, 0.0, 0.0, 0.0)] * 4 + [(0.0, 0.0, 0.0, -4.0), (0.0, 0.0, 1.0, -4.0)])
def test_covariances_stay_positive_definite(seed, measurements):
    """Whatever the steps and the noise, between 0.01 mm and 10 m, and however lopsided."""
    rng = np.random.default_rng(seed)
    basis = Rotation.random(rng=rng).as_matrix()
    state = newborn(np.zeros((1, 3)), 1e-4 * np.eye(3)[None], ONE)
    for dt, offset, wide, narrow in measurements:
        noise = basis @ np.diag([10.0**wide, 10.0**narrow, 10.0**narrow]) ** 2 @ basis.T
        measured = offset * rng.normal(size=(1, 3))
        state = corrected(predicted(state, one(dt), ONE), measured, noise[None])
        _, covariance = state.moments()
        np.testing.assert_allclose(covariance, np.swapaxes(covariance, 1, 2), atol=1e-12)
        assert np.linalg.eigvalsh(covariance[0, :3, :3])[0] > 0.0
        for hypothesis in (CRUISE, TURN):
            assert np.linalg.eigvalsh(state.covariance[0, hypothesis])[0] > 0.0
        assert state.probability.sum() == pytest.approx(1.0)


def test_densities_are_those_of_the_mixture():
    rng = np.random.default_rng(7)
    state, traits = moving(rng, 5)
    ahead = predicted(state, np.full(5, 0.1), traits)
    measured = ahead.moments()[0][:, :3] + rng.normal(0, 0.1, (5, 3))
    noise = np.array([np.diag(rng.uniform(1e-4, 1e-2, 3)) for _ in range(5)])
    rows, columns = (index.ravel() for index in np.indices((5, 5)))
    density, squared = log_densities(
        ahead, measured, noise, rows=rows, columns=columns, more=np.full(25, 1e-3)
    )
    for row, column, log_density, distance in zip(rows, columns, density, squared, strict=True):
        each = [
            multivariate_normal(
                ahead.mean[row, h, :3],
                ahead.covariance[row, h, :3, :3] + noise[column] + 1e-3 * np.eye(3),
            )
            for h in range(HYPOTHESES)
        ]
        whole = float(ahead.probability[row] @ [e.pdf(measured[column]) for e in each])
        if whole > 1e-200:
            assert log_density == pytest.approx(math.log(whole), abs=1e-6)
        nearest = min(
            (measured[column] - e.mean) @ np.linalg.solve(e.cov, measured[column] - e.mean)
            for e in each
        )
        assert distance == pytest.approx(nearest)


@pytest.mark.parametrize("true", [0.002, 0.005, 0.012])
@pytest.mark.parametrize("speed", [0.0, 0.8])
def test_the_noise_is_learned_at_rest_and_in_motion(true, speed):
    rng = np.random.default_rng(1)
    count = 50
    stamps = np.zeros(count)
    noise = unlearned(np.full(count, 0.005**2), stamps, rng.normal(0, true, (count, 3)))
    for _ in range(80):
        stamps = stamps + rng.uniform(0.05, 0.15, count)
        position = rng.normal(0, true, (count, 3))
        position[:, 0] += speed * stamps
        noise = learned(noise, stamps, position, np.full(count, 0.005), np.ones(count, dtype=bool))
    assert math.sqrt(float(np.median(noise.variance))) == pytest.approx(true, rel=0.15)


def test_a_push_teaches_little_noise():
    stamps, position = np.zeros(1), np.zeros((1, 3))
    noise = unlearned(one(0.005**2), stamps, position)
    yes = np.ones(1, dtype=bool)
    for step in range(1, 40):
        position = np.full((1, 3), 0.0 if step < 35 else 0.2)
        noise = learned(noise, one(0.1 * step), position, one(0.005), yes)
    assert noise.variance[0] < 0.005**2
