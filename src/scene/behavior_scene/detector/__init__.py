# SPDX-License-Identifier: Apache-2.0
"""Detectors: from masks or boxes in images, and depth, to objects in space.

Everything exported here is free of ROS; `behavior_scene.detector.node` is the node around it and
`behavior_scene.detector.messages` the only place that knows messages.
"""

from behavior_scene.detector.boxes import Box, labels_of_boxes, suppressed
from behavior_scene.detector.camera_model import CameraModel, CameraModelError
from behavior_scene.detector.detectors import Detector, create_detector
from behavior_scene.detector.estimate import Estimate
from behavior_scene.detector.finder import Finder, Frame, Region, Rejection
from behavior_scene.detector.images import (
    ImageDefect,
    ImageError,
    RawImage,
    color_of,
    depth_of,
    labels_of,
)
from behavior_scene.detector.pairing import TimePairing
from behavior_scene.detector.points import CloudPoints, DepthPoints, PointImage, depth_from_points
from behavior_scene.detector.settings import (
    ClassSettings,
    DetectorSettings,
    SettingsError,
    parse_labels,
    parse_settings,
)
from behavior_scene.detector.surface import visible_area, visible_centroid

__all__ = [
    "Box",
    "CameraModel",
    "CameraModelError",
    "ClassSettings",
    "CloudPoints",
    "DepthPoints",
    "Detector",
    "DetectorSettings",
    "Estimate",
    "Finder",
    "Frame",
    "ImageDefect",
    "ImageError",
    "PointImage",
    "RawImage",
    "Region",
    "Rejection",
    "SettingsError",
    "TimePairing",
    "color_of",
    "create_detector",
    "depth_from_points",
    "depth_of",
    "labels_of",
    "labels_of_boxes",
    "parse_labels",
    "parse_settings",
    "suppressed",
    "visible_area",
    "visible_centroid",
]
