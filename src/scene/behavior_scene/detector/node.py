# SPDX-License-Identifier: Apache-2.0
"""The ROS node of a detector: images in, objects in space out.

What it listens to (each of one camera; CAMERA is the parameter `camera`):

- `CAMERA/depth` (sensor_msgs/Image, 32FC1 or 16UC1), or with `use_cloud` `CAMERA/points`
  (sensor_msgs/PointCloud2, organised or not, in the camera's frame);
- `CAMERA/camera_info`;
- `CAMERA/detections` (vision_msgs/Detection2DArray) of any detector of objects in images;
- with `input` masks also `CAMERA/mask` (mono16, 16UC1, mono8, or 16UC2 with probabilities), in
  which each object's pixels have the number that its detection bears as `id`. Where `labels` tells
  the class of each number, detections are not needed;
- with `input` color `CAMERA/color` (rgb8, bgr8, rgba8, bgra8 or mono8) instead of detections, for
  detectors that look at the picture themselves.

The parameter `detector` says which one looks: the suite's, or one that a package offers.

It publishes vision_msgs/Detection3DArray on `output_topic`. Several detectors are several nodes.
The node never stops on bad input: what cannot be used is counted on `/diagnostics` and explained.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from std_msgs.msg import Header
from vision_msgs.msg import Detection2DArray, Detection3DArray

from behavior_packages import fault_place
from behavior_ros import (
    OK,
    WARN,
    DiagnosticsPublisher,
    ParameterError,
    ParameterSpec,
    TransformError,
    create_transform_buffer,
    declare_all,
    read_only,
    run,
    seconds,
)
from behavior_scene.detections import Array
from behavior_scene.detector import messages
from behavior_scene.detector.detectors import REGIONS, Detector, create_detector
from behavior_scene.detector.finder import Finder
from behavior_scene.detector.frame_builder import USELESS, FrameBuilder
from behavior_scene.detector.images import ImageDefect, ImageError
from behavior_scene.detector.pairing import TimePairing
from behavior_scene.detector.settings import (
    DetectorSettings,
    SettingsError,
    parse_labels,
    parse_settings,
)
from behavior_scene.library import LibraryError, ObjectLibrary, load_library

PARAMETERS = [
    read_only("detector", REGIONS, "Which one looks: one that a package offers."),
    ParameterSpec("enabled", True, "Whether the detector works; while not, it listens to nothing."),
    ParameterSpec(
        "classes",
        "{}",
        "YAML mapping from classes to their settings (see ClassSettings); `default` stands for all "
        "that are not named.",
    ),
    read_only("library", "", "YAML file of the object library, for shapes; empty: none."),
    read_only(
        "input",
        "masks",
        "What tells which pixels are an object's: masks, the boxes of the detections, or the "
        "detector itself, by the color of the picture.",
        choices=("masks", "boxes", "color"),
    ),
    read_only(
        "labels",
        "{}",
        "YAML mapping from mask values to classes, where the mask needs no detections.",
    ),
    read_only("use_cloud", False, "Points instead of the depth image."),
    read_only("camera", "camera", "Prefix of the topics."),
    read_only("depth_topic", "", "Instead of CAMERA/depth."),
    read_only("points_topic", "", "Instead of CAMERA/points."),
    read_only("mask_topic", "", "Instead of CAMERA/mask."),
    read_only("color_topic", "", "Instead of CAMERA/color."),
    read_only("detections_topic", "", "Instead of CAMERA/detections."),
    read_only("camera_info_topic", "", "Instead of CAMERA/camera_info."),
    read_only("output_topic", "detections", "Of what is found."),
    read_only(
        "reliability",
        "reliable",
        "Of the subscriptions to images; best_effort for drivers that send so.",
        choices=("reliable", "best_effort"),
    ),
    read_only(
        "frame",
        "world",
        "Frame with z up to report in; empty: the camera's, then nothing stands upright.",
    ),
    ParameterSpec(
        "tolerance",
        0.02,
        "Largest difference of stamps that belong together [s].",
        range=(0.0, 1.0),
    ),
    ParameterSpec(
        "transform_timeout",
        0.2,
        "How long images wait for the camera's pose at their time [s].",
        range=(0.0, 10.0),
    ),
]
T = TypeVar("T")
_CAPACITY = 10
"""Messages that wait for their partners, and sets that wait for a pose."""
_RETRY = 0.02
"""[s] between looks for the pose of a camera."""


@dataclass(frozen=True)
class _Waiting:
    """Messages of one instant that wait for the camera's pose."""

    parts: dict[str, Any]
    since: float
    """[s]"""

    @property
    def header(self) -> Header:
        header: Header = self.parts["depth"].header
        return header


class DetectorNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Finds the objects of one camera in space; see the module's text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "detector"), **kwargs)
        self._values = declare_all(self, PARAMETERS)
        self._library = self._load_library(self._values["library"])
        self._labels = self._at_start("labels", parse_labels)
        self._detector = self._make_detector()
        self._builder = FrameBuilder(
            self._labels, self._topic("camera_info"), lambda: self._detector.settings
        )
        self._transforms = create_transform_buffer(self)
        self._publisher = self.create_publisher(
            Detection3DArray, self._values["output_topic"], QoSProfile(depth=5)
        )
        self._subscriptions_of_images: list[Any] = []
        self._pairing = self._new_pairing()
        self._waiting: deque[_Waiting] = deque()
        self._retry: Any = None
        self._defects: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._frames = self._found = 0
        self._duration = 0.0
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._on_parameters)
        self._diagnostics = DiagnosticsPublisher(self, "detector")
        self.create_timer(1.0, self._diagnose)
        self._enable(self._values["enabled"])

    # -- set-up -------------------------------------------------------------------------------

    def _load_library(self, path: str) -> ObjectLibrary:
        if not path:
            return ObjectLibrary()
        try:
            return load_library(path)
        except LibraryError as error:
            self.get_logger().error(f"{error} Going on without it: no shape is known.")
            return ObjectLibrary()

    def _at_start(self, name: str, parse: Callable[[str], T]) -> T:
        """A parameter's text, parsed; the messages of `SettingsError` begin with its name."""
        try:
            return parse(self._values[name])
        except SettingsError as error:
            raise ParameterError(f"parameter {error}") from error

    def _make_detector(self) -> Detector:
        name, settings = self._values["detector"], self._at_start("classes", self._settings)
        try:
            detector = create_detector(name, settings)
        except ValueError as error:
            raise ParameterError(f"parameter detector: {error}") from error
        if self._values["input"] == "color" and type(detector) is Finder:
            raise ParameterError(
                f"parameter detector: {name} needs what an image detector found: set the parameter "
                "input to masks or boxes, or take a detector that looks at the picture"
            )
        return detector

    def _settings(self, text: str) -> DetectorSettings:
        return parse_settings(text, self._library)

    def _new_pairing(self) -> TimePairing:
        channels = ["depth"]
        kind = self._values["input"]
        if kind != "boxes":
            channels.append("mask" if kind == "masks" else "color")
        if kind == "boxes" or (kind == "masks" and not self._labels):
            channels.append("detections")
        return TimePairing(channels, tolerance=self._values["tolerance"], capacity=_CAPACITY)

    def _topic(self, name: str) -> str:
        given: str = self._values[f"{name}_topic"]
        return given or f"{self._values['camera']}/{name}"

    def _enable(self, enabled: bool) -> None:
        """Listen, or listen no more: cameras that nobody listens to need not work."""
        for subscription in self._subscriptions_of_images:
            self.destroy_subscription(subscription)
        self._subscriptions_of_images = []
        self._pairing = self._new_pairing()
        self._waiting.clear()
        if not enabled:
            return
        reliability = ReliabilityPolicy[self._values["reliability"].upper()]
        quality = QoSProfile(depth=5, reliability=reliability)
        points = (PointCloud2, "points") if self._values["use_cloud"] else (Image, "depth")
        wanted = {"depth": points, "mask": (Image, "mask"), "color": (Image, "color")}
        wanted["detections"] = (Detection2DArray, "detections")
        for channel in self._pairing.channels:
            kind, name = wanted[channel]
            self._subscriptions_of_images.append(
                self.create_subscription(
                    kind, self._topic(name), partial(self._on_part, channel), quality
                )
            )
        self._subscriptions_of_images.append(
            self.create_subscription(CameraInfo, self._topic("camera_info"), self._on_info, quality)
        )

    def _check_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == "classes":
                try:
                    self._settings(parameter.value)
                except SettingsError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            self._values[parameter.name] = parameter.value
            if parameter.name == "classes":
                self._detector.settings = self._settings(parameter.value)
            elif parameter.name in ("enabled", "tolerance"):
                self._enable(self._values["enabled"])

    # -- images -------------------------------------------------------------------------------

    def _now(self) -> float:
        return seconds(self.get_clock().now())

    def _on_info(self, message: CameraInfo) -> None:
        try:
            self._builder.camera = messages.camera_model(message)
        except ImageError as error:
            self._builder.camera = error

    def _on_part(self, channel: str, message: Any) -> None:
        stamp = seconds(message.header.stamp)
        if stamp <= 0.0:
            self._count(ImageDefect.BAD_STAMP.value, f"{channel} without a stamp; stamp images")
            return
        parts = self._pairing.add(channel, stamp, message)
        if parts is not None:
            self._waiting.append(_Waiting(parts, self._now()))
            self._work()

    def _work(self) -> None:
        """Look at the sets that nothing is missing for; drop those that waited too long."""
        while self._waiting:
            oldest = self._waiting[0]
            pose = self._camera_pose(oldest.header)
            # Less than nothing: the clock was set back. More than there is room for wait no more.
            patient = 0.0 <= self._now() - oldest.since <= self._values["transform_timeout"]
            late = not patient or len(self._waiting) > _CAPACITY
            if (pose is None or self._builder.camera is None) and not late:
                break
            self._waiting.popleft()
            try:
                self._look(oldest, self._known(pose, oldest.header))
            except ImageError as error:
                self._count(error.defect.value, str(error))
            except Exception as error:  # a package's detector may raise anything
                self._count("detector_failed", f"{fault_place(error)}{error!r}")
        if self._waiting and self._retry is None:
            self._retry = self.create_timer(_RETRY, self._on_retry)

    def _known(self, pose: Array | None, header: Header) -> Array:
        if pose is None:
            raise ImageError(
                ImageDefect.NO_TRANSFORM,
                f"the pose of {header.frame_id!r} in {self._values['frame']!r} is not known at the "
                "image's time; publish it on /tf",
            )
        return pose

    def _on_retry(self) -> None:
        self.destroy_timer(self._retry)
        self._retry = None
        self._work()

    def _camera_pose(self, header: Header) -> Array | None:
        """Pose of the camera in the frame to report in, at the time of the image; None: unknown."""
        if self._values["frame"] in ("", header.frame_id):
            return np.eye(4)
        try:
            matrix: Array = self._transforms.lookup_matrix(
                self._values["frame"], header.frame_id, Time.from_msg(header.stamp)
            )
        except TransformError:
            return None
        return matrix

    def _look(self, waiting: _Waiting, pose: Array) -> None:
        """Find the objects of one instant and tell them.

        Raises:
            ImageError: a message cannot be used.
        """
        start = time.perf_counter()
        frame = self._values["frame"]
        seen = self._builder.frame(waiting.parts, pose if frame else None)
        found = self._detector.find(seen)
        header = Header(stamp=waiting.header.stamp, frame_id=frame or waiting.header.frame_id)
        self._publisher.publish(messages.detections_message(header, found))
        self._frames += 1
        self._found += len(found)
        self._duration = time.perf_counter() - start

    # -- health -------------------------------------------------------------------------------

    def _count(self, defect: str, example: str, number: int = 1) -> None:
        self._defects[defect] += number
        self._examples[defect] = example

    def _diagnose(self) -> None:
        defects = dict(self._defects)
        if self._builder.useless:
            defects["unusable_2d_detection"] = self._builder.useless
        if not self._values["enabled"]:
            level, message = OK, "not enabled"
        elif defects:
            level, message = WARN, f"not used: {', '.join(defects)}"
        else:
            level, message = OK, "detecting" if self._frames else "no images yet"
        rejected = {str(why): count for why, count in self._detector.rejected.items()}
        self._examples["unusable_2d_detection"] = USELESS
        explained = {
            f"{defect}: what it means": text
            for defect, text in self._examples.items()
            if defect in defects
        }
        self._diagnostics.set(
            level,
            message,
            frames=self._frames,
            detections=self._found,
            duration=self._duration,
            unpaired=self._pairing.dropped,
            **defects,
            **rejected,
            **explained,
        )


def main(args: list[str] | None = None) -> int:
    """Entry point of `detector_node`."""
    return int(run([DetectorNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
