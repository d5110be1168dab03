# SPDX-License-Identifier: Apache-2.0
"""Verdict on the localization, its edges, and the pose brought to now."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_motion.planar_pose import Pose2D
from behavior_navigation.localization_input import deviation_ratio
from behavior_navigation.rules.localization import (
    Estimate,
    LocalizationWatch,
    brought_to_now,
)
from behavior_navigation.rules.state import LocalizationState


def estimate(stamp: float, good: bool = True) -> Estimate:
    return Estimate(stamp, Pose2D(1.0, 2.0, 0.0), good, 0.9 if good else 0.1, "hall", "map")


@pytest.fixture
def watch() -> LocalizationWatch:
    return LocalizationWatch(LocalizationState())


def test_before_the_first_result_it_is_bad_without_having_failed(watch: LocalizationWatch) -> None:
    watch.settle(5.0, fresh=False)
    watch.settle(7.5, fresh=False)
    assert (watch.state.good, watch.state.fresh, watch.state.failures) == (False, False, 0)
    assert watch.state.bad_for == 2.5
    assert watch.state.reason == "no localization result yet"


def test_failures_count_edges_and_not_ticks(watch: LocalizationWatch) -> None:
    watch.take(estimate(0.0), 0.0)
    assert watch.state.good
    assert watch.state.reason == ""
    for tick in range(5):
        watch.settle(2.0 + tick, fresh=False, silent_for=2.0 + tick)
    assert watch.state.failures == 1
    assert watch.state.bad_for == 4.0
    assert "no localization result for 6.0 s" in watch.state.reason
    watch.take(estimate(7.0), 7.0)
    assert watch.state.bad_for == 0.0
    watch.take(estimate(8.0, good=False), 8.0)
    watch.take(estimate(8.1, good=False), 8.1)
    assert watch.state.failures == 2
    assert "doubts its pose (0.10)" in watch.state.reason


def test_a_failure_between_two_ticks_is_counted(watch: LocalizationWatch) -> None:
    watch.take(estimate(0.0), 0.0)
    watch.settle(0.1, fresh=True)
    watch.take(estimate(0.2, good=False), 0.2)
    watch.take(estimate(0.3), 0.3)
    watch.settle(0.6, fresh=True)
    assert (watch.state.good, watch.state.failures) == (True, 1)


def test_after_a_reset_only_newer_results_count_and_nothing_failed(
    watch: LocalizationWatch,
) -> None:
    watch.take(estimate(1.0), 1.0)
    watch.forget(2.0)
    assert (watch.state.good, watch.state.failures) == (False, 0)
    watch.take(estimate(1.9), 2.1)
    assert not watch.state.good
    watch.take(estimate(2.0), 2.2)
    assert watch.state.good


def test_a_clock_that_is_set_back_does_not_shut_out_results(watch: LocalizationWatch) -> None:
    watch.forget(100.0)
    watch.take(estimate(3.0), 3.0)
    assert watch.state.good
    watch.settle(5.0, fresh=False)
    watch.settle(1.0, fresh=False)
    assert watch.state.bad_for == 0.0


@given(st.lists(st.booleans(), max_size=50))
def test_failures_are_the_falling_edges(verdicts: list[bool]) -> None:
    watch = LocalizationWatch(LocalizationState())
    for now, good in enumerate(verdicts):
        watch.take(estimate(float(now), good), float(now))
        watch.settle(now + 0.5, fresh=True)
    pairs = zip([False, *verdicts], verdicts, strict=False)
    assert watch.state.failures == sum(before and not after for before, after in pairs)


COORDINATES = st.floats(-100.0, 100.0)
POSES = st.builds(Pose2D, COORDINATES, COORDINATES, st.floats(-math.pi, math.pi))


@given(POSES, POSES, POSES)
def test_the_pose_follows_the_odometry(map_T_odom: Pose2D, then: Pose2D, now: Pose2D) -> None:
    """If the estimate was right then, it is right now, wherever the odometry started."""
    got = brought_to_now(map_T_odom @ then, then, now)
    wanted = map_T_odom @ now
    assert got.distance(wanted) < 1e-9
    assert got.turn(wanted) < 1e-9


def covariance(xx: float, yy: float, turn: float, xy: float = 0.0) -> list[float]:
    values = [0.0] * 36
    values[0], values[1], values[6], values[7], values[35] = xx, xy, xy, yy, turn
    return values


@pytest.mark.parametrize(
    ("values", "ratio"),
    [
        (covariance(0.0, 0.0, 0.0), 0.0),
        (covariance(0.25, 0.01, 0.0), 1.0),
        (covariance(0.0, 0.0, 0.16), 2.0),
        # Rotated by 45 degrees: the worst direction is none of the axes.
        (covariance(0.5, 0.5, 0.0, xy=0.5), 2.0),
        (covariance(-1.0, 0.1, 0.1), math.inf),
        (covariance(math.nan, 0.1, 0.1), math.inf),
        (covariance(0.1, math.inf, 0.1), math.inf),
    ],
)
def test_deviations_of_a_pose_against_their_limits(values: list[float], ratio: float) -> None:
    assert deviation_ratio(values, 0.5, 0.2) == pytest.approx(ratio)


def test_a_limit_of_zero_takes_certainty_only() -> None:
    assert deviation_ratio(covariance(0.0, 0.0, 0.0), 0.0, 0.0) == 0.0
    assert deviation_ratio(covariance(1e-9, 0.0, 0.0), 0.0, 0.0) == math.inf
