# SPDX-License-Identifier: Apache-2.0
"""The pinhole: which ray belongs to which pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


class CameraModelError(ValueError):
    """Calibration that describes no camera; the message says what is wrong."""


_LARGEST = 1 << 26
"""[px] larger images are no images."""


@dataclass(frozen=True, slots=True)
class CameraModel:
    """A rectified camera; its frame has z ahead, x right, y down (REP 103)."""

    width: int
    height: int
    fx: float
    """Focal length over the width of a pixel [px]."""
    fy: float
    cx: float
    """Principal point [px]; the middle of the first pixel is 0, 0."""
    cy: float

    @classmethod
    def from_calibration(
        cls, width: int, height: int, k: Sequence[float], p: Sequence[float]
    ) -> CameraModel:
        """The camera of a calibration as in sensor_msgs/CameraInfo.

        Args:
            width: of the images [px].
            height: of the images [px].
            k: 3x3 row by row, of the raw images.
            p: 3x4 row by row, of the rectified images; these are the ones used. All 0: not
                calibrated, `k` counts.

        Raises:
            CameraModelError: sizes that are none, numbers that are not finite, or focal lengths
                that are not positive.
        """
        if not (width > 0 and height > 0 and width * height <= _LARGEST):
            raise CameraModelError(f"images of {width} x {height} pixels: set width and height")
        numbers = [p[0], p[5], p[2], p[6]] if p[0] != 0.0 else [k[0], k[4], k[2], k[5]]
        if not all(math.isfinite(number) for number in numbers):
            raise CameraModelError("the calibration holds numbers that are not finite")
        fx, fy, cx, cy = numbers
        if fx <= 0.0 or fy <= 0.0:
            raise CameraModelError(f"focal lengths {fx:g}, {fy:g}: calibrate the camera")
        return cls(int(width), int(height), float(fx), float(fy), float(cx), float(cy))
