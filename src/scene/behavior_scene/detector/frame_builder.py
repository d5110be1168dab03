# SPDX-License-Identifier: Apache-2.0
"""From the messages of one instant to what the finder looks at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sensor_msgs.msg import PointCloud2
from vision_msgs.msg import Detection2DArray

from behavior_scene.detections import Array
from behavior_scene.detector import messages
from behavior_scene.detector.boxes import Box, labels_of_boxes, suppressed
from behavior_scene.detector.camera_model import CameraModel
from behavior_scene.detector.finder import Frame, Region
from behavior_scene.detector.images import ImageDefect, ImageError, color_of, depth_of, labels_of
from behavior_scene.detector.points import DepthPoints, PointImage
from behavior_scene.detector.settings import DetectorSettings

USELESS = (
    "a 2D detection without class, or whose id is no mask value (masks), or without a box (boxes)"
)
"""What `FrameBuilder.useless` counts."""


class FrameBuilder:
    """Builds frames of one camera.

    Args:
        labels: classes by mask value, for masks without detections.
        info_topic: of the calibration, to name it where it is missing.
        settings: the settings that hold now.
    """

    def __init__(
        self, labels: dict[int, str], info_topic: str, settings: Callable[[], DetectorSettings]
    ) -> None:
        self._labels = labels
        self._info_topic = info_topic
        self._settings = settings
        self.camera: CameraModel | ImageError | None = None
        """The camera, or why its calibration cannot be used; None: not told yet."""
        self.useless = 0
        """Detections in images that say nothing usable."""

    def frame(self, parts: Mapping[str, Any], reference_T_camera: Array | None) -> Frame:
        """The frame of `depth` (an image or a cloud), and `mask`, `detections` or `color`.

        Raises:
            ImageError: one of them cannot be used.
        """
        camera = self._checked_camera(parts)
        points = _points(parts["depth"], camera)
        if "color" in parts:
            color = color_of(messages.raw_image(parts["color"]))
            _same_size("color", color.shape[:2], camera)
            nothing = np.zeros(color.shape[:2], np.uint16)
            return Frame(
                points, nothing, (), camera, reference_T_camera=reference_T_camera, color=color
            )
        if "mask" not in parts:
            return self._frame_of_boxes(parts["detections"], camera, points, reference_T_camera)
        labels, probability = labels_of(messages.raw_image(parts["mask"]))
        _same_size("mask", labels.shape, camera)
        if "detections" in parts:
            regions, useless = messages.regions_of(parts["detections"])
            self.useless += useless
        else:
            regions = messages.regions_of_mask(labels, self._labels)
        return Frame(points, labels, regions, camera, probability, reference_T_camera)

    def _checked_camera(self, parts: Mapping[str, Any]) -> CameraModel:
        if self.camera is None:
            raise ImageError(
                ImageDefect.NO_CAMERA_INFO,
                f"no calibration of the camera; publish {self._info_topic}",
            )
        if isinstance(self.camera, ImageError):
            raise self.camera
        frames = {part.header.frame_id for part in parts.values() if part.header.frame_id}
        if len(frames) > 1:
            raise ImageError(
                ImageDefect.OTHER_FRAME,
                f"frames {', '.join(sorted(frames))}; register all images to one camera",
            )
        return self.camera

    def _frame_of_boxes(
        self,
        message: Detection2DArray,
        camera: CameraModel,
        points: PointImage,
        reference_T_camera: Array | None,
    ) -> Frame:
        boxes, useless = messages.boxes_of(message)
        self.useless += useless
        # What is too unsure to be reported hides nothing; the finder counts it.
        sure: list[Box] = []
        unsure: list[Box] = []
        settings = self._settings()
        for box in boxes:
            (sure if box.score >= settings.of(box.class_id).confidence else unsure).append(box)
        shown = suppressed(sure, settings)
        return Frame(
            points,
            labels_of_boxes(shown, points.depth, self._window),
            [Region(box.label, box.class_id, box.score) for box in (*shown, *unsure)],
            camera,
            reference_T_camera=reference_T_camera,
            with_ground=True,
        )

    def _window(self, box: Box) -> float:
        """How far before or behind its middle an object reaches [m]."""
        shape = self._settings().shape(box.class_id)
        if shape is None:
            return self._settings().of(box.class_id).depth_window
        return math.hypot(*shape.half_extents)


def _points(message: Any, camera: CameraModel) -> PointImage:
    if isinstance(message, PointCloud2):
        return messages.cloud_points(message, camera)
    depth = depth_of(messages.raw_image(message))
    _same_size("depth", depth.shape, camera)
    return DepthPoints(depth, camera)


def _same_size(what: str, shape: tuple[int, ...], camera: CameraModel) -> None:
    if shape != (camera.height, camera.width):
        raise ImageError(
            ImageDefect.OTHER_SIZE,
            f"{what} of {shape[1]} x {shape[0]}, camera_info of {camera.width} x {camera.height}; "
            "publish them in one size",
        )
