# SPDX-License-Identifier: Apache-2.0
"""What every skill works with, given to it as one thing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from behavior_motion import RobotModel
from behavior_skills.arm.planning import PlanningWorld, Speeds
from behavior_skills.interfaces import Arm, Array, Cup, GoalContext, Gripper, Hand, SceneView


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where objects may be taken and put, around the robot's base."""

    inner: float
    """[m] horizontal distance from the base."""
    outer: float
    low: float = -0.05
    """[m] height above the base."""
    high: float = 0.9

    def problem(self, position: Array) -> str | None:
        """Why a position is outside, in words; None: it is inside."""
        radius = math.hypot(position[0], position[1])
        if not self.inner <= radius <= self.outer:
            return (
                f"it is {radius:.3f} m from the base, but the arm works between {self.inner} m "
                f"and {self.outer} m"
            )
        if not self.low <= position[2] <= self.high:
            return (
                f"its height is {position[2]:.3f} m, but the arm works between {self.low} m and "
                f"{self.high} m"
            )
        return None


@dataclass(frozen=True, slots=True)
class SkillContext:
    """One goal's context, and the robot and its surroundings as all skills share them."""

    goal_context: GoalContext
    arm: Arm
    gripper: Gripper
    scene: SceneView
    world: PlanningWorld
    hand: Hand
    speeds: Speeds
    workspace: Workspace
    grasp_directory: str = ""
    """Folder with files of annotated grasps; empty: there are none."""
    cup: Cup | None = None
    """Of a robot that has a suction cup in place of fingers."""


@dataclass
class Skill:
    """One goal of a skill; the members of its context by short names."""

    context: SkillContext

    @property
    def goal_context(self) -> GoalContext:
        """Time, feedback and cancellation."""
        return self.context.goal_context

    @property
    def arm(self) -> Arm:
        """The arm's controller and joint states."""
        return self.context.arm

    @property
    def gripper(self) -> Gripper:
        """The gripper's controller."""
        return self.context.gripper

    @property
    def scene(self) -> SceneView:
        """The objects that are there."""
        return self.context.scene

    @property
    def world(self) -> PlanningWorld:
        """The planner, with a scene that follows the detected one."""
        return self.context.world

    @property
    def hand(self) -> Hand:
        """What the gripper holds, over all goals."""
        return self.context.hand

    @property
    def speeds(self) -> Speeds:
        """How fast to move where the request does not say."""
        return self.context.speeds

    @property
    def robot(self) -> RobotModel:
        """Its model, with the gripper's widths and forces."""
        return self.context.world.planner.robot
