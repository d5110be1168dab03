# SPDX-License-Identifier: Apache-2.0
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_executor.missions.statistics import Histogram, TickStatistics


def test_empty() -> None:
    assert Histogram().summary().samples == 0


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=300))
def test_agrees_with_the_standard_library(values: list[float]) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    summary = histogram.summary()
    assert summary.samples == len(values)
    assert summary.maximum == max(values)
    assert summary.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert summary.median == pytest.approx(statistics.median(values), abs=1e-9)
    assert summary.p99 == sorted(values)[math.ceil(0.99 * len(values)) - 1]


def test_quantiles_follow_the_newest_samples_and_maximum_all() -> None:
    histogram = Histogram(window=10)
    for value in [100.0] + [1.0] * 10:
        histogram.add(value)
    summary = histogram.summary()
    assert (summary.p99, summary.maximum, summary.samples) == (1.0, 100.0, 11)


def test_lateness_is_measured_between_starts_and_not_over_a_break() -> None:
    ticks = TickStatistics()
    ticks.add(0.0, 0.001, 0.05)
    ticks.add(0.07, 0.001, 0.05)
    ticks.interrupt()
    ticks.add(9.0, 0.002, 0.05)
    lateness = ticks.lateness.summary()
    assert lateness.samples == 1
    assert lateness.maximum == pytest.approx(0.02)
    assert ticks.duration.summary().samples == 3
    assert [metric.name for metric in ticks.metrics()] == ["execution_time", "tick_lateness"]
