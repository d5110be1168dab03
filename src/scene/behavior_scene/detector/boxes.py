# SPDX-License-Identifier: Apache-2.0
"""From boxes in an image to pixels of objects: what a detector without masks gives."""

from __future__ import annotations

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
        across, down = np.cos(self.angle), np.sin(self.angle)
        half_width = (abs(across) * self.size[0] + abs(down) * self.size[1]) / 2
        half_height = (abs(down) * self.size[0] + abs(across) * self.size[1]) / 2
        x, y = self.center
        return x - half_width, y - half_height, x + half_width, y + half_height


def suppressed(boxes: Sequence[Box], settings: DetectorSettings) -> list[Box]:
    """The boxes without those that show the same object again, less surely; order is kept."""
    kept: list[Box] = []
    for box in sorted(boxes, key=lambda b: (-b.score, b.label)):
        limit = settings.of(box.class_id).nms_threshold
        if all(other.class_id != box.class_id or _overlap(box, other) <= limit for other in kept):
            kept.append(box)
    return [box for box in boxes if box in kept]


def _overlap(a: Box, b: Box) -> float:
    """Intersection over union of the upright boxes."""
    left, top, right, bottom = a.corners
    other_left, other_top, other_right, other_bottom = b.corners
    width = min(right, other_right) - max(left, other_left)
    height = min(bottom, other_bottom) - max(top, other_top)
    if width <= 0.0 or height <= 0.0:
        return 0.0
    areas = (right - left) * (bottom - top) + (other_right - other_left) * (
        other_bottom - other_top
    )
    return float(width * height / (areas - width * height))


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
    found = [(box, area) for box in boxes if (area := _area(box, depth.shape)) is not None]
    middles = [_middle(depth[area]) for _, area in found]
    # From far to near: where two boxes share pixels, the nearer object hides the other.
    for index in sorted(range(len(found)), key=lambda i: -middles[i]):
        (box, area), middle = found[index], middles[index]
        with np.errstate(invalid="ignore"):
            mine = np.abs(depth[area] - middle) <= window(box)
        labels[area][mine & _inside(box, area)] = box.label
    return labels


def _area(box: Box, shape: tuple[int, ...]) -> tuple[slice, slice] | None:
    """Rows and columns of the image that a box covers; None: none."""
    corners = np.array(box.corners)
    if not np.isfinite(corners).all():
        return None
    left, top = np.ceil(np.maximum(corners[:2], 0.0)).astype(int)
    right, bottom = np.floor(np.minimum(corners[2:], [shape[1] - 1, shape[0] - 1])).astype(int)
    if right < left or bottom < top:
        return None
    return slice(int(top), int(bottom) + 1), slice(int(left), int(right) + 1)


def _middle(depth: NDArray[np.floating[Any]]) -> float:
    """Depth of the middle half of an area [m]; NaN: unknown."""
    rows, columns = depth.shape
    core = depth[rows // 4 : rows - rows // 4, columns // 4 : columns - columns // 4]
    known = core[np.isfinite(core)]
    return float(np.median(known)) if known.size else float("nan")


def _inside(box: Box, area: tuple[slice, slice]) -> NDArray[np.bool_]:
    """Which pixels of the area lie within the turned box."""
    rows, columns = np.mgrid[area]
    x, y = columns - box.center[0], rows - box.center[1]
    across, down = np.cos(box.angle), np.sin(box.angle)
    along = np.abs(x * across + y * down) <= box.size[0] / 2
    beside = np.abs(y * across - x * down) <= box.size[1] / 2
    return np.asarray(along & beside)
