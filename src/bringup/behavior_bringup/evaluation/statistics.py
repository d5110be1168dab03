# SPDX-License-Identifier: Apache-2.0
"""Intervals and tests for what was counted and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`."""

    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval:
    """Interval that holds a probability with 95 % confidence (Wilson's score interval).

    Unlike the normal one it is right for few trials, and when all or none succeed.
    https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval
    """
    from scipy.stats import binomtest

    if trials == 0:
        return Interval(0.0, 1.0)
    found = binomtest(successes, trials).proportion_ci(method="wilson")
    return Interval(float(found.low), float(found.high))


def mcnemar(only_first: int, only_second: int) -> float:
    """Probability that so uneven a number of pairs differ by chance (exact McNemar test).

    Args:
        only_first: pairs in which the first alone succeeded.
        only_second: the second alone.
    """
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def wilcoxon(differences: Sequence[float]) -> float:
    """Probability that paired differences so far off zero come by chance (signed-rank test)."""
    from scipy.stats import wilcoxon as signed_rank

    values = np.asarray(differences, dtype=float)
    if not np.any(values):
        return 1.0
    return float(signed_rank(values).pvalue)


def histogram(values: Sequence[float], most: int = 24) -> tuple[list[int], list[float]]:
    """Counts of values in bins of equal width, and the edges of the bins, one more.

    The number of bins goes by the square root of that of values.
    """
    bins = max(1, min(most, math.ceil(math.sqrt(len(values)))))
    counts, edges = np.histogram(np.asarray(values, dtype=float), bins=bins)
    return [int(count) for count in counts], [float(edge) for edge in edges]
