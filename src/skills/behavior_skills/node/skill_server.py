# SPDX-License-Identifier: Apache-2.0
"""Skills as servers: a table that packages extend.

A package offers a skill in its ``behavior.yaml`` (see :mod:`behavior_packages`), by the name of its
action or service::

    skills: {stow: "my_package.skills:STOW"}

What it names is a :class:`SkillServer`. The suite's own enter the same way.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from behavior_motion import Trajectory
from behavior_packages import packages
from behavior_skills.arm.context import SkillContext
from behavior_skills.interfaces import ArmStream, Array
from behavior_skills.node import conversion


class Part(enum.Enum):
    """What one goal at a time may use."""

    ARM = "arm"
    GRIPPER = "gripper"


class Listener(Protocol):
    """A subscription of one goal."""

    name: str
    """Resolved name of the topic."""
    newest: Any
    """Message that came last; None: none came."""

    def publishers(self) -> int:
        """How many publish there."""

    def close(self) -> None:
        """Listen no more."""


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
    stream: ArmStream
    """The arm, told its motion many times a second."""
    occupied: Callable[[], AbstractContextManager[None]]
    """What `replaces` moves the arm within: takes the place of the goal that runs."""
    listen: Callable[[Any, str], Listener]
    """Subscribes to a topic: type of its messages and name."""

    def stamped(self, pose: Array) -> Any:
        """A pose in the robot's base frame, 4x4, as a message of now."""
        base = self.context.world.planner.robot.base_frame
        return conversion.stamped_message(pose, base, self.context.goal_context.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillServer:
    """A skill that the node serves."""

    interface: Any
    """Type of its action or service; result and response have the members code and message."""
    work: Callable[[SkillGoal], Any]
    """Returns result or response; raises `SkillFailure`, `MotionError` or `Cancelled`."""
    needs: Part | None = None
    """A goal is refused while one that occupies this is under way."""
    occupies: frozenset[Part] = frozenset()
    replaces: bool = False
    """A newer goal takes the place of the one that runs: its `work` checks itself and moves
    the arm within the goal's `occupied`."""

    @property
    def is_action(self) -> bool:
        """Whether it is an action; else it is a service."""
        return hasattr(self.interface, "Goal")

    def answer(self) -> Any:
        """A result, or response, to fill in."""
        return self.interface.Result() if self.is_action else self.interface.Response()


def skill_servers(warn: Callable[[str], None]) -> dict[str, SkillServer]:
    """The skills of all packages by name.

    Args:
        warn: is given what is wrong with a package; the others' skills are there all the same.
    """
    found: dict[str, SkillServer] = {}
    for offer, skill in packages().load_all("skills", warn):
        if isinstance(skill, SkillServer):
            found[offer.name] = skill
        else:
            warn(f"{offer.place}: {offer.value} of {offer.package} is no SkillServer")
    return found
