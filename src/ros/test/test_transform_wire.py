# SPDX-License-Identifier: Apache-2.0
"""Transforms read from bytes are those that rclpy reads."""

import pytest
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time
from tf2_msgs.msg import TFMessage

from behavior_ros.messages.conversions import transform_messages
from behavior_ros.transforms.transform_wire import (
    read_transforms,
    write_poses,
    write_transforms,
)

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.lists(st.floats(allow_nan=False), min_size=7, max_size=7)


@st.composite
def transforms(draw):
    result = TransformStamped(child_frame_id=draw(NAMES))
    result.header.frame_id = draw(NAMES)
    result.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    result.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    t, q = result.transform.translation, result.transform.rotation
    t.x, t.y, t.z, q.x, q.y, q.z, q.w = draw(NUMBERS)
    return result


def plain(message):
    t, q = message.transform.translation, message.transform.rotation
    stamp = message.header.stamp
    return (
        message.header.frame_id,
        message.child_frame_id,
        stamp.sec * 10**9 + stamp.nanosec,
        (t.x, t.y, t.z),
        (q.x, q.y, q.z, q.w),
    )


@given(st.lists(transforms(), max_size=5))
def test_all_that_was_written_is_read(messages):
    data = serialize_message(TFMessage(transforms=messages))
    assert [tuple(each) for each in read_transforms(data)] == [plain(each) for each in messages]


@given(st.lists(transforms(), max_size=3), st.data())
def test_what_a_sender_tells_next_is_read_too(messages, data):
    """Stamps and numbers are others then, or a name is."""
    for _ in range(3):
        for message in messages:
            other = data.draw(transforms())
            message.header.stamp, message.transform = other.header.stamp, other.transform
            if data.draw(st.integers(0, 9)) == 0:
                message.child_frame_id = other.child_frame_id
        serialized = serialize_message(TFMessage(transforms=messages))
        for _ in range(2):
            assert [tuple(each) for each in read_transforms(serialized)] == list(
                map(plain, messages)
            )
            assert deserialize_message(write_transforms(messages), TFMessage).transforms == messages


def test_senders_whose_messages_begin_alike_are_told_apart():
    one, other = (
        serialize_message(TFMessage(transforms=[TransformStamped(child_frame_id=name)]))
        for name in ("hand", "head")
    )
    for _ in range(3):
        assert [read_transforms(data)[0].child for data in (one, other)] == ["hand", "head"]


@given(st.lists(transforms(), max_size=5))
def test_rclpy_reads_all_that_is_written(messages):
    read = deserialize_message(write_transforms(messages), TFMessage)
    assert read.transforms == messages


@given(st.lists(transforms(), max_size=5), st.integers(0, 2**31 * 10**9 - 1))
def test_poses_of_one_time_are_written_as_their_messages_are(messages, stamp):
    for message in messages:
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
    frames = [(message.header.frame_id, message.child_frame_id) for message in messages]
    poses = [(*each[3], *each[4]) for each in map(plain, messages)]
    assert write_poses(stamp, frames, poses) == write_transforms(messages)
    assert transform_messages(stamp, frames, poses) == messages


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\1\0\0", b"\0\7\0\0\0\0\0\0"])
def test_what_is_no_such_message_is_refused(data):
    with pytest.raises(ValueError, match="bytes"):
        list(read_transforms(data))


def test_what_is_cut_off_is_refused():
    data = serialize_message(TFMessage(transforms=[TransformStamped(child_frame_id="hand")]))
    for length in range(8, len(data)):
        with pytest.raises(ValueError, match="bytes"):
            list(read_transforms(data[:length]))
