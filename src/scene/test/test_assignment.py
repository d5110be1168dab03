# SPDX-License-Identifier: Apache-2.0
"""The choice of pairs is the best there is, and none that is forbidden."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_scene.tracking.assignment import optimal_assignment


@st.composite
def candidates(draw, most=12):
    """Pairs without repetition and their gains, some of them worthless."""
    size = draw(st.integers(1, most)), draw(st.integers(1, most))
    cells = [(row, column) for row in range(size[0]) for column in range(size[1])]
    pairs = sorted(draw(st.sets(st.sampled_from(cells), max_size=40)))
    gains = [draw(st.floats(-1.0, 10.0)) for _ in pairs]
    rows, columns = (np.array([pair[i] for pair in pairs], dtype=np.intp) for i in range(2))
    return rows, columns, np.array(gains)


def total(rows, columns, gains):
    """Sum of the gains of the chosen pairs; fails if they are no assignment."""
    chosen = optimal_assignment(rows, columns, gains)
    assert len(set(rows[chosen].tolist())) == len(set(columns[chosen].tolist())) == len(chosen)
    assert (gains[chosen] > 0.0).all()
    return float(gains[chosen].sum())


def greedy(order, rows, columns, gains):
    """Sum of the gains when the first that fits is taken, in an order of the pairs."""
    used_rows, used_columns, gain = set(), set(), 0.0
    for index in order:
        row, column = int(rows[index]), int(columns[index])
        if gains[index] > 0.0 and row not in used_rows and column not in used_columns:
            used_rows.add(row)
            used_columns.add(column)
            gain += float(gains[index])
    return gain


@pytest.mark.slow
@settings(max_examples=60)
@given(candidates(), st.randoms(use_true_random=False))
def test_never_worse_than_greedy_in_any_order(case, random):
    best = total(*case)
    order = list(range(len(case[0])))
    for _ in range(5):
        random.shuffle(order)
        assert best >= greedy(order, *case) - 1e-9
    order.sort(key=lambda index: -case[2][index])
    assert best >= greedy(order, *case) - 1e-9


@settings(max_examples=60)
@given(candidates(most=4))
def test_as_good_as_the_best_of_all(case):
    rows, columns, gains = case
    gain = np.zeros((4, 4))
    gain[rows, columns] = np.maximum(gains, 0.0)
    best = max(sum(gain[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))
    assert total(*case) == pytest.approx(best)


def test_nothing_to_choose_from():
    nothing = np.zeros(0, dtype=np.intp)
    assert optimal_assignment(nothing, nothing, np.zeros(0)).size == 0
    assert optimal_assignment(np.array([0]), np.array([0]), np.array([0.0])).size == 0
