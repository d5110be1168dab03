# SPDX-License-Identifier: Apache-2.0
"""Intervals and tests agree with the textbook."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_bringup.evaluation.statistics import histogram, mcnemar, wilcoxon, wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_ends_where_the_count_is_just_credible(counts: tuple[int, int]) -> None:
    successes, trials = counts
    interval = wilson(successes, trials)
    for end in {interval.low, interval.high} - {0.0, 1.0}:
        score = (successes - trials * end) / math.sqrt(trials * end * (1 - end))
        assert abs(score) == pytest.approx(1.959964, rel=1e-5)


def test_nothing_is_known_of_no_trials() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_mcnemar_is_a_fair_coin_on_the_pairs_that_differ() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 6) == pytest.approx(2 / 64)
    assert mcnemar(6, 0) == mcnemar(0, 6)


def test_wilcoxon_sees_a_shift_and_no_shift() -> None:
    assert wilcoxon([0.0, 0.0]) == 1.0
    assert wilcoxon([1.0, -1.1, 0.9, -0.8]) > 0.5
    assert wilcoxon([1.0 + k / 100 for k in range(12)]) < 0.001


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400))
def test_a_histogram_counts_everything(values: list[float]) -> None:
    counts, edges = histogram(values)
    assert sum(counts) == len(values)
    assert len(edges) == len(counts) + 1 <= 25
    assert edges[0] <= min(values)
    assert edges[-1] >= max(values)
