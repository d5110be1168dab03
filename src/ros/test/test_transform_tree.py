# SPDX-License-Identifier: Apache-2.0
"""The tree of frames against closed forms and algebra."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_ros import TransformError, TransformTree

S = 1_000_000_000
NO_TURN = (0.0, 0.0, 0.0, 1.0)


def yaw(angle):
    return (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


def matrix(position, quaternion):
    result = np.eye(4)
    result[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
    result[:3, 3] = position
    return result


def tree_of(*samples):
    """A tree of frames at their parents' places: (parent, child, seconds)."""
    tree = TransformTree()
    for parent, child, second in samples:
        tree.set(parent, child, second * S, (0.0, 0.0, 0.0), NO_TURN)
    return tree


def test_interpolates_position_linearly_and_rotation_by_slerp():
    tree = TransformTree()
    tree.set("world", "hand", 1 * S, (0.0, 0.0, 0.0), yaw(0.0))
    tree.set("world", "hand", 3 * S, (2.0, 4.0, -2.0), yaw(1.2))
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        got, stamp = tree.lookup("world", "hand", S + int(share * 2 * S))
        expected = matrix((2 * share, 4 * share, -2 * share), yaw(1.2 * share))
        np.testing.assert_allclose(got, expected, atol=1e-9)
        assert stamp == S + int(share * 2 * S)


def test_interpolation_takes_the_shorter_turn():
    tree = TransformTree()
    tree.set("world", "hand", 0, (0.0, 0.0, 0.0), yaw(0.2))
    tree.set("world", "hand", 2 * S, (0.0, 0.0, 0.0), tuple(-v for v in yaw(0.6)))
    got, _ = tree.lookup("world", "hand", S)
    np.testing.assert_allclose(got, matrix((0, 0, 0), yaw(0.4)), atol=1e-9)


def test_rotating_child_of_rotating_parent_closed_form():
    """A point on a wheel on a turntable: angles add, the offset turns with the table."""
    tree = TransformTree()
    for stamp in (1 * S, 2 * S):
        t = stamp / S
        tree.set("world", "table", stamp, (0.0, 0.0, 0.0), yaw(0.5 * t))
        tree.set("table", "wheel", stamp, (1.0, 0.0, 0.0), yaw(0.7 * t))
    got, _ = tree.lookup("world", "wheel", int(1.5 * S))
    expected = matrix((math.cos(0.75), math.sin(0.75), 0.0), yaw(1.2 * 1.5))
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_time_zero_is_latest_common_time():
    tree = TransformTree()
    for second in range(1, 6):
        tree.set("world", "a", second * S, (float(second), 0.0, 0.0), NO_TURN)
        if second <= 3:
            tree.set("world", "b", second * S, (0.0, float(second), 0.0), NO_TURN)
    got, stamp = tree.lookup("a", "b")
    assert stamp == 3 * S
    np.testing.assert_allclose(got[:3, 3], (-3.0, 3.0, 0.0), atol=1e-12)


def test_time_zero_looks_only_at_frames_on_the_way():
    tree = TransformTree()
    tree.set("world", "base", 1 * S, (0.0, 0.0, 0.0), NO_TURN)  # old, but not between a and b
    tree.set("base", "a", 5 * S, (1.0, 0.0, 0.0), NO_TURN)
    for second in (4, 6):
        tree.set("base", "b", second * S, (2.0, 0.0, 0.0), NO_TURN)
    assert tree.lookup("a", "b")[1] == 5 * S


def test_static_frames_hold_at_every_time():
    tree = TransformTree()
    tree.set("world", "base", 0, (1.0, 0.0, 0.0), NO_TURN, static=True)
    tree.set("base", "hand", 5 * S, (0.0, 1.0, 0.0), NO_TURN)
    assert tree.lookup("world", "base", 123 * S)[1] == 123 * S
    assert tree.lookup("world", "base")[1] == 0
    got, stamp = tree.lookup("world", "hand")
    assert stamp == 5 * S
    np.testing.assert_allclose(got[:3, 3], (1.0, 1.0, 0.0))


def test_same_frame_is_identity():
    tree = TransformTree()
    tree.set("world", "a", 1 * S, (1.0, 0.0, 0.0), NO_TURN)
    np.testing.assert_array_equal(tree.lookup("a", "a", 77 * S)[0], np.eye(4))


def test_cache_forgets_after_ten_seconds():
    tree = TransformTree()
    for second in range(1, 31):
        tree.set("world", "a", second * S, (float(second), 0.0, 0.0), NO_TURN)
    assert tree.lookup("world", "a", 20 * S)[0][0, 3] == 20.0
    with pytest.raises(TransformError, match=r"from 20\.0+ to 30\.0+ s.*1\.0+ s into the past"):
        tree.lookup("world", "a", 19 * S)


def test_late_samples_are_sorted_in_and_repeated_ones_replace():
    tree = TransformTree()
    for second in (1, 3, 2, 2):
        tree.set("world", "a", second * S, (float(second), 0.0, 0.0), NO_TURN)
    assert tree.lookup("world", "a", int(2.5 * S))[0][0, 3] == 2.5


