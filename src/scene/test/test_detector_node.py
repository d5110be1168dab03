# SPDX-License-Identifier: Apache-2.0
"""The detector's node in a ROS domain of its own: every input, and that nothing stops it."""

from __future__ import annotations

import math
import sys
from array import array
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("vision_msgs.msg")

from detector_kit import CAMERA, EYE, cast, pose  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import TransformStamped  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from vision_msgs.msg import (  # noqa: E402
    Detection2D,
    Detection2DArray,
    Detection3DArray,
    ObjectHypothesisWithPose,
)

from behavior_packages import Packages, read_manifest  # noqa: E402
from behavior_ros import (  # noqa: E402
    ParameterError,
    create_static_transform_broadcaster,
    matrix_to_transform,
    to_time,
)
from behavior_ros.testing import Bench, own_domain  # noqa: E402
from behavior_scene.detector import (  # noqa: E402
    CameraModel,
    Finder,
    ImageError,
    Region,
    Rejection,
    parse_settings,
)
from behavior_scene.detector import detectors as detectors_module  # noqa: E402
from behavior_scene.detector.frame_builder import FrameBuilder  # noqa: E402
from behavior_scene.detector.node import DetectorNode  # noqa: E402
from behavior_scene.library import Shape  # noqa: E402

WAIT = 90.0
FRAME = "eye_optical_frame"
CUBE = Shape("box", (0.06, 0.06, 0.06))
TRUTH = pose(0.1, 0.0, 0.03, 0.3)
PICTURE = cast([(CUBE, TRUTH)])
LIBRARY = """
accept_unlisted: true
classes:
  cube: {shape: box, size: [0.06, 0.06, 0.06]}
"""


def image(pixels, encoding, header):
    return Image(
        header=header,
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        step=pixels.nbytes // pixels.shape[0],
        data=array("B", pixels.tobytes()),
    )


def cloud(header):
    rows, columns = np.mgrid[: CAMERA.height, : CAMERA.width]
    z = PICTURE.depth
    x, y = (columns - CAMERA.cx) / CAMERA.fx * z, (rows - CAMERA.cy) / CAMERA.fy * z
    points = np.stack([x, y, z], axis=-1).astype(np.float32)
    return PointCloud2(
        header=header,
        height=CAMERA.height,
        width=CAMERA.width,
        fields=[
            PointField(name=name, offset=4 * place, datatype=PointField.FLOAT32, count=1)
            for place, name in enumerate("xyz")
        ],
        point_step=12,
        row_step=12 * CAMERA.width,
        data=array("B", points.tobytes()),
    )


def found_in_image(header, label="1", class_id="cube", score=0.9):
    rows, columns = np.nonzero(PICTURE.labels == 1)
    result = ObjectHypothesisWithPose()
    result.hypothesis.class_id, result.hypothesis.score = class_id, score
    detection = Detection2D(header=header, id=label, results=[result])
    detection.bbox.center.position.x = (columns.min() + columns.max()) / 2
    detection.bbox.center.position.y = (rows.min() + rows.max()) / 2
    detection.bbox.size_x, detection.bbox.size_y = np.ptp(columns) + 1.0, np.ptp(rows) + 1.0
    return Detection2DArray(header=header, detections=[detection])


def calibration(header):
    k = [CAMERA.fx, 0.0, CAMERA.cx, 0.0, CAMERA.fy, CAMERA.cy, 0.0, 0.0, 1.0]
    return CameraInfo(header=header, width=CAMERA.width, height=CAMERA.height, k=k)


class Blue(Finder):
    """Looks at pictures itself, and cannot stand red ones."""

    def find(self, frame):
        if (frame.color[..., 0] > 200).any():
            raise RuntimeError("red")
        labels = (frame.color[..., 2] > 200).astype(np.uint16)
        return super().find(replace(frame, labels=labels, regions=[Region(1, "cube", 0.9)]))


