# SPDX-License-Identifier: Apache-2.0
"""Skills as servers: a table that packages extend.

A package offers skills by an entry point whose object is a list of `SkillServer`::

    entry_points={"behavior_skills.skills": ["my_skills = my_package.skills:SKILLS"]}

The suite's own enter the same way.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from behavior_motion import Trajectory
from behavior_skills.arm.context import SkillContext
from behavior_skills.interfaces import Array
from behavior_skills.node import conversion

ENTRY_POINT_GROUP = "behavior_skills.skills"


class Part(enum.Enum):
    """What one goal at a time may use."""

    ARM = "arm"
    GRIPPER = "gripper"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillGoal:
    """One goal, or request, and what its skill works with."""

    message: Any
    context: SkillContext
    frames: conversion.FrameLookup
    """Where frames are in the robot's base frame, objects as this goal sees them."""
    base_T_world: Callable[[], Array]
    """Where the world's frame is; raises `SkillFailure`."""
    warn: Callable[[str], None]
    show: Callable[[Trajectory], None]
    """Publishes a motion that is planned, but not done."""
    recording_directory: str

    def stamped(self, pose: Array) -> Any:
        """A pose in the robot's base frame, 4x4, as a message of now."""
        base = self.context.world.planner.robot.base_frame
        return conversion.stamped_message(pose, base, self.context.runtime.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillServer:
    """A skill that the node serves."""

    name: str
    """Of the action or service, without the slash."""
    interface: Any
    """Its type; result and response have the members code and message."""
    work: Callable[[SkillGoal], Any]
    """Returns result or response; raises `SkillFailure`, `MotionError` or `Cancelled`."""
    needs: Part | None = None
    """A goal is refused while one that occupies this is under way."""
    occupies: frozenset[Part] = frozenset()

    @property
    def is_action(self) -> bool:
        """Whether it is an action; else it is a service."""
        return hasattr(self.interface, "Goal")

    def answer(self) -> Any:
        """A result, or response, to fill in."""
        return self.interface.Result() if self.is_action else self.interface.Response()


def skill_servers(tell: Callable[[str], None]) -> list[SkillServer]:
    """The skills of all packages, by their entry points' names.

    Args:
        tell: is given what is wrong with a package; the others' skills are there all the same.
    """
    found: dict[str, tuple[SkillServer, str]] = {}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: each.name):
        try:
            offered: Iterable[SkillServer] = point.load()
            for skill in offered:
                there, package = found.setdefault(skill.name, (skill, point.value))
                if there is not skill:
                    tell(f"skill {skill.name} of {point.value}: {package} has one of this name")
        except Exception as error:  # a package may raise anything; the others shall be there
            tell(f"skills of {point.name} ({point.value}): {type(error).__name__}: {error}")
    return [skill for skill, _ in found.values()]
