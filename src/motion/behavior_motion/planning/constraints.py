# SPDX-License-Identifier: Apache-2.0
"""The path constraint in action: an axis of a frame within a cone about a direction."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from behavior_motion.checks import Vector
from behavior_motion.interruption import check_interrupted
from behavior_motion.kinematics.inverse import InverseKinematics
from behavior_motion.planning.options import OrientationConstraint

INNER = 0.7
"""States are brought to within this part of the tolerance, so that lines between them keep it."""


class AxisCone:
    """One orientation constraint of one request, its direction settled."""

    def __init__(
        self, ik: InverseKinematics, constraint: OrientationConstraint, start: Vector
    ) -> None:
        """``ik`` is that of the constrained frame; ``start`` gives a direction left open."""
        self._ik = ik
        self._axis = np.asarray(constraint.axis, dtype=np.float64)
        if constraint.direction is None:
            turned = ik.robot.forward_kinematics(start, ik.frame)[:3, :3] @ self._axis
            constraint = replace(constraint, direction=tuple(turned.tolist()))
        self.constraint = constraint
        """The constraint with its direction."""
        self._direction = np.asarray(constraint.direction, dtype=np.float64)

    def angle(self, q: Vector) -> float:
        """Angle between axis and direction at joints ``q`` [rad]."""
        check_interrupted()
        axis = self._ik.robot.forward_kinematics(q, self._ik.frame)[:3, :3] @ self._axis
        sine = float(np.linalg.norm(np.cross(axis, self._direction)))
        return math.atan2(sine, float(axis @ self._direction))

    def holds(self, q: Vector, slack: float = 0.0) -> bool:
        """True where the angle is within the tolerance and ``slack`` [rad]."""
        return self.angle(q) <= self.constraint.tolerance + slack

    def inner(self, states: Iterable[Vector]) -> float:
        """Angle to project to [rad]: well within the tolerance, but no tighter than the states."""
        return max(INNER * self.constraint.tolerance, *(self.angle(q) for q in states))

    def project(self, q: Vector, limit: float, bounds: tuple[Vector, Vector]) -> bool:
        """Bring ``q`` in place to within ``limit`` [rad] by a small motion; False: not possible."""
        return self._ik.aligned(
            q, axis=self._axis, direction=self._direction, limit=limit, bounds=bounds
        )
