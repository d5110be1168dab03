# SPDX-License-Identifier: Apache-2.0
"""Detections read from bytes are those that rclpy reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("vision_msgs.msg")

from rclpy.serialization import serialize_message
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from behavior_scene.node.detection_wire import read_detections

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.floats(allow_nan=False)


def stamped(draw, message):
    message.header.frame_id = draw(TEXTS)
    message.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    return message


@st.composite
def hypotheses(draw):
    result = ObjectHypothesisWithPose()
    result.hypothesis.class_id, result.hypothesis.score = draw(TEXTS), draw(NUMBERS)
    p, q = result.pose.pose.position, result.pose.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = draw(st.lists(NUMBERS, min_size=7, max_size=7))
    result.pose.covariance = draw(st.lists(NUMBERS, min_size=36, max_size=36))
    return result


@st.composite
def images(draw):
    image = stamped(draw, Detection3DArray())
    for _ in range(draw(st.integers(0, 3))):
        entry = stamped(draw, Detection3D(id=draw(TEXTS)))
        entry.results = draw(st.lists(hypotheses(), max_size=2))
        size = entry.bbox.size
        size.x, size.y, size.z = draw(st.lists(NUMBERS, min_size=3, max_size=3))
        image.detections.append(entry)
    return image


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def plain(result):
    p, q = result.pose.pose.position, result.pose.pose.orientation
    return (
        result.hypothesis.class_id,
        result.hypothesis.score,
        (p.x, p.y, p.z, q.x, q.y, q.z, q.w),
        tuple(result.pose.covariance),
    )


@pytest.mark.slow
@given(images())
def test_all_that_was_written_is_read(image):
    read = read_detections(serialize_message(image))
    assert (read.stamp, read.frame) == (stamp_of(image), image.header.frame_id)
    assert [
        (each.stamp, each.frame, [tuple(one) for one in each.hypotheses], each.size)
        for each in read.entries
    ] == [
        (
            stamp_of(entry),
            entry.header.frame_id,
            [plain(one) for one in entry.results],
            (entry.bbox.size.x, entry.bbox.size.y, entry.bbox.size.z),
        )
        for entry in image.detections
    ]


@pytest.mark.slow
@given(images(), st.data())
def test_what_is_cut_off_is_refused_or_is_whole(image, data):
    """Serializing adds room at the end, of which nothing is read."""
    whole = serialize_message(image)
    length = data.draw(st.integers(0, len(whole)))
    try:
        read = read_detections(whole[:length])
    except ValueError:
        assert length < len(whole)
    else:
        assert read == read_detections(whole)