class Rig(Bench):
    """The detector and a node that plays camera and scene."""

    KINDS = {
        "depth": Image,
        "mask": Image,
        "color": Image,
        "points": PointCloud2,
        "detections": Detection2DArray,
        "camera_info": CameraInfo,
    }

    def __init__(self, library, **parameters):
        super().__init__()
        self.node = self.make(DetectorNode, library=str(library), **parameters)
        self.senders = {
            topic: self.peer.create_publisher(kind, f"/camera/{topic}", 10)
            for topic, kind in self.KINDS.items()
        }
        self.found = []
        self.health = {}
        self.peer.create_subscription(Detection3DArray, "/detections", self.found.append, 10)
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._on_health, 10)
        broadcaster = create_static_transform_broadcaster(self.peer)
        mount = TransformStamped(child_frame_id=FRAME, transform=matrix_to_transform(EYE))
        mount.header.frame_id = "world"
        broadcaster.send([mount])
        self._stamp = 100.0

    def _on_health(self, message):
        for status in message.status:
            self.health = {item.key: item.value for item in status.values}

    def connect(self, *topics):
        self.until(lambda: all(self.senders[t].get_subscription_count() for t in topics))
        self.until(lambda: self.node._publisher.get_subscription_count() > 0)

    def header(self):
        self._stamp += 1.0
        return Header(stamp=to_time(self._stamp), frame_id=FRAME)

    def next_stamp(self):
        return to_time(self._stamp + 1.0)

    def send(self, **parts):
        for topic, message in parts.items():
            self.senders[topic].publish(message)

    def send_good(self, **changes):
        header = self.header()
        parts = {
            "camera_info": calibration(header),
            "depth": image(PICTURE.depth, "32FC1", header),
            "mask": image(PICTURE.labels, "16UC1", header),
            "detections": found_in_image(header),
        }
        self.send(**{**parts, **changes})

    def next(self):
        count = len(self.found)
        self.until(lambda: len(self.found) > count)
        return self.found[-1]

    def set(self, name, value):
        return self.set_parameter(self.node, name, value)


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library.yaml"
    path.write_text(LIBRARY, encoding="utf-8")
    return path


@pytest.fixture
def make(library):
    made = []

    def rig(*topics, **parameters):
        made.append(Rig(library, **parameters))
        made[-1].connect(*topics)
        return made[-1]

    yield rig
    for each in made:
        each.close()


def assert_cube(message, tolerance=0.005):
    assert message.header.frame_id == "world"
    (detection,) = message.detections
    result = detection.results[0]
    assert (result.hypothesis.class_id, result.hypothesis.score) == ("cube", pytest.approx(0.9))
    at = result.pose.pose.position
    assert (at.x, at.y, at.z) == pytest.approx(TRUTH[:3, 3], abs=tolerance)
    assert detection.bbox.size.x == pytest.approx(0.06)
    assert 0.0 < result.pose.covariance[0] < 1e-4


@pytest.fixture
def blue(tmp_path, monkeypatch):
    """A package offers a detector `blue`."""
    manifest = tmp_path / "behavior.yaml"
    manifest.write_text("detectors: {blue: 'blue_package:Blue', regions: 'blue_package:Finder'}")
    module = ModuleType("blue_package")
    module.Blue, module.Finder = Blue, Finder
    monkeypatch.setitem(sys.modules, "blue_package", module)
    found = Packages([read_manifest("blue_package", manifest)])
    monkeypatch.setattr(detectors_module, "packages", lambda: found)


@pytest.mark.parametrize("encoding", ["rgb8", "bgra8"])
def test_a_detector_of_a_package_looks_at_the_picture(make, blue, encoding):
    """It is told where what it raises arose, and goes on."""
    rig = make("depth", "color", "camera_info", detector="blue", input="color")

    def picture(channel):
        color = np.full((CAMERA.height, CAMERA.width, 3), 90, np.uint8)
        color[PICTURE.labels == 1, channel] = 250
        if encoding == "bgra8":
            opaque = np.full((*color.shape[:2], 1), 255, np.uint8)
            color = np.concatenate([color[..., ::-1], opaque], axis=-1)
        return lambda header: image(np.ascontiguousarray(color), encoding, header)

    red, own = picture(0), picture(2)
    rig.send_good(color=red(Header(stamp=rig.next_stamp(), frame_id=FRAME)))
    rig.until(lambda: rig.health.get("detector_failed") == "1")
    assert "RuntimeError('red')" in rig.health["detector_failed: what it means"]
    rig.send_good(color=own(Header(stamp=rig.next_stamp(), frame_id=FRAME)))
    assert_cube(rig.next())


