# SPDX-License-Identifier: Apache-2.0
"""Tracks and detections as messages."""

import math

import numpy as np
import pytest

pytest.importorskip("behavior_msgs.msg")
pytest.importorskip("vision_msgs.msg")

from rclpy.serialization import serialize_message
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from behavior_ros import seconds, to_time
from behavior_scene import Defect, Detection, ObjectLibrary, Tracker
from behavior_scene.node import conversion
from behavior_scene.node.conversion import tracks_message
from behavior_scene.node.detection_wire import read_detections


def entry(name="cup", at=(0.0, 0.0, 0.0), score=0.9, size=(0.1, 0.2, 0.3), frame=""):
    made = Detection3D()
    made.header.frame_id = frame
    hypothesis = ObjectHypothesisWithPose()
    hypothesis.hypothesis.class_id, hypothesis.hypothesis.score = name, score
    position = hypothesis.pose.pose.position
    position.x, position.y, position.z = at
    made.bbox.size.x, made.bbox.size.y, made.bbox.size.z = size
    made.results.append(hypothesis)
    return made


def detections_from(message, frame_pose, **options):
    read = read_detections(serialize_message(message))
    return conversion.detections_from(read, frame_pose, **options)


def image(*entries, stamp=1.0, frame="camera"):
    message = Detection3DArray(detections=list(entries))
    message.header.frame_id, message.header.stamp = frame, to_time(stamp)
    return message


def poses(frame, _stamp):
    """The camera is at x = 1; other frames are not known."""
    if frame != "camera":
        return None
    world_T_camera = np.eye(4)
    world_T_camera[0, 3] = 1.0
    return world_T_camera


def test_every_field_of_a_track_is_told():
    tracker = Tracker(ObjectLibrary())
    for step in range(10):
        stamp = 10.0 + 0.1 * step
        message = image(
            entry("cup", (0.02 * step, 0, 0)), entry("mug", (2.0, 0, 0), 0.5), stamp=stamp
        )
        if step < 7:
            del message.detections[1]
        tracker.update(detections_from(message, poses))
    message = tracks_message(tracker, 11.0, "world")
    assert message.header.frame_id == "world"
    assert seconds(message.header.stamp) == pytest.approx(11.0)
    cup, mug = message.tracks
    assert (cup.id, cup.class_id, cup.stable, cup.history) == ("cup_0", "cup", True, 10)
    assert (mug.id, mug.class_id, mug.history) == ("mug_0", "mug", 3)
    assert cup.pose.position.x == pytest.approx(1.18, abs=0.01)
    assert cup.pose.orientation.w == pytest.approx(1.0)
    assert cup.velocity.x == pytest.approx(0.2, abs=0.05)
    assert (cup.size.x, cup.size.y, cup.size.z) == pytest.approx((0.1, 0.2, 0.3))
    assert cup.confidence == pytest.approx(0.9)
    assert mug.confidence == pytest.approx(0.5)
    assert cup.frequency == pytest.approx(10 / 1.0)
    assert seconds(cup.last_seen) == pytest.approx(10.9)
    covariance = np.reshape(cup.pose_covariance, (6, 6))
    np.testing.assert_allclose(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance)[0] > 0.0


def test_entries_are_placed_by_their_frames_and_defects_are_told_for_each():
    nameless = entry()
    nameless.results.clear()
    found = detections_from(
        image(
            entry("cup", (0.5, 0, 0)),
            entry(frame="nowhere"),
            nameless,
            entry(at=(math.nan, 0, 0)),
        ),
        poses,
        detector="left",
    )
    (cup,) = [item for item in found if isinstance(item, Detection)]
    np.testing.assert_allclose(cup.world_T_object[:3, 3], (1.5, 0, 0))
    assert (cup.stamp, cup.detector, cup.size) == (1.0, "left", (0.1, 0.2, 0.3))
    assert {item for item in found if isinstance(item, Defect)} == {
        Defect.UNKNOWN_FRAME,
        Defect.NO_CLASS,
        Defect.NOT_FINITE,
    }


def test_of_too_many_the_most_confident_are_converted():
    scores = [0.1, 0.9, math.nan, 0.5, 0.7]
    found = detections_from(image(*(entry(score=score) for score in scores)), poses, limit=2)
    kept = [item.confidence for item in found if isinstance(item, Detection)]
    assert kept == pytest.approx([0.9, 0.7])
    assert found.count(Defect.TOO_MANY) == 3
