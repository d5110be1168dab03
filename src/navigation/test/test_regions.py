# SPDX-License-Identifier: Apache-2.0
"""Which regions a polyline touches, against a count of points."""

import itertools

import numpy as np
import pytest
from behavior_msgs.msg import SemanticRegion
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_navigation.rules.regions import (
    REGION_TYPES,
    Region,
    RegionIndex,
    contains,
    touches,
)

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
HOOK = np.array([[0, 0], [4, 0], [4, 4], [3, 4], [3, 1], [0, 1]], dtype=float)
COORDINATE = st.floats(-3.0, 6.0).map(lambda value: round(value, 3))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([(-1, 1), (3, 1)], True),  # through
        ([(0.5, 0.5), (1.0, 1.0)], True),  # inside
        ([(-1, 3), (3, 3)], False),
        ([(-1, -1), (3, 3)], True),  # through two corners
        ([(-1, 1), (0, 1)], True),  # touches an edge
        ([(1, 1)], True),
        ([(3, 3)], False),
        ([(-1, 0.5), (-0.1, 0.5), (-0.1, 3)], False),
        ([(-1, 5), (5, -1)], True),
        ([(3, 0), (3, 2)], False),
    ],
)
def test_square(line: list, expected: bool) -> None:
    assert touches(np.array(line, dtype=float), SQUARE) is expected


def test_the_inside_of_a_hook_is_outside() -> None:
    assert not touches(np.array([[1.0, 2.0], [2.5, 3.5]]), HOOK)
    assert touches(np.array([[1.0, 2.0], [3.5, 3.5]]), HOOK)


@pytest.mark.slow
@given(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_a_line_with_a_point_inside_touches(points: list) -> None:
    line = np.array(points)
    share = np.linspace(0.0, 1.0, 50)[:, None]
    dense = np.vstack([line[:1], *(a + share * (b - a) for a, b in itertools.pairwise(line))])
    for polygon in (SQUARE, HOOK):
        if contains(polygon, dense).any():
            assert touches(line, polygon)


def test_index_finds_all_and_ignores_what_is_no_area() -> None:
    regions = [
        Region("a", 0, SQUARE),
        Region("b", 2, SQUARE + 10.0),
        Region("line", 2, SQUARE[:2]),
    ]
    index = RegionIndex(regions)
    line = np.array([[1.0, 1.0], [11.0, 11.0]])
    assert [region.id for region in index.touched_by(line)] == ["a", "b"]
    assert [region.id for region in index.touched_by(line[1:])] == ["b"]
    assert RegionIndex(()).touched_by(line) == ()


def test_types_are_those_of_the_message() -> None:
    assert [getattr(SemanticRegion, name) for name in REGION_TYPES] == list(range(7))
