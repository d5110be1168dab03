# SPDX-License-Identifier: Apache-2.0
"""Progress along routes that fold, cross, loop and repeat themselves."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.route_progress import (
    GAIN,
    JUMP,
    ROOM,
    Odometer,
    RouteProgress,
)

STEP = st.tuples(st.sampled_from((0.4, 1.0, 2.0, 3.5, 8.0)), st.integers(0, 7))
FREE = st.lists(st.tuples(st.floats(-15.0, 15.0), st.floats(-15.0, 15.0)), min_size=2, max_size=8)


def walk(steps: list[tuple[float, int]]) -> list[tuple[float, float]]:
    """Corners after steps of some length in one of eight directions: folds, loops, repeats."""
    places = [(0.0, 0.0)]
    for length, eighth in steps:
        x, y = places[-1]
        angle = 0.25 * math.pi * eighth
        places.append((x + length * math.cos(angle), y + length * math.sin(angle)))
    return places


ROUTE = st.one_of(
    st.lists(STEP, min_size=1, max_size=9).map(walk),
    FREE,
    # there and back, again and again; around and around
    st.tuples(STEP, st.integers(1, 4)).map(
        lambda given: walk([given[0], (given[0][0], (given[0][1] + 4) % 8)] * given[1])
    ),
    st.tuples(st.lists(STEP, min_size=2, max_size=4), st.integers(2, 3)).map(
        lambda given: walk(given[0] * given[1])
    ),
)


def drive(line: Polyline, step: float, noise: float = 0.0, seed: int = 0) -> list[tuple]:
    """Drive along a route; for each look the arc length driven and the progress told."""
    rng = random.Random(seed)

    def place(s: float) -> tuple[float, float]:
        x, y = line.point(s)
        return x + rng.uniform(-noise, noise), y + rng.uniform(-noise, noise)

    progress = RouteProgress(line, *place(0.0))
    told = []
    for s in (*np.arange(0.0, line.length, step), line.length, line.length):
        told.append((float(s), progress.update(*place(float(s))).s))
    return told


@pytest.mark.slow
@given(ROUTE, st.sampled_from((0.05, 0.1, 0.2)))
@settings(max_examples=200, deadline=None)
def test_who_drives_along_the_route_is_told_so(points: list, step: float) -> None:
    """Never ahead of the truth but by a corner that is all but reached, never far behind."""
    line, last = Polyline(points), 0.0
    for driven, told in drive(line, step):
        assert told >= last
        assert told <= driven + 0.45
        assert told >= driven - 2.0 * step - 0.7
        last = told
    assert line.length - last <= 0.3


@pytest.mark.slow
@given(ROUTE, st.sampled_from((0.05, 0.1, 0.2)), st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_with_noise_every_place_is_passed_in_its_order(
    points: list, step: float, seed: int
) -> None:
    line, last = Polyline(points), 0.0
    for driven, told in drive(line, step, noise=0.04, seed=seed):
        assert told >= last
        assert abs(told - driven) <= 2.0 * step + 1.0
        last = told
    assert line.length - last <= 0.3


@pytest.mark.slow
@given(ROUTE, st.integers(0, 99), st.floats(0.0, 3.0))
@settings(max_examples=150, deadline=None)
def test_progress_is_bounded_by_what_was_driven(points: list, seed: int, size: float) -> None:
    """Whatever a robot does: a random walk, or standing still."""
    line, rng = Polyline(points), random.Random(seed)
    x, y = line.points[0]
    progress = RouteProgress(line, x, y)
    begin, driven, last = progress.place.s, 0.0, progress.place.s
    for _ in range(60):
        dx, dy = rng.uniform(-size, size), rng.uniform(-size, size)
        x, y, driven = x + dx, y + dy, driven + math.hypot(dx, dy)
        told = progress.update(x, y).s
        assert last <= told <= begin + ROOM + GAIN * driven + 1e-6
        last = told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "standing"),
    [
        ([(0, 0), (3, 0), (0, 0)], (0.02, 0.0)),
        ([(0, 0), (2.5, 0), (2.5, 2), (0, 2), (0, 0)], (0.1, 0.3)),
        ([(0, 0), (8, 0), (0, 0)], (0.0, 0.0)),
        ([(0, 0), (0, 2), (0, 0)], (0.0, 0.1)),
    ],
)
def test_who_stands_where_the_route_ends_has_not_driven_it(points: list, standing: tuple) -> None:
    line, rng = Polyline(points), random.Random(1)
    progress = RouteProgress(line, *standing)
    for _ in range(500):
        x, y = (value + rng.gauss(0.0, 0.03) for value in standing)
        progress.update(x, y, 0.0)
    assert progress.place.s < 0.5


def test_a_turn_between_two_looks_is_not_lost() -> None:
    """At 2 Hz and 1 m/s the tip of a fold is seen from half a metre at best."""
    line = Polyline([(0, 0), (3, 0), (0, 0)] * 3)
    progress, last = RouteProgress(line, 0.0, 0.0), 0.0
    for s in np.arange(0.25, line.length, 0.5):
        last = progress.update(*line.point(float(s))).s
    assert line.length - last <= 0.3


def test_a_route_that_crosses_itself_is_followed_in_order() -> None:
    line = Polyline([(0, 0), (10, 0), (10, 5), (5, 5), (5, -5)])  # crosses at (5, 0)
    for driven, told in drive(line, 0.2):
        assert told == pytest.approx(driven, abs=1e-6)


def test_a_u_turn_is_followed_there_and_back() -> None:
    line = Polyline([(0, 0), (10, 0), (10, 0.1), (0, 0.1)])
    progress = RouteProgress(line, 0.0, 0.0)
    for x in np.arange(0.0, 9.9, 0.25):
        assert progress.update(float(x), 0.01).s <= x + 1e-6
    for x in np.arange(10.0, 0.0, -0.25):
        place = progress.update(float(x), 0.09)
    assert place.s == pytest.approx(19.85)


def test_a_robot_that_turns_back_too_early_has_not_been_at_the_tip() -> None:
    line = Polyline([(0, 0), (8, 0), (0, 0)])
    progress = RouteProgress(line, 0.0, 0.0)
    for x in (*np.arange(0.0, 6.0, 0.1), *np.arange(6.0, 0.0, -0.1)):
        told = progress.update(float(x), 0.0)
    assert told.s == pytest.approx(6.0, abs=0.1)


def test_a_correction_of_the_localizer_counts_a_little() -> None:
    line = Polyline([(0, 0), (50, 0)])
    progress = RouteProgress(line, 0.0, 0.0)
    progress.update(1.0, 0.0, 1.0)
    assert progress.update(2.5, 0.0, 1.0).s == pytest.approx(2.5)
    assert progress.update(40.0, 0.0, 1.0).s <= 2.5 + ROOM + GAIN * JUMP
    assert progress.place.distance > 30.0


def test_on_a_new_route_the_way_that_was_driven_meanwhile_is_behind() -> None:
    line = Polyline([(0, 0), (4, 0), (4, 4), (0, 4)])
    assert RouteProgress(line, 4.1, 2.0).place.s == pytest.approx(6.0)
    folded = Polyline([(0, 0), (-1, 0), (6, 0)])
    assert RouteProgress(folded, 1.0, 0.0, driven=3.0).place.s == pytest.approx(3.0)
    assert RouteProgress(folded, 1.0, 0.0).place.s == 0.0


def test_the_odometer_does_not_count_what_trembles() -> None:
    odometer, rng = Odometer(0.05), random.Random(2)
    for _ in range(1000):
        odometer.update(rng.uniform(-0.02, 0.02), 0.0)
    assert odometer.total == 0.0
    for x in np.arange(0.0, 5.0, 0.01):
        odometer.update(float(x), 0.0)
    assert odometer.total == pytest.approx(5.0, abs=0.1)