def refused_at_start(words, **parameters):
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=own_domain())
    try:
        with pytest.raises(ParameterError, match=words):
            DetectorNode(context=context, parameter_overrides=overrides)
    finally:
        rclpy.shutdown(context=context)


@pytest.mark.parametrize(
    ("name", "words"), [("green", "no detector 'green'"), ("regions", "set the parameter input")]
)
def test_a_detector_that_cannot_look_is_refused(blue, name, words):
    refused_at_start(words, detector=name, input="color")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("labels", "[cup]", "parameter labels: give a mapping from mask values"),
        ("labels", "{", "parameter labels is no valid YAML"),
        ("classes", "cup: {blur: 1}", r"^parameter classes\.cup\.blur: "),
    ],
)
def test_texts_that_say_nothing_are_refused_at_the_start_with_their_parameters_name(
    name, text, words
):
    refused_at_start(words, **{name: text})


def test_masks_and_depth(make):
    rig = make("depth", "mask", "detections", "camera_info")
    rig.send_good()
    message = rig.next()
    assert_cube(message)
    assert message.header.stamp.sec == 101
    assert rig.set("classes", "cube: {confidence: 0.95}").successful
    rig.send_good()
    assert not rig.next().detections
    refused = rig.set("classes", "cube: {blur: 1}")
    assert not refused.successful
    assert "classes.cube.blur" in refused.reason


def test_boxes_and_cloud(make):
    rig = make("points", "detections", "camera_info", input="boxes", use_cloud=True)
    header = rig.header()
    rig.send(
        camera_info=calibration(header), points=cloud(header), detections=found_in_image(header, "")
    )
    assert_cube(rig.next(), 0.012)


def boxed(*told):
    """A picture's cube in an image detector's words, once for each class and scores."""
    message = Detection2DArray()
    for class_id, scores in told:
        detection = found_in_image(Header(), "", class_id).detections[0]
        detection.results = []
        for score in scores:
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = class_id, score
            detection.results.append(result)
        message.detections.append(detection)
    return message


def found_by_boxes(told, text="{}"):
    settings = parse_settings(text)
    builder = FrameBuilder({}, "info", lambda: settings)
    builder.camera, finder = CAMERA, Finder(settings)
    depth = image(PICTURE.depth, "32FC1", Header())
    frame = builder.frame({"depth": depth, "detections": told}, EYE)
    return [found.class_id for found in finder.find(frame)], finder.rejected, builder.useless


def test_a_box_that_is_too_unsure_hides_nothing_and_is_counted():
    found, rejected, _ = found_by_boxes(boxed(("cube", [0.9]), ("jug", [0.1])))
    assert (found, rejected) == (["cube"], {Rejection.LOW_CONFIDENCE: 1})
    found, rejected, _ = found_by_boxes(boxed(("cube", [0.1]), ("cube", [0.9])))
    assert (found, rejected) == (["cube"], {Rejection.LOW_CONFIDENCE: 1})
    # What is ignored is there all the same, and hides what is behind it.
    told = boxed(("person", [0.95]), ("cube", [0.9]))
    found, rejected, _ = found_by_boxes(told, "person: {ignored: true}")
    assert found == []
    assert rejected == {Rejection.IGNORED: 1, Rejection.FEW_POINTS: 1}


def test_a_score_that_is_no_number_leaves_the_others_of_its_box():
    found, _, useless = found_by_boxes(boxed(("cube", [math.nan, 0.9]), ("jug", [math.nan])))
    assert (found, useless) == (["cube"], 1)


