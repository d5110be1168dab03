# SPDX-License-Identifier: Apache-2.0
"""The point behind each pixel, from a depth image or from a cloud."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array
from behavior_scene.detector.camera_model import CameraModel

Index = NDArray[np.intp]


class PointImage(Protocol):
    """Points by row and column; not finite where nothing is known."""

    @property
    def depth(self) -> NDArray[np.floating[Any]]:
        """(h, w) distance along the optical axis [m]."""

    def at(self, rows: Index, columns: Index) -> Array:
        """Points (n, 3) in the camera's frame [m]."""


class DepthPoints:
    """Points of a depth image.

    Args:
        depth: (h, w) [m].
        camera: that took it; of the same size.
    """

    def __init__(self, depth: NDArray[np.floating[Any]], camera: CameraModel) -> None:
        self.depth = depth
        self._camera = camera

    def at(self, rows: Index, columns: Index) -> Array:
        """Points (n, 3) in the camera's frame [m]."""
        camera = self._camera
        z = self.depth[rows, columns].astype(np.float64)
        x = (columns - camera.cx) / camera.fx * z
        y = (rows - camera.cy) / camera.fy * z
        return np.stack([x, y, z], axis=1)


class CloudPoints:
    """Points of a cloud that is organised in rows and columns of an image.

    Args:
        x: (h, w) [m], and so the others.
        y: down.
        z: ahead.
    """

    def __init__(
        self,
        x: NDArray[np.floating[Any]],
        y: NDArray[np.floating[Any]],
        z: NDArray[np.floating[Any]],
    ) -> None:
        self.depth = z
        self._xyz = (x, y, z)

    def at(self, rows: Index, columns: Index) -> Array:
        """Points (n, 3) in the camera's frame [m]."""
        return np.stack([axis[rows, columns].astype(np.float64) for axis in self._xyz], axis=1)


def depth_from_points(points: Array, camera: CameraModel) -> NDArray[np.float64]:
    """Depth image (h, w) [m] of points (n, 3) in the camera's frame; the nearest wins, else NaN."""
    x, y, z = points[np.isfinite(points).all(axis=1) & (points[:, 2] > 0.0)].T
    columns = np.rint(x / z * camera.fx + camera.cx)
    rows = np.rint(y / z * camera.fy + camera.cy)
    inside = (columns >= 0) & (columns < camera.width) & (rows >= 0) & (rows < camera.height)
    depth = np.full((camera.height, camera.width), np.inf)
    place = rows[inside].astype(np.intp), columns[inside].astype(np.intp)
    np.minimum.at(depth, place, z[inside])
    return np.where(np.isinf(depth), np.nan, depth)