def test_extrapolation_names_span_and_distance():
    tree = tree_of(("world", "a", 1), ("world", "a", 2))
    with pytest.raises(TransformError) as info:
        tree.lookup("world", "a", 3 * S)
    text = str(info.value)
    for part in ("world -> a", "1.000000", "2.000000", "1.000000 s into the future", "time 0"):
        assert part in text


def test_unknown_frame_names_the_nearest():
    tree = tree_of(("world", "red_block", 1), ("world", "tool", 1))
    with pytest.raises(TransformError, match=r"'red_blok' is unknown .nearest: red_block"):
        tree.lookup("world", "red_blok")
    with pytest.raises(TransformError, match="no transform was received yet"):
        TransformTree().lookup("world", "x")


def test_unconnected_trees_name_both_roots():
    tree = tree_of(("world", "a", 1), ("map", "odom", 1), ("odom", "b", 1))
    with pytest.raises(TransformError) as info:
        tree.lookup("a", "b")
    assert "b below root 'map'" in str(info.value)
    assert "a below root 'world'" in str(info.value)


def test_loops_are_told():
    tree = tree_of(("a", "b", 1), ("b", "a", 1))
    with pytest.raises(TransformError, match="loop"):
        tree.lookup("a", "b")


@pytest.mark.parametrize(
    ("parent", "child", "position", "rotation", "text"),
    [
        ("a", "a", (0.0, 0.0, 0.0), NO_TURN, "its own parent"),
        ("", "a", (0.0, 0.0, 0.0), NO_TURN, "empty"),
        ("a", "b", (math.nan, 0.0, 0.0), NO_TURN, "not finite"),
        ("a", "b", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), "length 0"),
    ],
)
def test_bad_samples_are_refused(parent, child, position, rotation, text):
    with pytest.raises(TransformError, match=text):
        TransformTree().set(parent, child, 0, position, rotation)


@pytest.mark.parametrize("stamp", [-1, -5 * S, 2**31 * S])
def test_times_that_no_clock_shows_are_refused(stamp):
    tree = TransformTree()
    with pytest.raises(TransformError, match="no time of a clock"):
        tree.set("world", "hand", stamp, (0.0, 0.0, 0.0), NO_TURN)
    tree.set("world", "lamp", stamp, (0.0, 0.0, 0.0), NO_TURN, static=True)
    assert tree.lookup("world", "lamp")[1] == 0
    with pytest.raises(TransformError, match="no time of a clock"):
        tree.lookup("world", "lamp", stamp)


def test_new_parent_replaces_the_old():
    tree = TransformTree()
    tree.set("table", "block", 1 * S, (0.0, 0.0, 0.0), NO_TURN)
    tree.set("hand", "block", 2 * S, (0.0, 0.0, 0.1), NO_TURN)
    assert tree.parent("block") == "hand"
    tree.clear()
    assert tree.frames() == []


def test_too_old_a_sample_is_refused():
    tree = tree_of(("world", "a", 100))
    with pytest.raises(TransformError, match=r"89\.000 s older"):
        tree.set("world", "a", 11 * S, (0.0, 0.0, 0.0), NO_TURN)


coordinate = st.floats(-10.0, 10.0)
poses = st.tuples(
    st.tuples(coordinate, coordinate, coordinate),
    st.tuples(*[st.floats(-1.0, 1.0)] * 4)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: tuple(float(v) for v in np.array(q) / np.linalg.norm(q))),
)


@st.composite
def random_trees(draw):
    """Frames f0 (root) to fn, each below one of the earlier ones."""
    count = draw(st.integers(2, 8))
    parents = [draw(st.integers(0, child - 1)) for child in range(1, count)]
    return parents, [draw(poses) for _ in parents], [draw(st.booleans()) for _ in parents]


@given(random_trees(), st.data())
def test_composition_and_inverse(made, data):
    parents, samples, static = made
    tree = TransformTree()
    root_T = [np.eye(4)]
    for child, (parent, (position, rotation), fixed) in enumerate(
        zip(parents, samples, static, strict=True), start=1
    ):
        tree.set(f"f{parent}", f"f{child}", 5 * S, position, rotation, static=fixed)
        root_T.append(root_T[parent] @ matrix(position, rotation))
    frames = st.integers(0, len(parents))
    a, b, c = data.draw(frames), data.draw(frames), data.draw(frames)

    def lookup(target, source):
        return tree.lookup(f"f{target}", f"f{source}", 5 * S)[0]

    np.testing.assert_allclose(lookup(a, b), np.linalg.inv(root_T[a]) @ root_T[b], atol=1e-7)
    np.testing.assert_allclose(lookup(a, b) @ lookup(b, a), np.eye(4), atol=1e-7)
    np.testing.assert_allclose(lookup(a, b) @ lookup(b, c), lookup(a, c), atol=1e-7)
