# SPDX-License-Identifier: Apache-2.0
"""Whether an object is in the gripper: by the fingers, by where it is, by its rise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import wait_for
from behavior_skills.arm.grip import LEAST_GAP
from behavior_skills.goal_checks import invalid
from behavior_skills.interfaces import (
    FailureCode,
    SkillFailure,
)

WIDTH_TOLERANCE = 0.008
"""[m] between the fingers' gap and the object's thickness."""
IN_HAND = 0.03
"""[m] beyond its own half diagonal that an object may be from the tool."""
PATIENCE = 1.5
"""[s]"""
MOST_PATIENCE = 10.0
"""[s]"""


@dataclass(frozen=True, slots=True)
class GraspCheckRequest:
    """What is to be checked; lengths [m], times [s]."""

    name: str
    width: float = 0.0
    """Thickness between the fingers; 0: not known."""
    height: float = 0.0
    """Of the object's centre in the base frame before it was lifted."""
    rise: float = 0.0
    """By which it must be seen above that; 0: need not."""
    patience: float = 0.0
    """0: the default."""


@dataclass
class GraspCheck(Skill):
    """One check; call :meth:`run`."""

    request: GraspCheckRequest
    gap: float = 0.0
    """Between the fingers [m]."""
    height: float = 0.0
    """Of the object's centre in the base frame [m]."""

    def run(self) -> None:
        """Check.

        Raises:
            SkillFailure: INVALID_REQUEST, UNKNOWN_OBJECT, or NOT_GRASPED and why.
        """
        self._validate()
        since = self.goal_context.now()
        problem: str | None = None

        def in_hand() -> bool:
            nonlocal problem
            problem = self._problem(since)
            return problem is None

        if not wait_for(self.goal_context, in_hand, self.request.patience or PATIENCE):
            raise SkillFailure(
                FailureCode.NOT_GRASPED, f"'{self.request.name}' is not grasped: {problem}."
            )

    def _validate(self) -> None:
        request = self.request
        numbers = (request.width, request.rise, request.patience)
        proper = all(math.isfinite(n) and n >= 0.0 for n in numbers)
        if not proper or not math.isfinite(request.height) or request.patience > MOST_PATIENCE:
            raise invalid(
                "width, rise and patience must be numbers not below 0, patience at most "
                f"{MOST_PATIENCE:g} s, height a number"
            )
        known = self.scene.objects()
        obj = known.get(request.name)
        if obj is None or obj.state is ObjectState.LOST:
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"'{request.name[:100]}' is not in the scene. Known are {sorted(known)}.",
            )

    def _problem(self, since: float) -> str | None:
        """What speaks against it now, or None."""
        request, state = self.request, self.arm.state()
        self.gap = state.width
        obj = self.scene.objects().get(request.name)
        if obj is None or obj.state is ObjectState.LOST:
            return "it is not seen any more"
        self.height = float(obj.base_T_object[2, 3])
        if state.width < LEAST_GAP:
            return f"the fingers are shut (gap {1e3 * state.width:.1f} mm)"
        if request.width and abs(state.width - request.width) > WIDTH_TOLERANCE:
            return (
                f"the gap is {1e3 * state.width:.1f} mm, but it is {1e3 * request.width:.1f} mm "
                "thick"
            )
        tool = self.robot.forward_kinematics(state.q)
        away = float(np.linalg.norm(obj.base_T_object[:3, 3] - tool[:3, 3]))
        if away > float(np.linalg.norm(obj.half_extents)) + IN_HAND:
            return f"its centre is {away:.3f} m from the tool"
        if request.rise and (obj.last_seen < since or self.height - request.height <= request.rise):
            risen = 1e3 * (self.height - request.height)
            return f"it has risen by {risen:.0f} mm, not by {1e3 * request.rise:.0f} mm"
        return None
