# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and what detectors work with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from std_msgs.msg import Header
from vision_msgs.msg import (
    Detection2D,
    Detection2DArray,
    Detection3D,
    Detection3DArray,
    ObjectHypothesisWithPose,
)

from behavior_ros import matrix_to_pose
from behavior_scene.clouds.cloud import MalformedCloudError
from behavior_scene.clouds.messages import cloud_from
from behavior_scene.detector.boxes import Box
from behavior_scene.detector.camera_model import CameraModel, CameraModelError
from behavior_scene.detector.estimate import Estimate
from behavior_scene.detector.finder import Region
from behavior_scene.detector.images import ImageDefect, ImageError, RawImage
from behavior_scene.detector.points import CloudPoints, DepthPoints, PointImage, depth_from_points

FLAT_BOX = 1
"""[px] boxes smaller than this hold no pixel."""


def raw_image(message: Image) -> RawImage:
    """The fields of an image."""
    return RawImage(
        height=message.height,
        width=message.width,
        encoding=message.encoding,
        step=message.step,
        big_endian=bool(message.is_bigendian),
        data=message.data,
    )


def camera_model(message: CameraInfo) -> CameraModel:
    """The camera of a calibration.

    Raises:
        ImageError: it is none.
    """
    try:
        return CameraModel.from_calibration(
            message.width, message.height, list(message.k), list(message.p)
        )
    except CameraModelError as error:
        raise ImageError(ImageDefect.BAD_CAMERA_INFO, str(error)) from error


def cloud_points(message: PointCloud2, camera: CameraModel) -> PointImage:
    """The points of a cloud by pixel: as it is organised, or as the camera sees them.

    Raises:
        ImageError: the cloud cannot be used.
    """
    try:
        cloud = cloud_from(message)
    except MalformedCloudError as error:
        raise ImageError(ImageDefect.CLOUD, str(error)) from error
    if cloud.x.shape == (camera.height, camera.width):
        return CloudPoints(cloud.x, cloud.y, cloud.z)
    return DepthPoints(depth_from_points(cloud.points(np.eye(4)), camera), camera)


def _best(detection: Detection2D) -> tuple[str, float]:
    """The likeliest class and its score; no class: empty."""
    told = (result.hypothesis for result in detection.results)
    known = (each for each in told if math.isfinite(each.score))
    best = max(known, key=lambda each: float(each.score), default=None)
    return ("", 0.0) if best is None else (best.class_id, float(best.score))


def regions_of(message: Detection2DArray) -> tuple[list[Region], int]:
    """What is said of the labels of a mask, by `id`; and how many entries say nothing usable."""
    regions: dict[int, Region] = {}
    for detection in message.detections:
        class_id, score = _best(detection)
        text = detection.id
        label = int(text) if text.isdecimal() and len(text) <= 5 else 0
        if class_id and 0 < label < 2**16:
            regions[label] = Region(label, class_id, score)
    return list(regions.values()), len(message.detections) - len(regions)


def regions_of_mask(labels: NDArray[np.uint16], classes: dict[int, str]) -> list[Region]:
    """Regions of a mask whose values are classes."""
    return [
        Region(label, classes[label], 1.0)
        for label in np.flatnonzero(np.bincount(labels.ravel())).tolist()
        if label in classes
    ]


def boxes_of(message: Detection2DArray) -> tuple[list[Box], int]:
    """The boxes of an image with labels from 1; and how many entries are none."""
    boxes: list[Box] = []
    for detection in message.detections:
        class_id, score = _best(detection)
        box, center = detection.bbox, detection.bbox.center
        numbers = (center.position.x, center.position.y, center.theta, box.size_x, box.size_y)
        usable = all(map(math.isfinite, numbers)) and min(box.size_x, box.size_y) >= FLAT_BOX
        if class_id and usable:
            boxes.append(
                Box(
                    label=len(boxes) + 1,
                    class_id=class_id,
                    score=score,
                    center=(center.position.x, center.position.y),
                    size=(box.size_x, box.size_y),
                    angle=center.theta,
                )
            )
    return boxes, len(message.detections) - len(boxes)


def detections_message(header: Header, found: Sequence[Estimate]) -> Detection3DArray:
    """What was found, for the scene."""
    message = Detection3DArray(header=header)
    for item in found:
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = item.class_id, item.score
        result.pose.pose = matrix_to_pose(item.pose)
        result.pose.covariance = item.covariance.ravel().tolist()
        detection = Detection3D(header=header, results=[result])
        detection.bbox.center = result.pose.pose
        size = detection.bbox.size
        size.x, size.y, size.z = item.size
        message.detections.append(detection)
    return message
