# SPDX-License-Identifier: Apache-2.0
"""Polylines and places along them: the edge cases, and random ones against brute force."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_navigation.rules.polyline import Polyline

COORDINATE = st.floats(-50.0, 50.0).map(lambda value: round(value, 3))
POINT = st.tuples(COORDINATE, COORDINATE)
ROUTE = st.lists(POINT, min_size=1, max_size=12)


def brute_force(
    line: Polyline, x: float, y: float, low: float, high: float
) -> list[tuple[float, float]]:
    """Arc length and distance of each segment's nearest point within a window."""
    if len(line.points) == 1:
        return [(0.0, math.dist(line.points[0], (x, y)))]
    low, high = min(max(low, 0.0), line.length), max(min(high, line.length), 0.0)
    found = []
    for i in range(len(line.points) - 1):
        a, b = line.points[i], line.points[i + 1]
        length = math.dist(a, b)
        first, last = max(0.0, low - line.arc[i]), min(length, high - line.arc[i])
        if first > last + 1e-9:
            continue
        last = max(first, last)
        u = (b - a) / length
        t = min(max(float(np.dot((x, y) - a, u)), first), last)
        found.append((line.arc[i] + t, math.dist(a + t * u, (x, y))))
    return found


@pytest.mark.slow
@given(ROUTE, POINT, st.floats(-10.0, 200.0), st.floats(0.0, 50.0))
@settings(max_examples=120, deadline=None)
def test_the_nearest_of_each_segment_in_the_window(
    points: list, p: tuple, low: float, width: float
) -> None:
    line = Polyline(points)
    found = line.near(*p, low, low + width)
    expected = brute_force(line, *p, low, low + width)
    assert found.distance.min() == pytest.approx(min(d for _, d in expected), abs=1e-7)
    assert (np.diff(found.s) >= -1e-9).all()
    for s, distance in zip(found.s, found.distance, strict=True):
        assert math.dist(line.point(s), p) == pytest.approx(distance, abs=1e-6)
        assert abs(line.lateral(*p, s)) <= distance + 1e-6
    inside = min(max(low, 0.0), line.length) - 1e-9, max(min(low + width, line.length), 0.0) + 1e-9
    assert inside[0] <= found.s[0] <= found.s[-1] <= inside[1]
    assert len(found.corner) == len(found.s) - 1


@pytest.mark.slow
@given(ROUTE, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(max_examples=80, deadline=None)
def test_slice_is_as_long_as_its_arc_and_lies_on_the_line(
    points: list, share: float, more: float
) -> None:
    line = Polyline(points)
    start = share * line.length
    end = start + more * (line.length - start)
    part = line.slice(start, end)
    steps = np.diff(part, axis=0)
    assert np.hypot(steps[:, 0], steps[:, 1]).sum() == pytest.approx(end - start, abs=1e-6)
    assert math.dist(part[0], line.point(start)) < 1e-9
    assert math.dist(part[-1], line.point(end)) < 1e-6
    for x, y in part:
        assert line.near(x, y, 0.0, math.inf).distance.min() < 1e-6


@pytest.mark.slow
@given(ROUTE)
@settings(max_examples=100, deadline=None)
def test_arc_lengths_grow_and_no_step_is_too_short(points: list) -> None:
    line = Polyline(points)
    assert (np.diff(line.arc) >= 1e-3 - 1e-12).all()
    assert line.arc[0] == 0.0


def test_repeated_points_are_dropped() -> None:
    line = Polyline([(0, 0), (0, 0), (0.0005, 0), (1, 0), (1, 0.0001), (1, 1)])
    assert line.points.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert line.length == 2.0


def test_before_the_start_and_past_the_end() -> None:
    line = Polyline([(0, 0), (10, 0)])
    before, past = line.near(-2.0, 1.0, 0.0, 10.0), line.near(13.0, -1.0, 0.0, 10.0)
    assert (before.s[0], line.lateral(-2.0, 1.0, 0.0)) == (0.0, 1.0)
    assert before.distance[0] == pytest.approx(math.hypot(2.0, 1.0))
    assert (past.s[0], line.lateral(13.0, -1.0, 10.0)) == (10.0, -1.0)


def test_at_a_vertex_the_segment_after_it_tells_the_direction() -> None:
    line = Polyline([(0, 0), (5, 0), (5, 5)])
    assert line.near(6.0, -1.0, 0.0, 10.0).s.tolist() == [5.0, 5.0]
    assert line.heading(5.0) == pytest.approx(math.pi / 2)
    assert line.lateral(6.0, -1.0, 5.0) == pytest.approx(-1.0)  # right of the second segment


def test_left_is_positive() -> None:
    line = Polyline([(0, 0), (0, 10)])
    assert line.lateral(-1.5, 5.0, 5.0) == 1.5
    assert line.lateral(2.0, 5.0, 5.0) == -2.0


def test_one_point() -> None:
    line = Polyline([(3, 4)])
    assert line.length == 0.0
    found = line.near(0.0, 0.0, 0.0, 1.0)
    assert (found.s.tolist(), found.distance.tolist()) == ([0.0], [5.0])
    assert line.lateral(0.0, 0.0, 0.0) == 0.0
    assert line.slice(0.0, 0.0).tolist() == [[3.0, 4.0]]
    assert line.point(1.0) == (3.0, 4.0)
    assert line.heading(0.0) == 0.0


@pytest.mark.parametrize("points", [[], [(0, 0), (math.nan, 1)], [(0, 0), (1, math.inf)]])
def test_points_that_are_none_are_refused(points: list) -> None:
    with pytest.raises(ValueError, match=r"route"):
        Polyline(points)


@pytest.mark.slow
def test_ten_thousand_points_cost_milliseconds_at_most() -> None:
    angle = np.linspace(0.0, 60.0, 10_000)
    line = Polyline(np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]))

    def cost(what: object) -> float:
        times = []
        for _ in range(20):
            begin = time.thread_time()
            what()
            times.append(time.thread_time() - begin)
        return min(times)

    middle = 0.5 * line.length
    assert cost(lambda: line.near(3.0, 4.0, 0.0, math.inf)) < 3e-3
    assert cost(lambda: line.near(3.0, 4.0, middle - 1.0, middle + 10.0)) < 1e-3
    assert cost(lambda: line.slice(middle, middle + 10.0)) < 1e-3
