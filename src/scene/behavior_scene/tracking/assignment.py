# SPDX-License-Identifier: Apache-2.0
"""Which detection belongs to which track: the choice of pairs with the greatest total gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from behavior_scene.detections import Array

Indices = NDArray[np.intp]


def optimal_assignment(rows: Indices, columns: Indices, gains: Array) -> Indices:
    """Choose among candidate pairs so that the sum of their gains is greatest.

    Each row and each column is used at most once; pairs without a gain are never chosen. A pair
    whose row and column have no other candidate needs no search; what remains goes to
    `scipy.optimize.linear_sum_assignment`.

    Args:
        rows: M indices from 0.
        columns: M indices from 0; no pair occurs twice.
        gains: M, what a pair is worth: price of leaving both alone less the cost of the pair.

    Returns:
        Positions in the arguments of the chosen pairs, in ascending order.
    """
    (worth,) = (gains > 0.0).nonzero()
    if not worth.size:
        return worth
    row, column = rows[worth], columns[worth]
    if len(set(row.tolist())) == len(set(column.tolist())) == len(worth):
        return worth  # nearly always
    alone = (np.bincount(row)[row] == 1) & (np.bincount(column)[column] == 1)
    chosen = worth[alone]
    contested = worth[~alone]
    if contested.size:
        row, row_count = _renumbered(rows[contested])
        column, column_count = _renumbered(columns[contested])
        gain = np.zeros((row_count, column_count))
        gain[row, column] = gains[contested]
        place = np.full(gain.shape, -1, dtype=np.intp)
        place[row, column] = contested
        picked = place[linear_sum_assignment(gain, maximize=True)]
        chosen = np.concatenate([chosen, picked[picked >= 0]])
    return np.sort(chosen)


def _renumbered(indices: Indices) -> tuple[Indices, int]:
    """The same indices with those that do not occur left out, and how many do."""
    occurs = np.bincount(indices) > 0
    number = np.cumsum(occurs) - 1
    return number[indices], int(occurs.sum())
