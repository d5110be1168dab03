# SPDX-License-Identifier: Apache-2.0
"""Acceptance of the filters against exact spherical caps, and what the sampler promises."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import interruptible
from behavior_skills.orientations import (
    DIRECTIONS,
    NoOrientation,
    axis_alignment,
    axis_filter,
    contradiction,
    plane_alignment,
    random_rotations,
    sample_orientations,
    satisfied,
    surprising,
)

N = 100_000
SHARES = [
    # (axis, filter, exact share of all rotations); the cosine is uniform in [-1, 1]
    ("z", ["forward", 10], 0.007596),
    ("x", ["upward", 30], 0.066987),
    ("y", ["leftward", 45], 0.146447),
    ("z", ["upward", 60], 0.25),
    ("z", ["forward", 70], 0.328990),
    ("x", ["forward", 90], 0.5),
    ("x", ["forward", 135], 0.853553),
    ("z", ["downward", 160], 0.030154),
    ("z", ["downward", 150], 0.066987),
    ("z", ["downward", 140], 0.116978),
    ("y", ["rightward", 120], 0.25),
    ("x", ["backward", 110], 0.328990),
    ("x", ["backward", 100], 0.413176),
    ("x", ["backward", 60], 0.75),
    ("x", ["downward", 120, 150], 0.183013),
    ("z", ["downward", 110, 140], 0.212012),
    ("z", ["downward", 130, 160], 0.148453),
    ("y", ["upward", 60, 30], 0.183013),
    ("z", ["forward", 90, 45], 0.353553),
    ("z", ["forward", 135, 45], 0.707107),
    ("z", ["forward", 180, 90], 0.5),
]
COMBINED = [
    # Shares counted in millions of random directions, exact ones where symmetry gives them.
    ({"y": ["forward", 90], "z": ["forward", 90]}, 0.25, 0.0),
    ({"x": ["forward", 90], "z": ["downward", 140]}, 0.116978 / 2, 0.0),
    ({"x": ["forward", 45], "z": ["downward", 140]}, 0.02659, 2e-5),
    ({"y": ["forward", 30], "z": ["downward", 150]}, 0.00961, 2e-5),
    ({"x": ["downward", 150], "z": ["forward", 60]}, 0.0219, 1e-4),
    # Counted in 4e6 directions.
    ({"y": ["upward", 60], "z": ["upward", 60]}, 0.04372, 1e-4),
    ({"x": ["backward", 110], "y": ["downward", 120], "z": ["forward", 70]}, 0.02991, 2e-5),
    ({"x": ["downward", 120, 150], "y": ["upward", 60, 30], "z": ["forward", 10]}, 6.27e-4, 3e-6),
    ({"x": ["leftward", 10], "z": ["downward", 160]}, 8.18e-4, 3e-6),
    ({"y": ["leftward", 10], "z": ["forward", 40]}, 1.68e-3, 1e-5),
]


@pytest.fixture(scope="module")
def haar() -> np.ndarray:
    return random_rotations(N, np.random.default_rng(7))


def test_random_rotations_are_uniform(haar: np.ndarray) -> None:
    assert np.abs(haar.mean(axis=0)).max() < 4 * math.sqrt(1 / 3 / N)
    assert np.abs((haar**2).mean(axis=0) - 1 / 3).max() < 4 * math.sqrt(4 / 45 / N)
    assert np.allclose(np.linalg.det(haar), 1.0, atol=1e-9)
    assert np.allclose(haar.transpose(0, 2, 1) @ haar, np.eye(3), atol=1e-9)
    for element in haar.reshape(N, 9).T:  # Kolmogorov-Smirnov at a significance of 1e-4
        ranks = np.sort(element)
        gap = np.abs(ranks - np.linspace(-1, 1, N)).max() / 2
        assert gap < 2.23 / math.sqrt(N)


@pytest.mark.parametrize(("axis", "value", "share"), SHARES)
def test_a_filter_accepts_its_spherical_cap(
    haar: np.ndarray, axis: str, value: list[object], share: float
) -> None:
    constraint = axis_filter(axis, value, "legacy")
    assert constraint.share == pytest.approx(share, abs=1e-6)
    accepted = satisfied(haar, [constraint]).mean()
    assert abs(accepted - share) <= 3 * math.sqrt(share * (1 - share) / N)


@pytest.mark.slow
@pytest.mark.parametrize(("filters", "share", "uncertainty"), COMBINED)
def test_the_reported_share_is_that_of_all_rotations(
    filters: dict[str, list[object]], share: float, uncertainty: float
) -> None:
    constraints = [axis_filter(axis, value, "legacy") for axis, value in filters.items()]
    tightest = min(constraint.share for constraint in constraints)
    rng = np.random.default_rng(3)
    rotations, report = sample_orientations(30_000, constraints, rng)
    conditional = share / tightest
    deviation = tightest * math.sqrt(conditional * (1 - conditional) / report.drawn)
    assert abs(report.share - share) <= 4 * deviation + 3 * uncertainty
    assert satisfied(rotations, constraints).all()


def test_constructed_rotations_are_distributed_as_filtered_ones(haar: np.ndarray) -> None:
    constraints = [
        axis_filter("x", ["upward", 60], "legacy"),
        axis_filter("z", ["forward", 80], "legacy"),
    ]
    wanted = haar[satisfied(haar, constraints)]
    got, _ = sample_orientations(len(wanted), constraints, np.random.default_rng(1))
    spread = wanted.std(axis=0) * math.sqrt(2 / len(wanted))
    assert (np.abs(got.mean(axis=0) - wanted.mean(axis=0)) < 4.5 * spread).all()


def test_three_thousand_rotations_are_filtered_within_two_milliseconds() -> None:
    rng = np.random.default_rng(0)
    constraints = [axis_filter(axis, ["downward", 100], "legacy") for axis in "xyz"]
    times = []
    for _ in range(30):
        start = time.thread_time()
        satisfied(random_rotations(3000, rng), constraints)
        times.append(time.thread_time() - start)
    assert min(times) < 6e-3


def test_the_order_of_a_bands_angles_does_not_matter() -> None:
    first = axis_filter("z", ["forward", 45, 90], "legacy")
    second = axis_filter("z", ["forward", 90, 45], "legacy")
    assert (first.low, first.high) == (second.low, second.high)


def test_a_cone_counts_from_the_named_direction() -> None:
    cone = axis_filter("z", ["downward", 40], "cone")
    legacy = axis_filter("z", ["downward", 140], "legacy")
    rotations = random_rotations(2000, np.random.default_rng(0))
    assert (satisfied(rotations, [cone]) == satisfied(rotations, [legacy])).all()


def test_a_cone_with_two_angles_is_a_band_around_the_named_direction() -> None:
    band = axis_filter("x", ["backward", 20, 50], "cone")
    rotations, _ = sample_orientations(500, [band], np.random.default_rng(0))
    angles = np.degrees(np.arccos(-rotations[:, 0, 0]))
    assert 20 - 1e-6 <= angles.min() < 21
    assert 49 < angles.max() <= 50 + 1e-6


def test_a_wide_legacy_filter_is_warned_about() -> None:
    warning = surprising("x", ["backward", 60], "legacy")
    assert warning is not None
    assert "[backward, 120]" in warning
    assert surprising("x", ["backward", 120], "legacy") is None
    assert surprising("x", ["backward", 60], "cone") is None


@pytest.mark.parametrize(
    "value", [["down", 10], ["downward"], ["downward", 1, 2, 3], ["upward", 181], ["upward", "x"]]
)
def test_a_filter_that_cannot_be_read_is_refused(value: list[object]) -> None:
    with pytest.raises(ValueError, match="filter_z_dir"):
        axis_filter("z", value, "legacy")


def test_filters_that_exclude_each_other_fail_at_once_and_are_named() -> None:
    constraints = [
        axis_filter("x", ["forward", 10], "legacy"),
        axis_filter("y", ["forward", 10], "legacy"),
    ]
    spent = []
    for _ in range(3):
        start = time.thread_time()
        with pytest.raises(NoOrientation, match=r"filter_x_dir.*filter_y_dir.*exclude each other"):
            sample_orientations(20, constraints, np.random.default_rng(0))
        spent.append(time.thread_time() - start)
    assert min(spent) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"x": ["forward", 50], "y": ["forward", 50], "z": ["forward", 50]}, "xyz"),
        ({"x": ["forward", 54.5], "y": ["forward", 54.5], "z": ["forward", 54.5]}, "xyz"),
        ({"x": ["upward", 60, 61], "y": ["upward", 60, 61], "z": ["upward", 30, 40]}, "xyz"),
        ({"x": ["leftward", 30], "y": ["upward", 30], "z": ["forward", 60, 120]}, "xyz"),
    ],
)
def test_three_filters_that_only_together_exclude_each_other_are_named_at_once(
    filters: dict[str, list[object]], named: str
) -> None:
    constraints = [axis_filter(axis, value, "legacy") for axis, value in filters.items()]
    assert contradiction(constraints) is None  # no two of them tell
    spent = []
    for _ in range(3):
        start = time.thread_time()
        with pytest.raises(NoOrientation, match="exclude each other") as caught:
            sample_orientations(20, constraints, np.random.default_rng(0))
        spent.append(time.thread_time() - start)
    assert min(spent) < 0.2
    for axis in named:
        assert f"filter_{axis}_dir" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "filters",
    [
        {"x": ["forward", 0], "z": ["upward", 0]},
        {"x": ["forward", 0], "y": ["leftward", 0], "z": ["upward", 0]},
        {"x": ["downward", 180], "z": ["forward", 0]},
        {"x": ["forward", 30], "z": ["forward", 60]},
        {"x": ["upward", 90, 90], "z": ["upward", 180]},
        {"x": ["forward", 1e-3], "y": ["leftward", 1e-3]},
    ],
)
def test_filters_that_leave_next_to_nothing_are_met(filters: dict[str, list[object]]) -> None:
    constraints = [axis_filter(axis, value, "legacy") for axis, value in filters.items()]
    rotations, _ = sample_orientations(20, constraints, np.random.default_rng(0))
    assert satisfied(rotations, constraints).all()
    assert np.allclose(rotations @ rotations.transpose(0, 2, 1), np.eye(3), atol=1e-9)


def test_two_exact_filters_leave_one_orientation() -> None:
    constraints = [
        axis_filter("x", ["forward", 0], "legacy"),
        axis_filter("z", ["downward", 180], "legacy"),
    ]
    rotations, _ = sample_orientations(20, constraints, np.random.default_rng(0))
    assert len(rotations) == 1
    assert np.allclose(rotations[0], np.diag([1.0, -1.0, -1.0]), atol=1e-7)


def test_a_search_can_be_ended() -> None:
    class Ended(Exception):
        pass

    def end() -> None:
        raise Ended

    with pytest.raises(Ended), interruptible(end):
        sample_orientations(20, [], np.random.default_rng(0))


@pytest.mark.slow
def test_a_narrow_alignment_never_yields_an_unfiltered_orientation() -> None:
    rng = np.random.default_rng(5)
    axis, wanted = np.array([0.2, -0.7, 0.4]), np.array([1.0, 2.0, -0.5])
    constraint = axis_alignment(axis, wanted, math.radians(3.0), "align_obj_tol: 3")
    for _ in range(1000):
        rotations, _ = sample_orientations(20, [constraint], rng)
        assert len(rotations) == 20
        cosine = (rotations @ axis) @ wanted / np.linalg.norm(axis) / np.linalg.norm(wanted)
        assert (cosine > math.cos(math.radians(3.0)) - 1e-12).all()


def test_the_tool_stays_in_a_plane() -> None:
    normal = np.array([0.0, 1.0, 0.0])
    constraint = plane_alignment(np.array([0, 0, 1.0]), normal, math.radians(5), "plane")
    rotations, _ = sample_orientations(100, [constraint], np.random.default_rng(0))
    assert np.abs(rotations[:, 1, 2]).max() <= math.sin(math.radians(5)) + 1e-9


def test_the_same_seed_gives_the_same_orientations() -> None:
    constraints = [axis_filter("z", ["downward", 140], "legacy")]
    first, _ = sample_orientations(20, constraints, np.random.default_rng(11))
    second, _ = sample_orientations(20, constraints, np.random.default_rng(11))
    assert np.array_equal(first, second)


def filters() -> st.SearchStrategy[tuple[str, list[object]]]:
    angle = st.floats(0, 180)
    direction = st.sampled_from(sorted(DIRECTIONS))
    one = st.tuples(direction, angle).map(list)
    two = st.tuples(direction, angle, angle).map(list)
    return st.tuples(st.sampled_from("xyz"), one | two)


@pytest.mark.slow
@given(
    given_filters=st.lists(filters(), max_size=3, unique_by=lambda pair: pair[0]),
    convention=st.sampled_from(["legacy", "cone"]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=300, deadline=None)
def test_whatever_comes_out_is_distinct_and_meets_every_filter(
    given_filters: list[tuple[str, list[object]]], convention: str, seed: int
) -> None:
    constraints = [axis_filter(axis, value, convention) for axis, value in given_filters]  # type: ignore[arg-type]
    try:
        rotations, report = sample_orientations(20, constraints, np.random.default_rng(seed))
    except NoOrientation:
        # Nothing is missed: of many uniform rotations none is acceptable either.
        many = random_rotations(20_000, np.random.default_rng(seed))
        assert satisfied(many, constraints).sum() <= 3
        return
    assert 1 <= len(rotations) <= 20
    assert report.accepted >= len(rotations) or report.share == 0.0
    assert satisfied(rotations, constraints).all()
    if all(constraint.share > 1e-9 for constraint in constraints):
        assert len(np.unique(rotations.reshape(-1, 9).round(12), axis=0)) == len(rotations)
