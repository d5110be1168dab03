# SPDX-License-Identifier: Apache-2.0
"""Validation of arguments: every error names the argument, what came and what was wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.interruption import check_interrupted
from behavior_motion.limits import FARTHEST, LARGEST, LEAST_SCALING, THINNEST

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

QUATERNION_TOLERANCE = 1e-3
"""How far the length of a quaternion may be from 1: rounding, not mistakes."""


def as_vector(
    name: str,
    value: ArrayLike,
    size: int,
    *,
    code: ErrorCode = ErrorCode.INVALID_OPTION,
    remedy: str = "",
) -> Vector:
    """Copy of ``value`` as ``size`` finite float64 numbers.

    Args:
        name: Of the argument, for the error.
        value: What came.
        size: How many numbers are wanted.
        code: Of the error where there are not as many.
        remedy: What to do then.

    Raises:
        MotionError: ``code``, or NOT_FINITE.
    """
    check_interrupted()
    hint = f"; {remedy}" if remedy else ""
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MotionError(code, f"{name}: {size} numbers wanted, got {value!r}{hint}") from error
    if vector.shape != (size,):
        raise MotionError(code, f"{name}: shape ({size},) wanted, got {vector.shape}{hint}")
    if not np.all(np.isfinite(vector)):
        raise MotionError(
            ErrorCode.NOT_FINITE,
            f"{name}: contains NaN or infinity: {vector.tolist()}; give finite numbers",
        )
    return vector


def as_joints(name: str, value: ArrayLike, joint_names: tuple[str, ...]) -> Vector:
    """Copy of ``value`` as one number per joint.

    Raises:
        MotionError: INVALID_JOINT_COUNT or NOT_FINITE.
    """
    return as_vector(
        name,
        value,
        len(joint_names),
        code=ErrorCode.INVALID_JOINT_COUNT,
        remedy=f"give one number per joint, in the order {', '.join(joint_names)}",
    )


def as_pose(name: str, value: ArrayLike) -> Matrix:
    """Copy of ``value`` as a 4x4 rigid transform.

    The rotation may be off by 1e-3 (rounded quaternions); it is made exactly orthonormal.

    Raises:
        MotionError: INVALID_POSE or NOT_FINITE.
    """
    check_interrupted()
    try:
        pose = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MotionError(
            ErrorCode.INVALID_POSE, f"{name}: a 4x4 matrix wanted, got {value!r}"
        ) from error
    if pose.shape != (4, 4):
        raise MotionError(
            ErrorCode.INVALID_POSE,
            f"{name}: shape (4, 4) wanted, got {pose.shape}; make one with pose_matrix",
        )
    if not np.all(np.isfinite(pose)):
        raise MotionError(
            ErrorCode.NOT_FINITE, f"{name}: contains NaN or infinity; give finite numbers"
        )
    if np.abs(pose[:3, 3]).max() > FARTHEST:
        raise MotionError(
            ErrorCode.INVALID_POSE,
            f"{name}: a position within {FARTHEST:g} m wanted, got {pose[:3, 3].tolist()}",
        )
    rotation = pose[:3, :3]
    off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if off > 1e-3 or np.linalg.det(rotation) < 0 or np.abs(pose[3] - (0, 0, 0, 1)).max() > 1e-6:
        raise MotionError(
            ErrorCode.INVALID_POSE,
            f"{name}: not a rigid transform: rotation off by {off:.1e}, last row "
            f"{pose[3].tolist()}; make it with pose_matrix from position and quaternion",
        )
    if off > 1e-12:
        u, _, vt = np.linalg.svd(rotation)
        pose[:3, :3] = u @ vt
    pose[3] = (0.0, 0.0, 0.0, 1.0)
    return pose


def as_position(name: str, value: ArrayLike) -> Vector:
    """Copy of ``value`` as three coordinates [m].

    Raises:
        MotionError: INVALID_OPTION, NOT_FINITE, or INVALID_POSE where it is too far away.
    """
    position = as_vector(name, value, 3)
    if np.abs(position).max() > FARTHEST:
        raise MotionError(
            ErrorCode.INVALID_POSE,
            f"{name}: within {FARTHEST:g} m wanted, got {position.tolist()}",
        )
    return position


def as_poses(name: str, value: ArrayLike) -> list[Matrix]:
    """A list of poses from one 4x4 matrix, a sequence of them or an (N, 4, 4) array."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return [as_pose(name, value)]
    if isinstance(value, (list, tuple)) and len(value) == 4 and np.ndim(value[0]) == 1:
        return [as_pose(name, value)]
    poses = [as_pose(f"{name}[{i}]", pose) for i, pose in enumerate(value)]  # type: ignore[arg-type, unused-ignore]
    if not poses:
        raise MotionError(ErrorCode.INVALID_POSE, f"{name}: at least one pose wanted, got none")
    return poses


