# SPDX-License-Identifier: Apache-2.0
"""What a detector saw at one instant: immutable, checked on entry, expressed in the world frame.

A detector may send anything. :func:`checked_detection` turns the raw numbers into a
:class:`Detection` or says in one word (:class:`Defect`) why it cannot be used, so that the caller
counts it and goes on.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

QUATERNION_NORM_TOLERANCE = 0.01
"""Quaternions whose norm differs from 1 by more than this are refused, others are normalised."""


class Defect(enum.Enum):
    """Why a detection was not used; the value is the key on the diagnostics."""

    NOT_FINITE = "not_finite"
    BAD_QUATERNION = "bad_quaternion"
    BAD_SIZE = "bad_size"
    NO_CLASS = "no_class"
    UNKNOWN_CLASS = "unknown_class"
    LOW_CONFIDENCE = "low_confidence"
    UNKNOWN_FRAME = "unknown_frame"
    FROM_THE_FUTURE = "from_the_future"
    FROM_THE_PAST = "from_the_past"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Detection:
    """One object seen at one instant."""

    class_id: str
    """What the detector calls it."""
    stamp: float
    """Time of the image [s]."""
    confidence: float
    """0..1."""
    world_T_object: Array
    """Pose of the object's centre, 4x4, read-only [m]."""
    size: tuple[float, float, float]
    """Edge lengths of the bounding box [m]; zeros: the detector does not know."""
    covariance: tuple[float, ...]
    """36 numbers, row-major x y z roll pitch yaw in the world frame; all 0: unknown."""


def frozen(matrix: NDArray[Any]) -> Array:
    """A read-only float64 copy of `matrix`, so that snapshots can be shared between threads."""
    copy = np.array(matrix, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def pose_matrix(position: Sequence[float], quaternion: Sequence[float]) -> Array | Defect:
    """4x4 matrix of a position [m] and a quaternion (x, y, z, w), or the defect of the numbers."""
    numbers = np.array([*position, *quaternion], dtype=np.float64)
    if not np.all(np.isfinite(numbers)):
        return Defect.NOT_FINITE
    if abs(float(np.linalg.norm(numbers[3:])) - 1.0) > QUATERNION_NORM_TOLERANCE:
        return Defect.BAD_QUATERNION
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(numbers[3:]).as_matrix()
    matrix[:3, 3] = numbers[:3]
    return matrix


def checked_detection(
    *,
    class_id: str,
    stamp: float,
    confidence: float,
    position: Sequence[float],
    quaternion: Sequence[float],
    world_T_frame: Array,
    size: Sequence[float] = (0.0, 0.0, 0.0),
    covariance: Sequence[float] = (),
) -> Detection | Defect:
    """Build a detection from the raw numbers of a detector.

    Args:
        class_id: what the detector calls the object; empty is a defect.
        stamp: time of the image [s].
        confidence: 0..1; values outside are clipped.
        position: of the object's centre in the detector's frame [m].
        quaternion: x, y, z, w in the detector's frame.
        world_T_frame: 4x4 pose of the detector's frame in the world.
        size: edge lengths of the bounding box [m]; zeros: unknown.
        covariance: 36 numbers in the detector's frame; empty or of another length: unknown.

    Returns:
        The detection, or why it cannot be used.
    """
    if not class_id:
        return Defect.NO_CLASS
    if not (np.all(np.isfinite([stamp, confidence])) and np.all(np.isfinite(size))):
        return Defect.NOT_FINITE
    if min(size) < 0.0:
        return Defect.BAD_SIZE
    frame_T_object = pose_matrix(position, quaternion)
    if isinstance(frame_T_object, Defect):
        return frame_T_object
    return Detection(
        class_id=class_id,
        stamp=float(stamp),
        confidence=float(np.clip(confidence, 0.0, 1.0)),
        world_T_object=frozen(world_T_frame @ frame_T_object),
        size=(float(size[0]), float(size[1]), float(size[2])),
        covariance=_rotated_covariance(covariance, world_T_frame[:3, :3]),
    )


def _rotated_covariance(covariance: Sequence[float], world_R_frame: Array) -> tuple[float, ...]:
    values = np.asarray(covariance, dtype=np.float64)
    if values.size != 36 or not np.all(np.isfinite(values)):
        return (0.0,) * 36
    rotation = np.zeros((6, 6))
    rotation[:3, :3] = rotation[3:, 3:] = world_R_frame
    turned = rotation @ values.reshape(6, 6) @ rotation.T
    return tuple(turned.ravel().tolist())
