# SPDX-License-Identifier: Apache-2.0
"""Joint states read from bytes are those that rclpy reads."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from behavior_ros.messages.joint_state_wire import read_joint_state

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.lists(st.floats(allow_nan=False), max_size=5)


@st.composite
def joint_states(draw):
    message = JointState(name=draw(st.lists(TEXTS, max_size=4)))
    message.header.frame_id = draw(TEXTS)
    message.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    message.position, message.velocity, message.effort = (draw(NUMBERS) for _ in range(3))
    return message


@pytest.mark.slow
@given(joint_states())
def test_all_that_was_written_is_read(message):
    read = read_joint_state(serialize_message(message))
    assert read.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    assert list(read.name) == message.name
    for numbers in ("position", "velocity", "effort"):
        assert getattr(read, numbers).tolist() == list(getattr(message, numbers))


def test_names_are_known_again_and_what_is_similar_is_not_taken_for_them():
    for name, positions in ((["a", "b"], [1.0, 2.0]), (["a"], [3.0]), (["a", "b"], [4.0, 5.0])):
        read = read_joint_state(serialize_message(JointState(name=name, position=positions)))
        assert (list(read.name), read.position.tolist()) == (name, positions)


def test_the_other_order_of_bytes_is_read_too():
    head = b"\0\0\0\0" + struct.pack(">iI", 7, 0)
    names = struct.pack(">I4xII2s", 1, 1, 2, b"a\0")
    body = head + names
    body += b"\0" * (-(len(body) - 4) % 4) + struct.pack(">I", 1)
    body += b"\0" * (-(len(body) - 4) % 8) + struct.pack(">dII", 2.5, 0, 0)
    read = read_joint_state(body)
    assert (read.stamp, read.name, read.position.tolist()) == (7 * 10**9, ("a",), [2.5])


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\1\0\0", b"\0\7\0\0\0\0\0\0"])
def test_what_is_no_such_message_is_refused(data):
    with pytest.raises(ValueError, match="bytes"):
        read_joint_state(data)


def test_what_is_cut_off_is_refused():
    data = serialize_message(JointState(name=["a"], position=[1.0], effort=[2.0]))
    end = data.index(struct.pack("<d", 2.0)) + 8  # serializing adds room that nothing is read of
    for length in range(4, end):
        with pytest.raises(ValueError, match="bytes"):
            read_joint_state(data[:length])
