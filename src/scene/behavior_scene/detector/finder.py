# SPDX-License-Identifier: Apache-2.0
"""Finds the objects of one image in space; see :meth:`Finder.find`."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from behavior_scene.detections import Array
from behavior_scene.detector.camera_model import CameraModel
from behavior_scene.detector.estimate import Estimate, View, estimate, inliers
from behavior_scene.detector.points import PointImage
from behavior_scene.detector.settings import DetectorSettings


class Rejection(enum.StrEnum):
    """Why something in an image is not reported; the value is the key on the diagnostics."""

    IGNORED = "ignored_class"
    LOW_CONFIDENCE = "low_confidence"
    FEW_POINTS = "too_few_points"
    HIDDEN = "too_little_visible"
    MISFIT = "shape_does_not_fit"


@dataclass(frozen=True, slots=True)
class Region:
    """What an image detector says of the pixels with a label."""

    label: int
    class_id: str
    score: float
    """0..1"""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """All that is known of one instant."""

    points: PointImage
    labels: NDArray[np.uint16]
    """(h, w); 0: nothing."""
    regions: Sequence[Region]
    """What an image detector found; none where the picture itself is given."""
    camera: CameraModel
    probability: NDArray[np.float32] | None = None
    """(h, w) that a pixel belongs to its label; None: not told."""
    reference_T_camera: Array | None = None
    """Pose of the camera in a frame whose z is up, 4x4, in which to report; None: report in the
    camera's own, in which nothing is known of up."""
    with_ground: bool = False
    """Whether the labels may include the ground that objects stand on, as those of boxes do."""
    color: NDArray[np.uint8] | None = None
    """(h, w, 3) red, green and blue, where the detector looks at the picture itself."""


class Finder:
    """Finds objects in frames.

    Args:
        settings: by class; may be exchanged at any time.
    """

    def __init__(self, settings: DetectorSettings) -> None:
        self.settings = settings
        self.rejected: Counter[Rejection] = Counter()

    def find(self, frame: Frame) -> list[Estimate]:
        """The objects of a frame, in the order of its regions.

        Of each region's pixels those near its edge are left out (`erosion_radius`), then those
        without depth, then outliers; what is left gives the pose.
        """
        regions = [region for region in frame.regions if self._wanted(region)]
        pose = np.eye(4) if frame.reference_T_camera is None else frame.reference_T_camera
        highest = max((region.label for region in regions), default=0)
        whole = np.bincount(frame.labels.ravel(), minlength=highest + 1)
        found = []
        for region, points in self._points(frame, regions, pose):
            result = self._estimate(frame, region, points, pose, int(whole[region.label]))
            if result is not None:
                found.append(result)
        return found

    def _wanted(self, region: Region) -> bool:
        settings = self.settings.of(region.class_id)
        if settings.ignored:
            self.rejected[Rejection.IGNORED] += 1
        elif not region.score >= settings.confidence:
            self.rejected[Rejection.LOW_CONFIDENCE] += 1
        else:
            return True
        return False

    def _points(
        self, frame: Frame, regions: Sequence[Region], pose: Array
    ) -> Iterator[tuple[Region, Array]]:
        """Each region's points (n, 3) in the frame of the report."""
        inner = self._inner_labels(frame, regions)
        rows, columns = np.nonzero(inner)
        values = inner[rows, columns]
        points = frame.points.at(rows, columns)
        usable = np.isfinite(points).all(axis=1) & (points[:, 2] > 0.0)
        values, points = values[usable], points[usable] @ pose[:3, :3].T + pose[:3, 3]
        order = np.argsort(values, kind="stable")
        values, points = values[order], points[order]
        for region in regions:
            first, last = np.searchsorted(values, [region.label, region.label + 1])
            yield region, points[first:last]

    def _inner_labels(self, frame: Frame, regions: Sequence[Region]) -> NDArray[np.uint16]:
        """The labels of the regions without pixels near an edge or of too little probability."""
        size = int(frame.labels.max(initial=0)) + 1
        table = np.zeros(size, np.uint16)
        radii = np.zeros(size, np.intp)
        limits = np.zeros(size, np.float32)
        for region in regions:
            if region.label < size:
                settings = self.settings.of(region.class_id)
                table[region.label] = region.label
                radii[region.label] = settings.erosion_radius
                limits[region.label] = settings.mask_threshold
        labels = frame.labels
        kept = table[labels]
        if frame.probability is not None:
            labels = np.where(frame.probability >= limits[labels], labels, np.uint16(0))
            kept = np.where(labels > 0, kept, np.uint16(0))
        for radius in np.unique(radii[table > 0]):
            if radius > 0:
                edge = 2 * int(radius) + 1
                inner = minimum_filter(labels, edge) == maximum_filter(labels, edge)
                kept = np.where((radii[labels] != radius) | inner, kept, np.uint16(0))
        return kept

    def _estimate(
        self, frame: Frame, region: Region, points: Array, pose: Array, pixels: int
    ) -> Estimate | None:
        settings = self.settings.of(region.class_id)
        level = frame.reference_T_camera is not None
        if frame.with_ground and level and settings.ground_clearance > 0.0 and len(points):
            points = points[points[:, 2] > points[:, 2].min() + settings.ground_clearance]
        if len(points) >= settings.minimum_points:
            points = inliers(points, settings.outlier_threshold)
        if len(points) < settings.minimum_points:
            self.rejected[Rejection.FEW_POINTS] += 1
            return None
        ray = points.mean(axis=0) - pose[:3, 3]
        depth, distance = float(ray @ pose[:3, 2]), float(np.linalg.norm(ray))
        camera = frame.camera
        seen = View(
            eye=pose[:3, 3],
            level=level,
            # Pixels away from the middle of the image look at a surface across them askew.
            area=pixels * depth**3 / distance / (camera.fx * camera.fy),
            kept=min(1.0, len(points) / max(pixels, 1)),
            pixel=depth / camera.fx,
        )
        result = estimate(
            points,
            class_id=region.class_id,
            score=region.score,
            settings=settings,
            shape=self.settings.shape(region.class_id),
            seen=seen,
        )
        if result.visible < settings.minimum_visible:
            self.rejected[Rejection.HIDDEN] += 1
            return None
        if result.misfit > settings.maximum_misfit > 0.0:
            self.rejected[Rejection.MISFIT] += 1
            return None
        return result
