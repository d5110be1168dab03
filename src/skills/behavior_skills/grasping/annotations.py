# SPDX-License-Identifier: Apache-2.0
"""Grasps that somebody has annotated, from files.

Two forms. A NumPy array ``.npy`` with one grasp a row as GraspNet has it (specs/pick_place.md B7):
score, width, height, depth, rotation (9, row by row), position (3), and columns that are not
looked at; the rotation's columns are approach, closing direction and their cross product, and a
lower score is better. Or YAML::

    grasps:
      - {position: [0, 0, 0.02], orientation: [1, 0, 0, 0], width: 0.04, score: 0.1}

with the pose of the tool in the object's frame (quaternion x y z w).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from behavior_skills.interfaces import Array

COLUMNS = 16


class AnnotationError(ValueError):
    """A file of grasps cannot be used; the message names it and says why."""


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
        scale: of the object against the one that was annotated; lengths are multiplied by it.
        tcp_offset: distance of the tool frame before the point that depths count from [m].

    Raises:
        AnnotationError: no such file, or no grasps in it.
    """
    if not directory:
        raise AnnotationError(
            f"Grasps of '{name}' are wanted, but the parameter grasp_directory is empty. Set it "
            "to the folder with the files of grasps."
        )
    if Path(name).name != name or name in ("", ".", ".."):
        raise AnnotationError(f"'{name}' must be the name of a file in {directory}, not a path.")
    path = Path(directory) / name
    try:
        read = _from_array if path.suffix == ".npy" else _from_yaml
        grasps = read(path, scale, tcp_offset)
    except OSError as error:
        raise AnnotationError(f"Grasps cannot be read from {path}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise AnnotationError(f"{path} does not hold grasps: {error}.") from error
    if not grasps:
        raise AnnotationError(f"{path} holds no grasps.")
    return [turned for grasp in grasps for turned in (grasp, _rolled(grasp))]


def _from_array(path: Path, scale: float, tcp_offset: float) -> list[AnnotatedGrasp]:
    rows = np.load(path, allow_pickle=False)
    if rows.ndim != 2 or rows.shape[1] < COLUMNS:
        raise ValueError(
            f"rows of at least {COLUMNS} numbers are wanted, its shape is {rows.shape}"
        )
    rows = rows[:, :COLUMNS].astype(np.float64)
    if not np.all(np.isfinite(rows)):
        raise ValueError("it holds numbers that are not finite")
    return [_from_row(row, scale, tcp_offset) for row in rows]


def _from_row(row: Array, scale: float, tcp_offset: float) -> AnnotatedGrasp:
    rotation = row[4:13].reshape(3, 3)
    if not np.allclose(rotation.T @ rotation, np.eye(3), atol=1e-3):
        raise ValueError("one of the rotations is none")
    approach, closing = rotation[:, 0], rotation[:, 1]
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([np.cross(closing, approach), closing, approach])
    pose[:3, 3] = row[13:16] * scale + approach * (row[3] * scale - tcp_offset)
    return AnnotatedGrasp(pose, float(row[1] * scale), float(row[0]))


def _from_yaml(path: Path, scale: float, tcp_offset: float) -> list[AnnotatedGrasp]:
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))["grasps"]
    return [_from_entry(entry, scale, tcp_offset) for entry in entries]


def _from_entry(entry: dict[str, Any], scale: float, tcp_offset: float) -> AnnotatedGrasp:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(_numbers(entry["orientation"], 4)).as_matrix()
    pose[:3, 3] = np.array(_numbers(entry["position"], 3)) * scale - pose[:3, 2] * tcp_offset
    width, score = _numbers([entry.get("width", 0.0), entry.get("score", 0.0)], 2)
    return AnnotatedGrasp(pose, width * scale, score)


def _numbers(values: Sequence[Any], count: int) -> list[float]:
    numbers = [float(value) for value in values]
    if len(numbers) != count or not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"{count} finite numbers are wanted, not {values}")
    return numbers


def _rolled(grasp: AnnotatedGrasp) -> AnnotatedGrasp:
    pose = grasp.object_T_tool.copy()
    pose[:3, :2] = -pose[:3, :2]
    return AnnotatedGrasp(pose, grasp.width, grasp.score)