def test_mask_of_classes(make):
    rig = make("depth", "mask", "camera_info", labels="{1: cube}")
    header = rig.header()
    rig.send(
        camera_info=calibration(header),
        depth=image((PICTURE.depth * 1000).astype(np.uint16), "16UC1", header),
        mask=image(PICTURE.labels.astype(np.uint8), "mono8", header),
    )
    assert rig.next().detections[0].results[0].hypothesis.class_id == "cube"


def test_who_is_not_enabled_listens_to_nothing(make):
    rig = make("depth", "mask", "detections", "camera_info")
    assert rig.set("enabled", False).successful
    rig.until(lambda: rig.senders["depth"].get_subscription_count() == 0)
    assert rig.set("enabled", True).successful
    rig.connect("depth", "mask", "detections", "camera_info")
    rig.send_good()
    assert_cube(rig.next())


def test_bad_input_is_counted_explained_and_never_stops_the_node(make):
    rig = make("depth", "mask", "detections", "camera_info", transform_timeout=0.0)

    def bad(defect, name, *, frame=FRAME, **fields):
        header = Header(stamp=rig.header().stamp, frame_id=frame)
        parts = {
            "depth": image(PICTURE.depth, "32FC1", header),
            "mask": image(PICTURE.labels, "16UC1", header),
            "detections": found_in_image(header),
        }
        for field, value in fields.items():
            setattr(parts[name], field, value)
        rig.send(**parts)
        rig.until(lambda: rig.node._defects[defect])
        told.add(defect)

    told = set()
    bad("no_camera_info", "depth")
    rig.send(camera_info=CameraInfo(width=4, height=4))
    rig.until(lambda: isinstance(rig.node._builder.camera, ImageError))
    bad("bad_camera_info", "depth")
    rig.send(camera_info=calibration(rig.header()))
    rig.until(lambda: isinstance(rig.node._builder.camera, CameraModel))
    rig.until(lambda: rig.node._transforms.can_transform("world", FRAME))
    bad("image_encoding", "depth", encoding="rgb8")
    bad("image_size", "depth", step=7)
    bad("image_no_depth", "depth", data=array("B", np.full(19200, np.nan, np.float32).tobytes()))
    bad("images_of_different_sizes", "mask", height=60)
    stamp = to_time(rig._stamp + 1.0)
    bad("images_of_different_frames", "mask", header=Header(stamp=stamp, frame_id="other"))
    bad("no_transform", "depth", frame="nowhere")
    bad("image_without_stamp", "depth", header=Header(frame_id=FRAME))
    rig.send_good(detections=found_in_image(Header(stamp=rig.next_stamp()), "not a number"))
    rig.until(lambda: rig.node._builder.useless)
    rig.until(lambda: told | {"unusable_2d_detection"} <= set(rig.health))
    assert "publish" in rig.health["image_encoding: what it means"]
    rig.send_good()
    rig.until(lambda: any(message.detections for message in rig.found))
    assert_cube(next(message for message in rig.found if message.detections))


def test_images_that_wait_in_vain_are_counted_however_long_they_may_wait(make):
    """More of them than there is room for: those that made way were told of nowhere."""
    rig = make("depth", "mask", "detections", "camera_info", transform_timeout=10.0)
    node = rig.node
    # Each set of parts by hand: no sender is faster than the node.
    rig.send(camera_info=calibration(rig.header()))
    rig.until(lambda: isinstance(node._builder.camera, CameraModel))
    for _ in range(12):
        header = Header(stamp=rig.header().stamp, frame_id="nowhere")
        node._on_part("depth", image(PICTURE.depth, "32FC1", header))
        node._on_part("mask", image(PICTURE.labels, "16UC1", header))
        node._on_part("detections", found_in_image(header))
    assert node._defects["no_transform"] == 2
    node._now = lambda: 0.0  # the clock is set back, the images were stamped before
    node._work()
    assert node._defects["no_transform"] == 12
