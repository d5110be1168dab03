# SPDX-License-Identifier: Apache-2.0
"""Grasps that somebody has annotated, from files.

Two forms. A NumPy array ``.npy`` with one grasp a row as GraspNet-1Billion's API has it:
score, opening of the fingers, height, depth, rotation (9, row by row), position (3), and columns
that are not looked at; the rotation's columns are approach, closing direction and their cross
product, and a lower score is better. Or YAML::

    grasps:
      - {position: [0, 0, 0.02], orientation: [1, 0, 0, 0], width: 0.04, score: 0.1}

with the pose of the tool in the object's frame (quaternion x y z w) and the thickness of the object
between the fingers. A scale moves the positions; how deep the fingers reach beyond them is the
gripper's affair and does not grow with the object.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from scipy.spatial.transform import Rotation

from behavior_motion import check_interrupted
from behavior_packages.bounded_yaml import read_yaml
from behavior_packages.validation import faults
from behavior_skills.interfaces import Array
from behavior_skills.sentences import joined

COLUMNS = 16
MOST_BYTES = 32 * 2**20
"""Size of a file."""
MOST_GRASPS = 20_000
"""Grasps in a file."""
FARTHEST = 100.0
"""[m] of a grasp from the object's origin."""
ROTATION_TOLERANCE = 1e-3
"""Of the products of a rotation's columns, and of a quaternion's norm."""


class AnnotationError(ValueError):
    """A file of grasps cannot be used; the message names it and the grasp, and says why."""


@dataclass(frozen=True, slots=True)
class AnnotatedGrasp:
    """One grasp; the tool's z is the approach, its y the axis on which the fingers close."""

    object_T_tool: Array
    """4x4 [m]."""
    width: float
    """Thickness of the object between the fingers [m]; 0: not known."""
    score: float
    """Lower is better."""


def read_grasps(
    directory: str, name: str, *, scale: float, tcp_offset: float
) -> list[AnnotatedGrasp]:
    """The grasps of a file, each also turned by 180 degrees about its approach.

    Args:
        directory: that files may be taken from.
        name: of the file in it, without any path.
        scale: of the object against the one that was annotated; positions are multiplied by it.
        tcp_offset: distance of the tool frame before the point that depths count from [m].

    Raises:
        AnnotationError: no such file, no grasps in it, or one that is none.
    """
    if not directory:
        raise AnnotationError(
            f"Grasps of '{name}' are wanted, but the parameter grasp_directory is empty. Set it "
            "to the folder with the files of grasps."
        )
    if Path(name).name != name or name in ("", ".", ".."):
        raise AnnotationError(f"'{name}' must be the name of a file in {directory}, not a path.")
    path = Path(directory) / name
    read = _READERS.get(path.suffix)
    if read is None:
        hint = " Save the archive's one array with numpy.save." if path.suffix == ".npz" else ""
        raise AnnotationError(
            f"'{name}' is no file of grasps: give one that ends with {', '.join(_READERS)}.{hint}"
        )
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise AnnotationError(f"{path} has {size} bytes, at most {MOST_BYTES} are read.")
        grasps = read(path, scale, tcp_offset)
    except OSError as error:
        raise AnnotationError(f"Grasps cannot be read from {path}: {error.strerror}.") from error
    if not grasps:
        raise AnnotationError(f"{path} holds no grasps.")
    return [turned for grasp in grasps for turned in (grasp, _rolled(grasp))]


# ---------------------------------------------------------------------- arrays


def _from_array(path: Path, scale: float, tcp_offset: float) -> list[AnnotatedGrasp]:
    rows = _checked_rows(path)
    rotations = rows[:, 4:13].reshape(-1, 3, 3)
    approach, closing = rotations[:, :, 0], rotations[:, :, 1]
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :3] = np.stack([np.cross(closing, approach), closing, approach], axis=2)
    poses[:, :3, 3] = rows[:, 13:16] * scale + approach * (rows[:, 3] - tcp_offset)[:, None]
    # The opening that was annotated tells how wide to open, not how thick the object is.
    return [
        AnnotatedGrasp(pose, 0.0, score)
        for pose, score in zip(poses, rows[:, 0].tolist(), strict=True)
    ]


