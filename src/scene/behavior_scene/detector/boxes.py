# SPDX-License-Identifier: Apache-2.0
"""From boxes in an image to pixels of objects: what a detector without masks gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detector.settings import DetectorSettings


@dataclass(frozen=True, slots=True)
class Box:
    """An object as an image detector tells it."""

    label: int
    """1 and up; unique in the image."""
    class_id: str
    score: float
    """0..1"""
    center: tuple[float, float]
    """Column and row [px]."""
    size: tuple[float, float]
    """Columns and rows before the turn [px]."""
    angle: float = 0.0
    """About the centre, from the column axis to the row axis [rad]."""

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the upright box around it [px]."""
        across, down = math.cos(self.angle), math.sin(self.angle)
        half_width = (abs(across) * self.size[0] + abs(down) * self.size[1]) / 2
        half_height = (abs(down) * self.size[0] + abs(across) * self.size[1]) / 2
        x, y = self.center
        return x - half_width, y - half_height, x + half_width, y + half_height


def suppressed(boxes: Sequence[Box], settings: DetectorSettings) -> list[Box]:
    """The boxes without those that show the same object again, less surely; order is kept."""
    corners = np.array([box.corners for box in boxes])
    kept: list[int] = []
    for class_id in {box.class_id for box in boxes}:
        limit = settings.of(class_id).nms_threshold
        mine = [index for index, box in enumerate(boxes) if box.class_id == class_id]
        left = np.array(sorted(mine, key=lambda i: (-boxes[i].score, boxes[i].label)))
        while left.size:
            surest, left = left[0], left[1:]
            kept.append(int(surest))
            left = left[_overlaps(corners[surest], corners[left]) <= limit]
    return [boxes[index] for index in sorted(kept)]


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union (n,) of an upright box (4,) with others (n, 4), all by corners."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.prod(np.maximum(high - low, 0.0), axis=1)
    areas = np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], axis=1)
    return np.asarray(common / (areas - common))


def labels_of_boxes(
    boxes: Sequence[Box],
    depth: NDArray[np.floating[Any]],
    window: Callable[[Box], float],
) -> NDArray[np.uint16]:
    """A mask (h, w) of the pixels in each box that lie about as far away as its middle.

    Args:
        boxes: with labels from 1 to 65535; boxes outside the image leave no pixels.
        depth: (h, w) [m].
        window: how far before or behind the middle an object reaches [m].
    """
    labels = np.zeros(depth.shape, np.uint16)
    found = [
        (box, area, middle)
        for box in boxes
        if (area := _area(box, depth.shape)) is not None
        and math.isfinite(middle := _middle(depth[area]))
    ]
    # From far to near: where two boxes share pixels, the nearer object hides the other. Where one
    # object was told twice, as two classes, the surer one counts.
    for box, area, middle in sorted(found, key=lambda item: (-item[2], item[0].score)):
        with np.errstate(invalid="ignore"):
            mine = np.abs(depth[area] - middle) <= window(box)
        labels[area][mine & _inside(box, area)] = box.label
    return labels


def _area(box: Box, shape: tuple[int, ...]) -> tuple[slice, slice] | None:
    """Rows and columns of the image that a box covers; None: none."""
    corners = np.array(box.corners)
    if not np.isfinite(corners).all():
        return None
    columns_rows = np.array([shape[1], shape[0]])
    left, top = np.ceil(np.clip(corners[:2], 0, columns_rows)).astype(int)
    right, bottom = np.floor(np.clip(corners[2:], -1, columns_rows - 1)).astype(int)
    if right < left or bottom < top:
        return None
    return slice(int(top), int(bottom) + 1), slice(int(left), int(right) + 1)


def _middle(depth: NDArray[np.floating[Any]]) -> float:
    """Depth of the middle half of an area [m]; NaN: unknown."""
    rows, columns = depth.shape
    core = depth[rows // 4 : rows - rows // 4, columns // 4 : columns - columns // 4]
    known = core[np.isfinite(core) & (core > 0.0)]
    return float(np.median(known)) if known.size else float("nan")


def _inside(box: Box, area: tuple[slice, slice]) -> NDArray[np.bool_]:
    """Which pixels of the area lie within the turned box."""
    rows, columns = np.mgrid[area]
    x, y = columns - box.center[0], rows - box.center[1]
    across, down = np.cos(box.angle), np.sin(box.angle)
    along = np.abs(x * across + y * down) <= box.size[0] / 2
    beside = np.abs(y * across - x * down) <= box.size[1] / 2
    return np.asarray(along & beside)
