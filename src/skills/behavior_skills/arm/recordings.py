# SPDX-License-Identifier: Apache-2.0
"""Recorded trajectories as CSV files.

First line: ``time`` and the names of joints; further lines: seconds and positions [rad]. Columns
of joints that the arm does not have are left out, such as those of the fingers.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from behavior_motion import Trajectory


class RecordingError(ValueError):
    """A recording cannot be used; the message names file and line and says why."""


def read_recording(directory: str, name: str, joint_names: tuple[str, ...]) -> Trajectory:
    """A recording as a trajectory that rests at both ends.

    Args:
        directory: that recordings may be taken from.
        name: of the file in it, without any path.
        joint_names: of the arm.

    Raises:
        RecordingError: no such file, or it does not hold a trajectory of the arm.
    """
    if not directory:
        raise RecordingError(
            f"Recording '{name}' is wanted, but the parameter recording_directory is empty. Set it "
            "to the folder with the recordings."
        )
    if Path(name).name != name or name in ("", ".", ".."):
        raise RecordingError(f"'{name}' must be the name of a file in {directory}, not a path.")
    path = Path(directory) / name
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordingError(f"{path} cannot be read: {error}.") from error
    return _trajectory(path, lines, joint_names)


def _trajectory(path: Path, lines: list[list[str]], joint_names: tuple[str, ...]) -> Trajectory:
    header = [cell.strip() for cell in lines[0]] if lines else []
    missing = [column for column in ("time", *joint_names) if column not in header]
    if missing:
        raise RecordingError(f"{path}, line 1: columns {', '.join(missing)} are missing.")
    columns = [header.index(column) for column in ("time", *joint_names)]
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in line):
            continue
        try:
            rows.append([float(line[column]) for column in columns])
        except (ValueError, IndexError):
            raise RecordingError(
                f"{path}, line {number}: {len(header)} numbers are wanted, not {','.join(line)!r}."
            ) from None
    values = np.array(rows, dtype=np.float64)
    if len(values) < 2:
        raise RecordingError(f"{path}: at least two lines of numbers are wanted.")
    times, positions = values[:, 0], values[:, 1:]
    if not np.all(np.isfinite(values)) or np.any(np.diff(times) <= 0.0):
        raise RecordingError(f"{path}: times must rise from line to line, all numbers be finite.")
    velocities = np.gradient(positions, times, axis=0)
    velocities[[0, -1]] = 0.0
    return Trajectory(
        joint_names, times - times[0], positions, velocities, np.zeros_like(positions)
    )