def _checked_rows(path: Path) -> Array:
    """The rows, shape (n, 16), all of them proper grasps; raises `AnnotationError`."""
    rows = _load(path)
    if rows.dtype.kind == "c":
        raise AnnotationError(f"{path} holds complex numbers; save real ones.")
    if rows.dtype.kind not in "fiu":
        raise AnnotationError(f"{path} holds {rows.dtype.name}, not numbers.")
    if rows.ndim != 2 or (len(rows) and rows.shape[1] < COLUMNS):
        raise AnnotationError(
            f"{path} must hold rows of at least {COLUMNS} numbers; its shape is {rows.shape}."
        )
    _check_count(path, len(rows))
    if not len(rows):
        return np.empty((0, COLUMNS))
    rows = rows[:, :COLUMNS].astype(np.float64)
    columns = rows[:, 4:13].reshape(-1, 3, 3)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(columns.transpose(0, 2, 1) @ columns - np.eye(3)).max(axis=(1, 2))
        _check(path, np.isfinite(rows).all(axis=1), "holds numbers that are not finite")
        _check(path, off <= ROTATION_TOLERANCE, "has a rotation whose columns are not orthonormal")
    _check(
        path,
        np.linalg.det(columns) > 0.0,
        "has a mirrored rotation (determinant -1); its third column must be the cross product of "
        "the first two",
    )
    _check(path, rows[:, 1] >= 0.0, "has a negative width")
    _check(path, np.abs(rows[:, [3, 13, 14, 15]]).max(axis=1) <= FARTHEST, "is too far away")
    return rows


def _load(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        if file.peek(2)[:2] == b"PK":
            raise AnnotationError(
                f"{path} is an archive of arrays (.npz); save its one array with numpy.save."
            )
        try:
            return np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError, MemoryError) as error:
            why = "it is no NumPy array of numbers" if path.stat().st_size else "it is empty"
            raise AnnotationError(f"{path} does not hold grasps: {why}.") from error


def _check(path: Path, good: np.ndarray, problem: str) -> None:
    """Raise an `AnnotationError` about the first row that is not good."""
    if not good.all():
        row = int(np.argmin(good))
        raise AnnotationError(f"Row {row} of {path} (the first is row 0) {problem}.")


def _check_count(path: Path, count: int) -> None:
    if count > MOST_GRASPS:
        raise AnnotationError(f"{path} holds {count} grasps, at most {MOST_GRASPS} are read.")


# ---------------------------------------------------------------------- YAML


def _from_yaml(path: Path, scale: float, tcp_offset: float) -> list[AnnotatedGrasp]:
    try:
        content = read_yaml(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise AnnotationError(joined([f"{path} is not YAML: {error}"])) from error
    entries = content.get("grasps") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise AnnotationError(f"{path} must hold a list under the key grasps.")
    _check_count(path, len(entries))
    grasps = []
    for number, entry in enumerate(entries):
        check_interrupted()
        try:
            grasps.append(_from_entry(entry, scale, tcp_offset))
        except ValueError as error:
            raise AnnotationError(
                joined([f"Grasp {number} of {path} (the first is grasp 0): {error}"])
            ) from error
    return grasps


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    position: Annotated[list[FiniteFloat], Field(min_length=3, max_length=3)]
    orientation: Annotated[list[FiniteFloat], Field(min_length=4, max_length=4)]
    width: Annotated[FiniteFloat, Field(ge=0.0, le=FARTHEST)] = 0.0
    score: FiniteFloat = 0.0


def _from_entry(entry: Any, scale: float, tcp_offset: float) -> AnnotatedGrasp:
    if not isinstance(entry, dict):
        raise ValueError("position and orientation are wanted, by name")
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        raise ValueError("; ".join(faults(error, "it"))) from error
    norm = math.hypot(*read.orientation)
    if abs(norm - 1.0) > 10 * ROTATION_TOLERANCE:
        raise ValueError(f"orientation is a quaternion of norm {norm:.3g}, not 1")
    if math.hypot(*read.position) > FARTHEST:
        raise ValueError("it is too far away")
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(read.orientation).as_matrix()
    pose[:3, 3] = np.array(read.position) * scale - pose[:3, 2] * tcp_offset
    return AnnotatedGrasp(pose, read.width * scale, read.score)


def _rolled(grasp: AnnotatedGrasp) -> AnnotatedGrasp:
    pose = grasp.object_T_tool.copy()
    pose[:3, :2] = -pose[:3, :2]
    return AnnotatedGrasp(pose, grasp.width, grasp.score)


_READERS: dict[str, Callable[[Path, float, float], list[AnnotatedGrasp]]] = {
    ".npy": _from_array,
    ".yaml": _from_yaml,
    ".yml": _from_yaml,
}
