# SPDX-License-Identifier: Apache-2.0
"""Straight lines of a frame through poses, with rounded corners."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.interruption import check_interrupted
from behavior_motion.limits import LONGEST_LINE

TURN_LENGTH = 0.2
"""Metres of path length that one radian of turning counts for."""


class ToolPath:
    """Poses along straight lines between corners, even in position and rotation.

    The path parameter is a length: metres, with a radian counted as ``TURN_LENGTH`` metres. At
    each inner corner the velocity (linear and angular) turns from one line's to the next one's
    with a smooth step over ``rounding`` before and behind it.
    """

    def __init__(self, corners: list[Matrix], rounding: float = 0.02) -> None:
        """Lines from pose to pose (4x4); corners that repeat the one before are dropped.

        Raises:
            MotionError: INVALID_OPTION where they are longer than ``LONGEST_LINE`` together.
        """
        kept = [corners[0]]
        places = []
        for pose in corners[1:]:
            if _length(*_difference(kept[-1], pose)) > 1e-7:
                kept.append(pose)
            places.append(len(kept) - 1)
        self.corners = kept
        steps = [_difference(a, b) for a, b in pairwise(kept)]
        self._sizes = np.array([_length(*step) for step in steps])
        # Velocity of each line per unit of the parameter: linear over angular, base axes.
        self._rates = [
            np.concatenate(step) / size for step, size in zip(steps, self._sizes, strict=True)
        ]
        self._marks = np.concatenate([[0.0], np.cumsum(self._sizes)])
        if self._marks[-1] > LONGEST_LINE:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"waypoints: lines of at most {LONGEST_LINE:g} m together wanted (a radian of "
                f"turning counts as {TURN_LENGTH:g} m), got {self._marks[-1]:.4g} m",
            )
        self.corner_marks: Vector = self._marks[places]
        """Path parameter of every given corner but the first."""
        inner = np.minimum(self._sizes[:-1], self._sizes[1:]) if len(kept) > 2 else np.zeros(0)
        self._radii = np.minimum(rounding, 0.45 * inner)

    def samples(self, step: float = 0.01) -> tuple[Vector, Matrix, Vector]:
        """Path parameter (N,), poses (N, 4, 4) and distance travelled (N,) [m], ends included."""
        if len(self.corners) == 1:
            return np.zeros(1), np.array(self.corners), np.zeros(1)
        knots = [0.0]
        for i in range(len(self._sizes)):
            before = self._radii[i - 1] if i > 0 else 0.0
            behind = self._radii[i] if i < len(self._radii) else 0.0
            start, end = self._marks[i] + before, self._marks[i + 1] - behind
            count = max(2 if len(self._sizes) > 1 else 5, int(np.ceil((end - start) / step)))
            knots.extend(np.linspace(start, end, count + 1)[1:])
            if behind > 0:
                knots.extend(np.linspace(end, end + 2 * behind, 9)[1:])
        marks = np.array(knots)
        poses = np.array([self.pose(u) for u in marks])
        moved = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
        return marks, poses, np.concatenate([[0.0], np.cumsum(moved)])

    def pose(self, u: float) -> Matrix:
        """Pose at path parameter ``u``."""
        check_interrupted()
        line = int(np.searchsorted(self._marks, u))
        for i in range(max(line - 2, 0), min(line + 1, len(self._radii))):
            corner, radius = self._marks[i + 1], self._radii[i]
            if abs(u - corner) < radius:
                # Smooth step of the rate, integrated from the start of the rounding.
                x = (u - corner + radius) / (2 * radius)
                turn = 2 * radius * (x**3 - 0.5 * x**4)
                rate, change = self._rates[i], self._rates[i + 1] - self._rates[i]
                return _moved(self.corners[i + 1], (u - corner) * rate + turn * change)
        i = int(np.clip(np.searchsorted(self._marks, u, side="right") - 1, 0, len(self._sizes) - 1))
        if u >= self._marks[-1]:
            return np.array(self.corners[-1])
        return _moved(self.corners[i], (u - self._marks[i]) * self._rates[i])


def _difference(a: Matrix, b: Matrix) -> tuple[Vector, Vector]:
    """Translation and rotation vector from ``a`` to ``b`` in base axes."""
    turn = Rotation.from_matrix(b[:3, :3] @ a[:3, :3].T).as_rotvec()
    return b[:3, 3] - a[:3, 3], turn


def _length(shift: Vector, turn: Vector) -> float:
    return float(np.hypot(np.linalg.norm(shift), TURN_LENGTH * np.linalg.norm(turn)))


def _moved(pose: Matrix, motion: Vector) -> Matrix:
    result = np.array(pose)
    result[:3, 3] += motion[:3]
    result[:3, :3] = Rotation.from_rotvec(motion[3:]).as_matrix() @ pose[:3, :3]
    return result
