# SPDX-License-Identifier: Apache-2.0
"""What a reach is asked for, and what of it cannot be."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from behavior_motion import ApproachParams, RobotModel
from behavior_skills.goal_checks import check_not_negative, check_scaling, invalid
from behavior_skills.interfaces import Array

ANY_ORIENTATION = math.pi
"""[rad] tolerance from which on no orientation is wrong."""
ANYTHING = "*"
"""Of `may_touch`: any object."""
STAND_OFF = 0.5
"""[m] longest approach."""


@dataclass(frozen=True, slots=True)
class ReachTarget:
    """Where the target is now."""

    base_T_target: Array
    """4x4 [m]; of a position alone, its orientation has no meaning."""
    base_R_frame: Array
    """Axes of the frame that it was given in, 3x3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRequest:
    """How to go there; 0 means the skill's default, where nothing else is said."""

    target: Callable[[], ReachTarget]
    """Newest; raises `SkillFailure` TARGET_LOST, UNKNOWN_FRAME or INVALID_REQUEST."""
    position_only: bool = False
    approach: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m] direction of travel of the last part in the axes of the target's frame; zeros: any."""
    approach_along_tool: bool = False
    """`approach` is in the axes of the target pose."""
    approach_std_dev: float = 0.0
    """[m]"""
    feel: bool = False
    smooth: bool = False
    posture: tuple[float, ...] = ()
    """[rad]"""
    may_touch: tuple[str, ...] = ()
    obstacles_off: tuple[str, ...] = ()
    obstacles_on: tuple[str, ...] = ()
    min_distance: float = 0.0
    """[m]"""
    position_tolerance: float = 0.0
    """[m]"""
    orientation_tolerance: float = 0.0
    """[rad]"""
    hold: bool = False
    local_only: bool = False
    max_linear_velocity: float = 0.0
    """[m/s]"""
    velocity_scaling: float = 0.0
    acceleration_scaling: float = 0.0
    timeout: float = 0.0
    """[s]; 0: the skill's default, none where it holds."""

    def check(self, robot: RobotModel) -> None:
        """Raise INVALID_REQUEST where something cannot be."""
        check_scaling(self, "velocity_scaling", "acceleration_scaling")
        check_not_negative(
            self,
            "approach_std_dev",
            "min_distance",
            "position_tolerance",
            "orientation_tolerance",
            "max_linear_velocity",
            "timeout",
        )
        if self.posture and len(self.posture) != robot.dof:
            raise invalid(
                f"posture has {len(self.posture)} entries; give {robot.dof} [rad], one for each "
                "joint of the arm, or none"
            )
        length = math.hypot(*self.approach)
        if 0.0 < length < 1e-6 or length > STAND_OFF:
            raise invalid(
                f"approach is {length:g} m long, give at most {STAND_OFF} m, or 0 0 0 to go "
                "straight to the target"
            )
        if self.position_only and self.approach_along_tool:
            raise invalid(
                "approach_along_tool needs the axes of a target pose, position has none; give "
                "approach in the target's frame"
            )
        for name in ("may_touch", "obstacles_off", "obstacles_on"):
            if not all(getattr(self, name)):
                raise invalid(f"{name} holds an empty name; name objects, or give * for any")

    def way_in(self, target: ReachTarget, std_dev: float) -> ApproachParams | None:
        """The funnel before the target, or None: straight."""
        if not any(self.approach):
            return None
        turned = self.approach_along_tool
        axes = target.base_T_target[:3, :3] if turned else target.base_R_frame
        return ApproachParams(axes @ np.array(self.approach), self.approach_std_dev or std_dev)

    def switched_off(self, names: Iterable[str]) -> list[str]:
        """Which objects are no obstacles."""
        return sorted(
            name
            for name in names
            if _matches(name, self.obstacles_off) and not _matches(name, self.obstacles_on)
        )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