def pose_matrix(position: ArrayLike, quaternion: ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> Matrix:
    """A 4x4 pose from a position (3,) [m] and a unit quaternion (x, y, z, w).

    Raises:
        MotionError: NON_UNIT_QUATERNION, NOT_FINITE or INVALID_POSE.
    """
    turn = as_vector("quaternion", quaternion, 4, code=ErrorCode.INVALID_POSE)
    length = float(np.linalg.norm(turn))
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise MotionError(
            ErrorCode.NON_UNIT_QUATERNION,
            f"quaternion: length 1 wanted, got {length:.4g} from {turn.tolist()}; divide it by "
            "its length, and give (0, 0, 0, 1) for no rotation",
        )
    pose = np.eye(4)
    pose[:3, 3] = as_vector("position", position, 3, code=ErrorCode.INVALID_POSE)
    pose[:3, :3] = Rotation.from_quat(turn).as_matrix()
    return pose


def positive(
    name: str,
    value: float,
    code: ErrorCode = ErrorCode.INVALID_OPTION,
    *,
    zero: bool = False,
    at_most: float = np.inf,
) -> float:
    """``value`` as a finite float above zero (or not below it where ``zero``), up to ``at_most``.

    Raises:
        MotionError: ``code``, or NOT_FINITE.
    """
    wanted = "not below zero" if zero else "above zero"
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise MotionError(code, f"{name}: a number {wanted} wanted, got {value!r}") from error
    if not np.isfinite(number):
        raise MotionError(
            ErrorCode.NOT_FINITE, f"{name}: a finite number {wanted} wanted, got {value!r}"
        )
    if number < 0 or (number == 0 and not zero):
        raise MotionError(code, f"{name}: a number {wanted} wanted, got {value!r}")
    if number > at_most:
        raise MotionError(code, f"{name}: at most {at_most:g} wanted, got {number:g}")
    return number


def at_most(name: str, count: int, most: int) -> int:
    """``count`` where there are not too many.

    Raises:
        MotionError: INVALID_OPTION.
    """
    if count > most:
        raise MotionError(ErrorCode.INVALID_OPTION, f"{name}: at most {most} wanted, got {count}")
    return count


def check_coordinates(name: str, points: NDArray[np.float64]) -> None:
    """Refuse points [m], of any shape, that no geometry can be made of.

    Raises:
        MotionError: NOT_FINITE, or INVALID_GEOMETRY where they are too far away.
    """
    if not np.all(np.isfinite(points)):
        raise MotionError(
            ErrorCode.NOT_FINITE, f"{name}: contains NaN or infinity; drop such points"
        )
    farthest = float(np.abs(points).max(initial=0.0))
    if farthest > LARGEST:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY,
            f"{name}: coordinates up to {LARGEST:g} wanted, got {farthest:g}; give them in metres",
        )


def check_corners(name: str, points: NDArray[np.float64], *, convex: bool) -> None:
    """Refuse points (N, 3) [m] that cannot be a mesh's corners.

    Args:
        name: of the mesh, for the error.
        points: the corners, scaled.
        convex: whether they stand for their hull, which must have a volume.

    Raises:
        MotionError: NOT_FINITE or INVALID_GEOMETRY.
    """
    check_coordinates(name, points)
    if not convex:
        return
    spread, farthest = 0.0, float(np.abs(points).max(initial=0.0))
    if len(points) >= 4:
        across = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        spread = float(across[-1]) / np.sqrt(len(points))
    if spread <= THINNEST * farthest:
        raise MotionError(
            ErrorCode.INVALID_GEOMETRY,
            f"{name}: {len(points)} corners that span no volume; give at least 4 that do not lie "
            "in a plane",
        )


def scaling_factor(name: str, value: float) -> float:
    """``value`` as a fraction in (0, 1].

    Raises:
        MotionError: INVALID_SPEED or NOT_FINITE.
    """
    number = positive(name, value, ErrorCode.INVALID_SPEED)
    if number > 1:
        raise MotionError(
            ErrorCode.INVALID_SPEED,
            f"{name}: a fraction of the limits in (0, 1] wanted, got {value!r}; give 1 for full "
            "speed",
        )
    if number < LEAST_SCALING:
        raise MotionError(
            ErrorCode.INVALID_SPEED,
            f"{name}: a fraction of at least {LEAST_SCALING:g} wanted, got {value!r}",
        )
    return number
