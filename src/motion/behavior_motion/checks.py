# SPDX-License-Identifier: Apache-2.0
"""Validation of arguments: every error names the argument, what came and what was wanted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def as_vector(name: str, value: ArrayLike, size: int) -> Vector:
    """Copy of ``value`` as ``size`` finite float64 numbers, or ``ValueError``."""
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {size} numbers wanted, got {value!r}") from error
    if vector.shape != (size,):
        raise ValueError(f"{name}: shape ({size},) wanted, got {vector.shape}")
    if not np.all(np.isfinite(vector)):
        raise ValueError(f"{name}: contains NaN or infinity: {vector.tolist()}")
    return vector


def as_pose(name: str, value: ArrayLike) -> Matrix:
    """Copy of ``value`` as a 4x4 rigid transform, or ``ValueError``.

    The rotation may be off by 1e-3 (rounded quaternions); it is made exactly orthonormal.
    """
    try:
        pose = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: a 4x4 matrix wanted, got {value!r}") from error
    if pose.shape != (4, 4):
        raise ValueError(f"{name}: shape (4, 4) wanted, got {pose.shape}")
    if not np.all(np.isfinite(pose)):
        raise ValueError(f"{name}: contains NaN or infinity")
    rotation = pose[:3, :3]
    off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if off > 1e-3 or np.linalg.det(rotation) < 0 or np.abs(pose[3] - (0, 0, 0, 1)).max() > 1e-6:
        raise ValueError(
            f"{name}: not a rigid transform: rotation off by {off:.1e}, last row {pose[3].tolist()}"
        )
    if off > 1e-12:
        u, _, vt = np.linalg.svd(rotation)
        pose[:3, :3] = u @ vt
    pose[3] = (0.0, 0.0, 0.0, 1.0)
    return pose


def as_poses(name: str, value: ArrayLike) -> list[Matrix]:
    """A list of poses from one 4x4 matrix, a sequence of them or an (N, 4, 4) array."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return [as_pose(name, value)]
    if isinstance(value, (list, tuple)) and len(value) == 4 and np.ndim(value[0]) == 1:
        return [as_pose(name, value)]
    poses = [as_pose(f"{name}[{i}]", pose) for i, pose in enumerate(value)]  # type: ignore[arg-type, unused-ignore]
    if not poses:
        raise ValueError(f"{name}: at least one pose wanted, got none")
    return poses


def positive(name: str, value: float) -> float:
    """``value`` as a finite float above zero, or ``ValueError``."""
    number = float(value)
    if not np.isfinite(number) or number <= 0:
        raise ValueError(f"{name}: a number above zero wanted, got {value!r}")
    return number


def known(kind: str, name: str, choices: Iterable[str]) -> str:
    """``name`` if it is one of ``choices``; else ``KeyError`` with the nearest and all choices."""
    names = sorted(choices)
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise KeyError(f"{kind}: no such name {name!r}{hint} Known: {', '.join(names) or 'none'}")
