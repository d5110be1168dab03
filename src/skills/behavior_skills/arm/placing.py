# SPDX-License-Identifier: Apache-2.0
"""What every way to put an object down has in common.

select -> reach -> approach -> release -> retreat -> verify. While the arm moves, the grip is
watched. The way back is planned before the object is let go, with the fingers open: an object that
the hand could not leave is not let go.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from behavior_motion import OrientationConstraint, PlanOptions
from behavior_skills.arm.context import Skill
from behavior_skills.arm.grip import Grip
from behavior_skills.goal_checks import planning_budget
from behavior_skills.interfaces import Array, FailureCode, HeldObject, ObjectView, SkillFailure
from behavior_skills.sentences import sentence

APPROACH_SHARE = 0.8
"""Of the speed near objects: what is held shall not be shaken."""

W = TypeVar("W")
"""How the object is brought, and how the hand leaves it."""


@dataclass(frozen=True, slots=True)
class PlacingParameters:
    """Lengths [m] and times [s]."""

    release_opening: float = 0.03
    """Fingers open this much more than the object is thick before the hand leaves."""
    settle_time: float = 0.5
    """The object is looked at this long after it was let go."""
    verify_timeout: float = 3.0
    planning_time: float = 1.0


@dataclass
class Placing(Skill, abc.ABC, Generic[W]):
    """One place; call :meth:`run`."""

    parameters: PlacingParameters = field(default_factory=PlacingParameters, kw_only=True)
    _grip: Grip = field(init=False)

    def __post_init__(self) -> None:
        self._grip = Grip(self.context)

    def run(self) -> Array:
        """Put the object down.

        Returns:
            Where it rests: base_T_object, 4x4.

        Raises:
            SkillFailure: with one of Place's result codes.
            Cancelled: the client cancelled; the arm stands, and the scene knows what is held.
        """
        self.goal_context.feedback("select", 0.0)
        self._validate()
        held, obj = self._grip.held(self._wanted())
        with planning_budget():
            way = self._choose(held, obj)
        try:
            self._carry(held, way)
        except SkillFailure as failure:
            if failure.failure is FailureCode.OBJECT_LOST:
                self._grip.drop(held, sentence(str(failure)))
            raise
        self.goal_context.feedback("release", 0.65)
        released_at = self._grip.release(held, self._opening(held))
        with self._grip.after_release():
            self._leave(way)
            self._grip.open_wide()
            self.goal_context.feedback("verify", 0.95)
            return self._verify(held.name, way, released_at)

    @abc.abstractmethod
    def _validate(self) -> None:
        """Raise `SkillFailure` for what can be seen to be wrong at once."""

    @abc.abstractmethod
    def _wanted(self) -> str:
        """Name of the object; empty: whichever is held."""

    @abc.abstractmethod
    def _choose(self, held: HeldObject, obj: ObjectView) -> W:
        """Where to put it, with all motions; raises `SkillFailure`."""

    @abc.abstractmethod
    def _carry(self, held: HeldObject, way: W) -> None:
        """Bring it there; raises `SkillFailure`, OBJECT_LOST where it left the gripper."""

    @abc.abstractmethod
    def _leave(self, way: W) -> None:
        """Take the hand away from it."""

    @abc.abstractmethod
    def _verify(self, name: str, way: W, released_at: float) -> Array:
        """Where it is seen to rest; raises `SkillFailure` NOT_PLACED."""

    def _opening(self, held: HeldObject) -> float:
        """Gap at which the object is let go [m]."""
        return min(held.width + self.parameters.release_opening, self.robot.gripper.open_width)

    @property
    def _slow(self) -> float:
        """Speed of the tool near objects, with one in the hand [m/s]."""
        return APPROACH_SHARE * self.speeds.approach

    def _options(
        self,
        *,
        width: float,
        tool_speed: float | None = None,
        velocity_scaling: float = 0.0,
        upright: OrientationConstraint | None = None,
        seed: int | None = None,
    ) -> PlanOptions:
        return PlanOptions(
            max_velocity_scaling_factor=velocity_scaling or self.speeds.free,
            max_acceleration_scaling_factor=self.speeds.acceleration,
            allowed_planning_time=self.parameters.planning_time,
            gripper_width=width,
            max_cartesian_speed=tool_speed,
            path_constraints=upright,
            seed=seed,
        )
