# SPDX-License-Identifier: Apache-2.0
"""Rotations as 3x3 matrices and as quaternions ``(x, y, z, w)``: pure, no ROS."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]


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


def rotation_to_quaternion(rotation: Matrix) -> Quaternion:
    """Return the unit quaternion ``(x, y, z, w)`` with w >= 0 of a 3x3 rotation.

    Shepperd's method: divide by the largest of the four components, so it is exact everywhere.
    """
    # In Python's own numbers: numpy's cost three times as much where they come one by one.
    r = rotation.tolist()
    trace = r[0][0] + r[1][1] + r[2][2]
    squares = (r[0][0], r[1][1], r[2][2], trace)
    i = squares.index(max(squares))
    q = [0.0, 0.0, 0.0, 1.0 + trace]
    if i == 3:
        q[:3] = r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        q[i] = 1.0 + 2.0 * r[i][i] - trace
        q[j] = r[j][i] + r[i][j]
        q[k] = r[k][i] + r[i][k]
        q[3] = r[k][j] - r[j][k]
    norm = math.copysign(math.hypot(*q), q[3])
    return q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm


def pose_numbers(pose: Matrix) -> tuple[float, ...]:
    """Return x, y, z and the unit quaternion x, y, z, w of a 4x4 pose."""
    return (*pose[:3, 3].tolist(), *rotation_to_quaternion(pose[:3, :3]))


def multiply(first: Quaternion, second: Quaternion) -> Quaternion:
    """Return the quaternion that turns by the second, then by the first."""
    ax, ay, az, aw = first
    bx, by, bz, bw = second
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def conjugate(rotation: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    x, y, z, w = rotation
    return -x, -y, -z, w


def rotate(rotation: Quaternion, vector: Vector) -> Vector:
    """Return a vector turned by a unit quaternion: v + 2 w (r x v) + 2 r x (r x v)."""
    x, y, z, w = rotation
    a, b, c = vector
    u, v, t = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u


def slerp(first: Quaternion, second: Quaternion, share: float) -> Quaternion:
    """Return the unit quaternion at a share u in 0..1 of the shorter turn from the first.

    q(u) = (sin((1-u) a) q0 + sin(u a) q1) / sin(a) with cos(a) = q0 . q1, the sign of q1 chosen so
    that a is at most a quarter turn (K. Shoemake, "Animating rotation with quaternion curves",
    1985).
    """
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    sign = 1.0 if dot >= 0.0 else -1.0
    angle = math.acos(min(1.0, abs(dot)))
    # Below this angle the sine ratio is its limit 1-u : u to within rounding.
    if angle < 1e-6:
        a, b = 1.0 - share, share * sign
    else:
        a = math.sin((1.0 - share) * angle) / math.sin(angle)
        b = sign * math.sin(share * angle) / math.sin(angle)
    x, y, z, w = (a * p + b * q for p, q in zip(first, second, strict=True))
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    return x / norm, y / norm, z / norm, w / norm
