# SPDX-License-Identifier: Apache-2.0
"""Point clouds as they come: checked, but looked at where they lie, without a copy.

A cloud may be organised (rows of an image) or not, its fields may lie anywhere in a point, points
that are not finite are skipped by whoever counts. What cannot be used is refused in words.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array

UINT32, FLOAT32, FLOAT64 = 6, 7, 8
"""Datatypes as in sensor_msgs/PointField."""
_FLOATS = {FLOAT32: "<f4", FLOAT64: "<f8"}


class CloudDefect(enum.Enum):
    """Why a cloud was not used; the value is the key on the diagnostics."""

    BIG_ENDIAN = "cloud_big_endian"
    MISSING_FIELDS = "cloud_missing_fields"
    BAD_FIELDS = "cloud_bad_fields"
    WRONG_SIZE = "cloud_wrong_size"
    EMPTY = "cloud_empty"
    NO_FINITE_POINT = "cloud_no_finite_point"
    BAD_STAMP = "cloud_bad_stamp"
    FROM_THE_FUTURE = "cloud_from_the_future"
    FROM_THE_PAST = "cloud_from_the_past"
    UNKNOWN_FRAME = "cloud_unknown_frame"


class MalformedCloudError(ValueError):
    """A cloud that cannot be used; the text says why and how to mend it."""

    def __init__(self, defect: CloudDefect, text: str) -> None:
        super().__init__(text)
        self.defect = defect


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value lies in each point."""

    offset: int
    """[bytes] from the point's beginning."""
    datatype: int
    """As in sensor_msgs/PointField."""


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points at one instant. The arrays are views, (rows, columns)."""

    frame: str
    stamp: float
    """[s]."""
    x: NDArray[np.float32]
    """[m] in `frame`."""
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    rgb: NDArray[np.uint32] | None = None
    """0x..RRGGBB; None: the cloud has no colours."""

    @property
    def size(self) -> int:
        """Number of points, those that are not finite included."""
        return int(self.x.size)

    def points(self, target_T_frame: Array) -> Array:
        """Copy of the finite points in another frame, (N, 3) [m]."""
        points = np.stack([self.x.ravel(), self.y.ravel(), self.z.ravel()], axis=1)
        points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
        return np.asarray(points @ target_T_frame[:3, :3].T + target_T_frame[:3, 3])


def cloud_view(
    data: Any,
    fields: Mapping[str, Field],
    *,
    shape: tuple[int, int],
    point_step: int,
    row_step: int,
    big_endian: bool,
    frame: str,
    stamp: float,
) -> Cloud:
    """Look at the buffer of a sensor_msgs/PointCloud2.

    Args:
        data: bytes, or anything with a buffer.
        fields: by name; ``x``, ``y``, ``z`` (32 or 64 bit floats; the latter are copied), and
            ``rgb`` or ``rgba`` (packed into 32 bits) where there are colours.
        shape: rows, columns.
        point_step: length of a point [bytes].
        row_step: length of a row [bytes].
        big_endian: byte order.
        frame: of the points.
        stamp: [s].

    Raises:
        MalformedCloudError: it cannot be used.
    """
    if big_endian:
        raise MalformedCloudError(
            CloudDefect.BIG_ENDIAN, "is_bigendian is set; publish the cloud little-endian"
        )
    _check_header(shape, frame, stamp)
    buffer = np.frombuffer(data, dtype=np.uint8)
    _check_size(buffer.size, shape, point_step, row_step)

    def view(name: str, dtype: str) -> Any:
        item, offset = np.dtype(dtype), fields[name].offset
        if offset + item.itemsize > point_step:
            raise MalformedCloudError(
                CloudDefect.BAD_FIELDS,
                f"field {name} at byte {offset} ends beyond point_step {point_step}",
            )
        return np.ndarray(shape, item, buffer, offset, (row_step, point_step))

    x, y, z = (view(name, _float_type(name, fields)) for name in "xyz")
    if not np.isfinite(x).any():
        raise MalformedCloudError(
            CloudDefect.NO_FINITE_POINT, "no point is finite; see that the camera sees"
        )
    name = "rgb" if "rgb" in fields else "rgba"
    colored = name in fields and fields[name].datatype in (UINT32, FLOAT32)
    x, y, z = (axis.astype(np.float32, copy=False) for axis in (x, y, z))
    return Cloud(frame, stamp, x, y, z, view(name, "<u4") if colored else None)


def _check_header(shape: tuple[int, int], frame: str, stamp: float) -> None:
    rows, columns = shape
    if not (np.isfinite(stamp) and stamp > 0.0):
        raise MalformedCloudError(CloudDefect.BAD_STAMP, "header.stamp is 0; stamp the cloud")
    if not frame:
        raise MalformedCloudError(CloudDefect.UNKNOWN_FRAME, "header.frame_id is empty; set it")
    if rows * columns == 0:
        raise MalformedCloudError(
            CloudDefect.EMPTY,
            f"{columns} x {rows} points: no evidence that there is nothing; see that the camera"
            " sees",
        )


def _check_size(length: int, shape: tuple[int, int], point_step: int, row_step: int) -> None:
    rows, columns = shape
    if point_step <= 0 or row_step < columns * point_step:
        raise MalformedCloudError(
            CloudDefect.WRONG_SIZE,
            f"row_step {row_step} is less than {columns} points of point_step {point_step}",
        )
    wanted = (rows - 1) * row_step + columns * point_step
    if length < wanted:
        raise MalformedCloudError(
            CloudDefect.WRONG_SIZE,
            f"data has {length} bytes, {wanted} wanted for {columns} x {rows} points of"
            f" point_step {point_step} in rows of row_step {row_step}",
        )


def _float_type(name: str, fields: Mapping[str, Field]) -> str:
    if name not in fields:
        raise MalformedCloudError(
            CloudDefect.MISSING_FIELDS,
            f"no field {name} among {sorted(fields)}; publish x, y and z",
        )
    try:
        return _FLOATS[fields[name].datatype]
    except KeyError:
        raise MalformedCloudError(
            CloudDefect.BAD_FIELDS,
            f"field {name} has datatype {fields[name].datatype}; publish FLOAT32 (7)",
        ) from None
