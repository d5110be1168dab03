# SPDX-License-Identifier: Apache-2.0
"""A motion that was shown becomes leaves that repeat it."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import GripperConfig
from behavior_skills.arm.shown_motion import MotionWatch, Shown
from behavior_skills.arm.taught import taught_leaves

RATE = 0.02


def motion(*parts):
    """Samples of parts: duration [s] and where all joints and the gap are at their end."""
    rows = [np.array(parts[0][1], dtype=float)]
    for seconds, goal in parts[1:]:
        begin = rows[-1]
        for share in np.linspace(0.0, 1.0, max(round(seconds / RATE), 1) + 1)[1:]:
            rows.append(begin + share * (np.array(goal) - begin))
    values = np.array(rows)
    return Shown(RATE * np.arange(len(values)), values[:, :-1], values[:, -1])


def elements(shown, **options):
    return [ElementTree.fromstring(leaf) for leaf in taught_leaves(shown, **options)]


def joints(element):
    return [float(each) for each in element.get("joints").split(";")]


def test_it_rests_where_it_rested_and_grips_where_it_gripped():
    shown = motion(
        (0, (0, 0, 0.08)),
        (1, (0, 0, 0.08)),
        (2, (1, 0.5, 0.08)),
        (1, (1, 0.5, 0.08)),
        (0.5, (1, 0.5, 0.02)),
        (1, (1, 0.5, 0.02)),
        (2, (-1, 0.5, 0.02)),
        (0.5, (-1, 0.5, 0.06)),
    )
    begin, first, grip, second, release = elements(shown, name="wave")
    assert joints(begin) == [0, 0]
    assert (first.tag, first.get("mode"), joints(first)) == ("MoveArm", "JOINTS", [1, 0.5])
    assert (grip.tag, grip.get("mode")) == ("MoveGripper", "CLOSE")
    assert joints(second) == [-1, 0.5]
    assert (release.get("mode"), release.get("width")) == ("WIDTH", "0.0600")
    names = [each.get("name") for each in (begin, first, grip, second, release)]
    assert names == [f"wave {number}" for number in range(1, 6)]


def test_a_corner_without_a_rest_is_a_waypoint():
    shown = motion((0, (0, 0, 0)), (1, (1, 0, 0)), (1, (1, 1, 0)))
    assert [joints(each) for each in elements(shown)] == [[0, 0], [1, 0], [1, 1]]


def test_a_short_rest_is_none():
    shown = motion((0, (0, 0, 0)), (1, (1, 0, 0)), (0.1, (1, 0, 0)), (1, (2, 0, 0)))
    assert [joints(each) for each in elements(shown)] == [[0, 0], [2, 0]]


def test_one_that_comes_back_goes_there():
    shown = motion((0, (0, 0, 0)), (1, (1, 0, 0)), (1, (0, 0, 0)))
    assert [joints(each) for each in elements(shown)] == [[0, 0], [1, 0], [0, 0]]


def test_what_never_moved_is_nothing():
    assert taught_leaves(motion((0, (1, 1, 0.05)), (2, (1, 1, 0.05)))) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.floats(-2.0, 2.0)] * 3), min_size=2, max_size=60),
    st.floats(0.01, 0.3),
)
def test_the_way_is_never_farther_than_the_tolerance(points, tolerance):
    way = np.array(points)
    shown = Shown(np.arange(len(way)) * 0.1, way)
    corners = [np.array(joints(each)) for each in elements(shown, tolerance=tolerance)] or [way[0]]
    for point in way:
        nearest = min(_distance(point, *ends) for ends in pairwise([*corners, corners[-1]]))
        assert nearest <= tolerance + 1e-3


def _distance(point, begin, end):
    """Of a point from a piece of a line, the largest of its joints, by trying many places."""
    shares = np.linspace(0.0, 1.0, 2001)[:, None]
    return np.abs(begin + shares * (end - begin) - point).max(axis=1).min()


@pytest.mark.parametrize(
    "shown",
    [
        Shown([0.0], [[0.0]]),
        Shown([0.0, 1.0], [0.0, 1.0]),
        Shown([0.0, 0.0], [[0.0], [1.0]]),
        Shown([0.0, 1.0], [[0.0], [np.nan]]),
        Shown([0.0, 1.0], [[0.0], [1.0]], [0.0]),
    ],
)
def test_what_is_no_motion_is_refused(shown):
    with pytest.raises(ValueError, match=r"must be finite|two samples"):
        taught_leaves(shown)


HAND = GripperConfig(("left", "right"), (0.5, 0.5), 0.08, 0.0, 1, 1, 1, "", (), {})


def test_joint_states_in_parts_are_one_motion_of_the_arm():
    watch = MotionWatch(("a", "b"), HAND)
    watch.add(0.0, ["b"], [9.0])
    assert watch.missing == ["a"]
    for number in range(200):
        time = 0.01 * number
        watch.add(time, ["b", "a", "wheel"], [2.0, time, 7.0])
        watch.add(time, ["left", "right"], [0.02, 0.03])
    shown = watch.shown()
    assert shown.joints[0] == [0.0, 2.0]
    assert shown.joints[-1] == [1.99, 2.0]
    assert np.diff(shown.times)[:-1].min() >= 0.05 - 1e-9
    assert shown.gaps == pytest.approx([0.05] * len(shown.gaps))


def test_a_world_that_was_reset_is_no_motion():
    watch = MotionWatch(("a",), HAND)
    watch.add(5.0, ["a"], [0.0])
    watch.add(4.9, ["a"], [0.0])
    with pytest.raises(ValueError, match=r"steps back by 5\.0 s .* --start"):
        watch.add(0.0, ["a"], [0.0])
    with pytest.raises(ValueError, match="one state is no motion"):
        watch.shown()
    with pytest.raises(ValueError, match="nobody told of b, c"):
        MotionWatch(("b", "c"), HAND).shown()
