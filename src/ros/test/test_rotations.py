# SPDX-License-Identifier: Apache-2.0
"""Rotations and conversions against closed forms and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.time import Time
from scipy.spatial.transform import Rotation, Slerp

from behavior_ros import (
    matrix_to_pose,
    matrix_to_transform,
    pose_to_matrix,
    seconds,
    to_duration,
    to_time,
    transform_to_matrix,
)
from behavior_ros.messages.rotations import quaternion_to_rotation, rotation_to_quaternion, slerp

unit = st.floats(-1.0, 1.0)
quaternions = (
    st.tuples(unit, unit, unit, unit)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: tuple(np.array(q) / np.linalg.norm(q)))
)


@given(quaternions)
def test_rotation_agrees_with_scipy(q):
    rotation = quaternion_to_rotation(*q)
    np.testing.assert_allclose(rotation, Rotation.from_quat(q).as_matrix(), atol=1e-12)
    back = np.array(rotation_to_quaternion(rotation))
    assert back[3] >= 0
    assert abs(abs(np.dot(back, q)) - 1.0) < 1e-12


@settings(max_examples=200)
@given(quaternions, quaternions, st.floats(0.0, 1.0))
def test_slerp_agrees_with_scipy(first, second, share):
    if abs(np.dot(first, second)) < 1e-3:
        return  # half a turn apart: either way round is right
    expected = Slerp([0.0, 1.0], Rotation.from_quat([first, second]))(share)
    got = Rotation.from_quat(slerp(first, second, share))
    assert (expected.inv() * got).magnitude() < 1e-6


def test_half_turns_are_exact():
    for axis in np.eye(3):
        rotation = Rotation.from_rotvec(math.pi * axis).as_matrix()
        np.testing.assert_allclose(np.abs(rotation_to_quaternion(rotation)[:3]), axis, atol=1e-12)


def test_zero_quaternion_is_refused():
    with pytest.raises(ValueError, match="0, 0, 0, 1"):
        quaternion_to_rotation(0.0, 0.0, 0.0, 0.0)


def test_messages_round_trip():
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("xyz", [0.1, -0.4, 2.0]).as_matrix()
    matrix[:3, 3] = (1.0, -2.0, 0.5)
    np.testing.assert_allclose(pose_to_matrix(matrix_to_pose(matrix)), matrix, atol=1e-12)
    np.testing.assert_allclose(transform_to_matrix(matrix_to_transform(matrix)), matrix, atol=1e-12)


@given(st.floats(-1e6, 1e6))
def test_times_round_trip(value):
    assert abs(seconds(to_duration(value)) - value) < 1e-9 * max(1.0, abs(value))
    assert 0 <= to_time(value).nanosec < 1_000_000_000


def test_time_objects_and_bad_times():
    assert seconds(Time(nanoseconds=1_500_000_000)) == 1.5
    with pytest.raises(ValueError, match="no time"):
        to_time(math.inf)
