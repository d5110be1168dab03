# SPDX-License-Identifier: Apache-2.0
"""Look: turn a frame on the arm so that its z axis points at something."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from behavior_motion import PlanOptions, RobotModel
from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import follow
from behavior_skills.arm.planning import checked
from behavior_skills.goal_checks import (
    check_not_negative,
    check_scaling,
    invalid,
    planning_budget,
)
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    SkillFailure,
)
from behavior_tree.shown_text import named

ROLLS = 8
"""Turns about the line of sight that are as good as the smallest one."""
NEAREST = 0.02
"""[m] a target nearer to the frame has no direction."""
TOLERANCE = 0.02
"""[rad]"""
FREE = 6
"""Joints that it takes to look from anywhere; with less, a head turns where it is."""


@dataclass(frozen=True, slots=True)
class LookRequest:
    """What to look at."""

    base_P_target: Array | None
    """[m] in the base frame; None: the object."""
    object_name: str = ""
    frame: str = ""
    """Empty: the tool frame."""
    distance: float = 0.0
    """[m] of the frame from the target; 0: it stays where it is."""
    tolerance: float = 0.0
    """[rad]; 0: the default."""
    velocity_scaling: float = 0.0


@dataclass
class LookSkill(Skill):
    """One look; call :meth:`run`."""

    request: LookRequest
    error: float = field(default=math.pi, init=False)
    """Between z axis and target when the skill ended [rad]."""

    def run(self) -> None:
        """Plan and move.

        Raises:
            SkillFailure: with one of Look's result codes.
            Cancelled: the client cancelled; the arm stands.
        """
        frame = self._validate()
        self.goal_context.feedback("plan", 0.0)
        self.world.sync(self.scene.objects(), self.hand.held)
        target = self._target()
        q = self.arm.state().q
        robot, planner = self.robot, self.world.planner
        held = self.hand.held
        scaling = self.request.velocity_scaling or self.speeds.free
        options = PlanOptions(
            max_velocity_scaling_factor=scaling,
            max_acceleration_scaling_factor=self.speeds.acceleration,
            gripper_width=held.width if held else None,
        )
        with planning_budget():
            if robot.dof < FREE:
                goal = aimed(robot, q, frame, target)
                plan = checked(planner.plan_to_joints(q, goal, options=options))
            else:
                ways = sights(robot.forward_kinematics(q, frame), target, self.request.distance)
                plan = checked(planner.plan_to_pose(q, ways, frame=frame, options=options))
        assert plan.trajectory is not None
        duration = max(plan.trajectory.duration, 1e-3)
        follow(
            self.goal_context,
            self.arm,
            plan.trajectory,
            lambda elapsed: self.goal_context.feedback("move", min(elapsed / duration, 1.0)),
        )
        self.error = off_sight(robot.forward_kinematics(self.arm.state().q, frame), target)
        tolerance = self.request.tolerance or TOLERANCE
        if self.error > tolerance:
            raise SkillFailure(
                FailureCode.OUT_OF_TOLERANCE,
                f"The line of sight misses the target by {self.error:.3f} rad, more than "
                f"{tolerance:g}. See whether something holds the arm.",
            )

    def _validate(self) -> str:
        request, robot = self.request, self.robot
        check_not_negative(request, "distance", "tolerance")
        check_scaling(request, "velocity_scaling")
        frame = request.frame or robot.tool_frame
        try:
            robot.forward_kinematics(self.arm.state().q, frame)
        except KeyError as error:
            raise SkillFailure(
                FailureCode.UNKNOWN_FRAME,
                f"The robot has no frame '{frame}' that could look: {error.args[0]}.",
            ) from error
        return frame

    def _target(self) -> Array:
        if not self.request.object_name:
            assert self.request.base_P_target is not None
            return self.request.base_P_target
        objects = self.scene.objects()
        obj = objects.get(self.request.object_name)
        if obj is None or obj.state is ObjectState.LOST:
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"Object '{self.request.object_name}' is not in the scene. Known are "
                f"{named(objects)}.",
            )
        position: Array = obj.base_T_object[:3, 3]
        return position


def sights(base_T_frame: Array, target: Array, distance: float) -> list[Array]:
    """Poses of a frame that look at a point, the one with the smallest turn first.

    Args:
        base_T_frame: where the frame is now, 4x4 [m].
        target: the point in the base frame [m].
        distance: from the target on the line to where the frame is; 0: stay there [m].

    Raises:
        SkillFailure: INVALID_REQUEST, the target is where the frame is.
    """
    away = base_T_frame[:3, 3] - target
    length = float(np.linalg.norm(away))
    if length < NEAREST:
        raise invalid(
            f"the target is {1e3 * length:.0f} mm from the frame that is to look at it; move away"
        )
    direction = -away / length
    turn, _ = Rotation.align_vectors([direction], [base_T_frame[:3, 2]])
    pose = base_T_frame.copy()
    pose[:3, :3] = turn.as_matrix() @ base_T_frame[:3, :3]
    pose[:3, 3] = target - direction * (distance or length)
    poses = []
    for step in sorted(range(ROLLS), key=lambda k: min(k, ROLLS - k)):
        rolled = pose.copy()
        angle = 2 * math.pi * step / ROLLS
        rolled[:3, :3] = pose[:3, :3] @ Rotation.from_euler("z", angle).as_matrix()
        poses.append(rolled)
    return poses


def aimed(robot: RobotModel, q: Array, frame: str, target: Array) -> Array:
    """Joints of a head, of few of them, with which a frame looks at a point as nearly as it can."""

    def off(joints: Array) -> float:
        """One minus the cosine, which unlike the angle is smooth at its least."""
        line = target - (pose := robot.forward_kinematics(joints, frame))[:3, 3]
        return 1.0 - float(pose[:3, 2] @ line) / max(float(np.linalg.norm(line)), 1e-9)

    start = np.clip(q, robot.lower, robot.upper)
    bounds = list(zip(robot.lower, robot.upper, strict=True))
    found = minimize(off, start, bounds=bounds, tol=1e-12)
    joints: Array = np.clip(found.x, robot.lower, robot.upper)
    return joints


def off_sight(base_T_frame: Array, target: Array) -> float:
    """Angle between a frame's z axis and the line to a point [rad]."""
    line = target - base_T_frame[:3, 3]
    cosine = float(base_T_frame[:3, 2] @ line) / max(float(np.linalg.norm(line)), 1e-9)
    return math.acos(min(1.0, max(-1.0, cosine)))
