# SPDX-License-Identifier: Apache-2.0
"""Messages that are written and read as bytes are those of rclpy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy")

from geometry_msgs.msg import Twist, Vector3
from rclpy.serialization import deserialize_message, serialize_message
from vision_msgs.msg import Detection3DArray

from behavior_sim.node.messages import DetectionsMessage, read_twist
from behavior_sim.worlds.detection import (
    Detection,
    DetectionFrame,
    DetectorConfig,
)
from behavior_sim.worlds.layouts import pose_of

CLASSES = {"red": ("box", (0.1, 0.2, 0.3)), "blue": ("sphere", (0.05,))}


def written(*detections: Detection) -> Detection3DArray:
    seen = {
        name: SimpleNamespace(name=name, shape=shape, size=size)
        for name, (shape, size) in CLASSES.items()
    }
    frame = DetectionFrame(2.5, detections)
    data = DetectionsMessage(seen).write(frame, DetectorConfig(orientation_noise=0.1))
    return deserialize_message(data, Detection3DArray)


def detection(name: str, class_id: str, x: float) -> Detection:
    pose = pose_of((x, 0.2, -0.3))
    pose[:3, :3] = Rotation.from_euler("xyz", [0.3, -0.2, 2.0]).as_matrix()
    return Detection(name, class_id, pose, 0.75, 0.02)


def test_detections_are_told_with_noise_size_and_place() -> None:
    message = written(detection("red", "red", 0.5))
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (2, 500_000_000)
    (entry,) = message.detections
    assert entry.header == message.header
    assert message.header.frame_id == "world"
    (result,) = entry.results
    assert (result.hypothesis.class_id, result.hypothesis.score) == ("red", 0.75)
    place, turn = result.pose.pose.position, result.pose.pose.orientation
    assert [place.x, place.y, place.z] == pytest.approx([0.5, 0.2, -0.3])
    found = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w])
    assert found.as_euler("xyz") == pytest.approx([0.3, -0.2, 2.0])
    assert entry.bbox.center == result.pose.pose
    assert [entry.bbox.size.x, entry.bbox.size.y, entry.bbox.size.z] == [0.1, 0.2, 0.3]
    variances = [0.02**2] * 3 + [0.1**2] * 3
    assert np.array(result.pose.covariance).reshape(6, 6) == pytest.approx(np.diag(variances))


def test_a_detector_names_only_what_it_can_know() -> None:
    message = written(
        detection("red", "red", 0.5), detection("red", "red", 0.6), detection("blue", "red", 0.7)
    )
    assert [entry.id for entry in message.detections] == ["red", "", ""]
    assert written().detections == []


def test_a_velocity_is_read() -> None:
    twist = Twist(linear=Vector3(x=0.4, y=-0.2, z=9.0), angular=Vector3(x=9.0, y=9.0, z=1.5))
    assert read_twist(serialize_message(twist)).tolist() == [0.4, -0.2, 1.5]
    with pytest.raises(ValueError, match="Twist"):
        read_twist(b"\0\1\0\0")
