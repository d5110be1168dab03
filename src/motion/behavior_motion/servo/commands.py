# SPDX-License-Identifier: Apache-2.0
"""What a reactive controller is told: where to bring the tool, and how to come in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_motion.checks import Matrix, Vector, as_pose, as_position, positive
from behavior_motion.errors import ErrorCode, MotionError


@dataclass(frozen=True, eq=False)
class ApproachParams:
    """A funnel about the last part of the way to a target.

    Far from the axis through the target along ``direction``, or misoriented, the tool is sent to a
    stand-off ``direction`` before the target; on the axis it slides in. With the offset
    ``v = p_tool - p_target`` and the unit axis ``n``::

        deviation = |v - (v . n) n| + |R_target - R_tool|_F / 6
        p = p_target - (1 - exp(-deviation^2 / (2 std_dev^2))) direction

    Source: the approach funnel of NVIDIA Isaac Cortex's motion commander (`ApproachParams`).
    """

    direction: Vector
    """Direction of travel in the base frame; its length is the stand-off, (3,) [m]."""
    std_dev: float
    """Width of the funnel [m]: at this deviation 39 % of the stand-off is kept."""

    def __post_init__(self) -> None:
        direction = as_position("ApproachParams.direction", self.direction)
        if np.linalg.norm(direction) < 1e-9:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                "ApproachParams.direction: a vector with a direction wanted, got zero; leave the "
                "approach away to go straight to the target",
            )
        direction.flags.writeable = False
        object.__setattr__(self, "direction", direction)
        positive("ApproachParams.std_dev", self.std_dev)

    def deviation(self, tool: Matrix, target: Matrix) -> float:
        """How far the tool is off the axis, its misorientation counted as a length [m]."""
        axis = self.direction / np.linalg.norm(self.direction)
        offset = tool[:3, 3] - target[:3, 3]
        beside = float(np.linalg.norm(offset - (offset @ axis) * axis))
        return beside + float(np.linalg.norm(target[:3, :3] - tool[:3, :3])) / 6.0

    def shifted(self, tool: Matrix, target: Matrix) -> Matrix:
        """Where to send the tool now (4x4), both poses in the base frame."""
        ratio = self.deviation(tool, target) / self.std_dev
        shifted = np.array(target)
        shifted[:3, 3] -= (1.0 - np.exp(-0.5 * ratio * ratio)) * self.direction
        return shifted


@dataclass(frozen=True, eq=False)
class MotionCommand:
    """Bring the tool to a pose, or its centre to a position with its orientation kept."""

    pose: Matrix | None = None
    """Target (4, 4) in the base frame; exclusive with ``position``."""
    position: Vector | None = None
    """Target (3,) in the base frame [m]; the tool keeps the orientation it has."""
    approach: ApproachParams | None = None
    """How to come in; None: straight."""
    posture: Vector | None = None
    """Joints that redundant arms come as close to as the target lets them, (dof,); None: none."""

    def __post_init__(self) -> None:
        if (self.pose is None) == (self.position is None):
            raise MotionError(
                ErrorCode.INVALID_OPTION, "MotionCommand: give either pose or position"
            )
        if self.pose is not None:
            object.__setattr__(self, "pose", as_pose("MotionCommand.pose", self.pose))
        if self.position is not None:
            position = as_position("MotionCommand.position", self.position)
            object.__setattr__(self, "position", position)

    def target(self, tool: Matrix) -> Matrix:
        """The pose commanded, for a tool at ``tool``, before any approach."""
        if self.pose is not None:
            return np.array(self.pose)
        result = np.array(tool)
        result[:3, 3] = self.position
        return result
