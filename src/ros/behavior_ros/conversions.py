# SPDX-License-Identifier: Apache-2.0
"""Messages to matrices and numbers, and back.

Matrices are 4x4 homogeneous, float64, [m]; ``target_T_source`` maps points from source to target.
Quaternions are ``(x, y, z, w)``; those of messages need not be normalised exactly.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]

_NANOSECONDS = 1_000_000_000


def quaternion_to_rotation(x: float, y: float, z: float, w: float) -> Matrix:
    """Return the 3x3 rotation of a quaternion, normalising it.

    Raises:
        ValueError: if the quaternion is zero or not finite
    """
    norm = x * x + y * y + z * z + w * w
    if not (math.isfinite(norm) and norm > 1e-12):
        raise ValueError(
            f"quaternion ({x}, {y}, {z}, {w}) is no rotation: give a unit quaternion x, y, z, w, "
            "for no rotation 0, 0, 0, 1"
        )
    s = 2.0 / norm
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )


def rotation_to_quaternion(rotation: Matrix) -> tuple[float, float, float, float]:
    """Return the unit quaternion ``(x, y, z, w)`` with w >= 0 of a 3x3 rotation.

    Shepperd's method: divide by the largest of the four components, so it is exact everywhere.
    """
    r = rotation
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    squares = np.array([r[0, 0], r[1, 1], r[2, 2], trace])
    largest = int(np.argmax(squares))
    q = np.empty(4)
    if largest == 3:
        q[:] = (r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], 1.0 + trace)
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q[i] = 1.0 + 2.0 * r[i, i] - trace
        q[j] = r[j, i] + r[i, j]
        q[k] = r[k, i] + r[i, k]
        q[3] = r[k, j] - r[j, k]
    q /= np.linalg.norm(q)
    if q[3] < 0:
        q = -q
    return float(q[0]), float(q[1]), float(q[2]), float(q[3])


def _matrix(position: Any, orientation: Any) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3] = quaternion_to_rotation(
        orientation.x, orientation.y, orientation.z, orientation.w
    )
    matrix[:3, 3] = (position.x, position.y, position.z)
    return matrix


def _quaternion(matrix: Matrix) -> Quaternion:
    x, y, z, w = rotation_to_quaternion(matrix[:3, :3])
    return Quaternion(x=x, y=y, z=z, w=w)


def pose_to_matrix(pose: Pose) -> Matrix:
    """Return ``frame_T_body`` of a pose of `body` given in `frame`."""
    return _matrix(pose.position, pose.orientation)


def matrix_to_pose(matrix: Matrix) -> Pose:
    """Return the pose of ``frame_T_body``."""
    x, y, z = (float(value) for value in matrix[:3, 3])
    return Pose(position=Point(x=x, y=y, z=z), orientation=_quaternion(matrix))


def transform_to_matrix(transform: Transform) -> Matrix:
    """Return ``parent_T_child`` of a transform message."""
    return _matrix(transform.translation, transform.rotation)


def matrix_to_transform(matrix: Matrix) -> Transform:
    """Return the transform message of ``parent_T_child``."""
    x, y, z = (float(value) for value in matrix[:3, 3])
    return Transform(translation=Vector3(x=x, y=y, z=z), rotation=_quaternion(matrix))


def seconds(stamp: TimeMsg | DurationMsg | Any) -> float:
    """Return a time or duration, message or rclpy object, in seconds."""
    return to_nanoseconds(stamp) / _NANOSECONDS


def to_nanoseconds(stamp: TimeMsg | DurationMsg | Any) -> int:
    """Return a time or duration, message or rclpy object, in nanoseconds."""
    if hasattr(stamp, "nanoseconds"):
        return int(stamp.nanoseconds)
    return int(stamp.sec) * _NANOSECONDS + int(stamp.nanosec)


def _split(value: float) -> tuple[int, int]:
    if not math.isfinite(value):
        raise ValueError(f"{value} s is no time: give a finite number of seconds")
    return divmod(round(value * _NANOSECONDS), _NANOSECONDS)


def to_time(value: float) -> TimeMsg:
    """Return seconds as a time message."""
    sec, nanosec = _split(value)
    return TimeMsg(sec=sec, nanosec=nanosec)


def to_duration(value: float) -> DurationMsg:
    """Return seconds as a duration message."""
    sec, nanosec = _split(value)
    return DurationMsg(sec=sec, nanosec=nanosec)
