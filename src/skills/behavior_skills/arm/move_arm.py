# SPDX-License-Identifier: Apache-2.0
"""Move the arm: to joints, a named configuration, a pose, along lines, waypoints or a recording."""

from __future__ import annotations

import contextlib
import enum
from dataclasses import dataclass

import numpy as np

from behavior_motion import PlanOptions, Trajectory
from behavior_motion.planning.query import CHECK_STEP
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import follow, wait_for
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

SETTLE_TIME = 0.5
"""[s] in which the joints must come within their tolerance after the motion."""
START_TOLERANCE = 0.01
"""[rad] a recorded trajectory that starts further off is approached by a planned motion."""
GIVEN_WAY = 0.05
"""[rad] an arm that is further from where its motion starts has been moved while it was planned."""
PLANS = 3
"""Of one motion, while something moves the arm."""


LONGEST_MOTION = 3600.0
"""[s] that a recorded trajectory may take."""
LONGEST_WAY = 1000.0
"""[rad] that the joints may move along a recorded trajectory, all together."""


class ArmMode(enum.IntEnum):
    """Values as in behavior_msgs/MoveArm."""

    JOINTS = 0
    NAMED = 1
    POSE = 2
    CARTESIAN = 3
    WAYPOINTS = 4
    TRAJECTORY = 5


@dataclass(frozen=True, slots=True)
class MoveArmRequest:
    """Where to."""

    mode: int
    named_target: str = ""
    joints: tuple[float, ...] = ()
    """[rad]"""
    base_T_tool: tuple[Array, ...] = ()
    """4x4 poses of the tool."""
    trajectory: Trajectory | None = None
    velocity_scaling: float = 0.0
    acceleration_scaling: float = 0.0
    avoid_collisions: bool = True
    joint_tolerance: float = 0.0
    """[rad] at the end; 0: not checked."""
    timeout: float = 0.0
    """[s] for the motion; 0: its duration and an allowance."""


@dataclass
class MoveArmSkill(Skill):
    """One motion; call :meth:`run`."""

    request: MoveArmRequest
    fraction: float = 0.0
    """Part of a CARTESIAN path that can be (after success: was) travelled, 0..1."""

    def run(self) -> None:
        """Plan and move.

        Raises:
            SkillFailure: with one of MoveArm's result codes.
            Cancelled: the client cancelled; the arm stands.
        """
        self._validate()
        self.goal_context.feedback("plan", 0.0)
        try:
            self.world.sync(self.scene.objects(), self.hand.held)
        except SkillFailure:
            if self.request.avoid_collisions:
                raise
        with planning_budget():
            trajectory = self._planned()
        duration = max(trajectory.duration, 1e-3)
        follow(
            self.goal_context,
            self.arm,
            trajectory,
            lambda elapsed: self._watch(elapsed, duration),
        )
        self._check_end(trajectory.positions[-1])
        self.fraction = 1.0

    def _watch(self, elapsed: float, duration: float) -> None:
        self.goal_context.feedback("move", min(elapsed / duration, 1.0))
        if 0.0 < self.request.timeout < elapsed:
            raise SkillFailure(
                FailureCode.TIMED_OUT,
                f"The arm did not finish within {self.request.timeout:g} s; the motion takes "
                f"{duration:.1f} s. Give it more time, or a higher velocity_scaling.",
            )

    def _check_end(self, q_end: Array) -> None:
        tolerance = self.request.joint_tolerance
        if tolerance <= 0.0:
            return

        def near() -> bool:
            return float(np.abs(self.arm.state().q - q_end).max()) <= tolerance

        if not wait_for(self.goal_context, near, SETTLE_TIME):
            off = float(np.abs(self.arm.state().q - q_end).max())
            raise SkillFailure(
                FailureCode.OUT_OF_TOLERANCE,
                f"A joint is {off:.4f} rad from its goal, more than {tolerance:g}. See whether "
                "something holds the arm.",
            )

    def _validate(self) -> None:
        request = self.request
        check_scaling(request, "velocity_scaling", "acceleration_scaling")
        check_not_negative(request, "joint_tolerance", "timeout")
        if request.mode not in list(ArmMode):
            raise invalid(
                f"mode {request.mode} is unknown; choose from "
                f"{', '.join(f'{mode.name}={mode.value}' for mode in ArmMode)}"
            )
        robot = self.robot
        if request.mode == ArmMode.JOINTS:
            if len(request.joints) != robot.dof or not np.all(np.isfinite(request.joints)):
                raise invalid(
                    f"joints must be {robot.dof} finite numbers [rad], not "
                    f"{list(request.joints[: robot.dof + 1])}"
                )
        elif request.mode == ArmMode.NAMED and request.named_target not in robot.named:
            raise invalid(
                f"named_target '{request.named_target}' is unknown; choose from "
                f"{named(robot.named)}"
            )
        elif request.mode in (ArmMode.POSE, ArmMode.CARTESIAN, ArmMode.WAYPOINTS):
            if not request.base_T_tool:
                raise invalid("poses is empty, give at least one pose of the tool")
        elif request.mode == ArmMode.TRAJECTORY and request.trajectory is None:
            raise invalid(
                "mode TRAJECTORY needs a trajectory with at least two points, or the name of a "
                "recording"
            )

    def _planned(self) -> Trajectory:
        """A motion from where the arm is by then: what leans on it may have moved it meanwhile."""
        for _ in range(PLANS):
            trajectory = self._trajectory()
            if np.abs(self.arm.state().q - trajectory.positions[0]).max() <= GIVEN_WAY:
                break
        return trajectory

    def _trajectory(self) -> Trajectory:
        with contextlib.ExitStack() as stack:
            q = self.arm.state().q
            touching = self._believed_contacts(q) if self.request.avoid_collisions else [("*", "*")]
            stack.enter_context(self.world.planner.scene.allowing(touching))
            planned = {
                ArmMode.JOINTS: self._to_joints,
                ArmMode.NAMED: self._to_joints,
                ArmMode.POSE: self._to_pose,
                ArmMode.CARTESIAN: self._along_lines,
                ArmMode.WAYPOINTS: self._through_poses,
                ArmMode.TRAJECTORY: self._recorded,
            }
            return planned[ArmMode(self.request.mode)](q)

    def _believed_contacts(self, q: Array) -> list[tuple[str, str]]:
        """What is held, and things that it seems to overlap with: that is no reason to stay.

        The hand has brought it where it is, so they are believed in the wrong place: hidden by the
        arm, say, and taken for what was seen beside it.
        """
        held = self.hand.held
        return self.world.contacts_of_held(q, held) if held is not None else []

    def _options(self) -> PlanOptions:
        request, held = self.request, self.hand.held
        return PlanOptions(
            max_velocity_scaling_factor=request.velocity_scaling or self.speeds.free,
            max_acceleration_scaling_factor=request.acceleration_scaling
            or self.speeds.acceleration,
            gripper_width=held.width if held else None,
        )

    def _to_joints(self, q: Array) -> Trajectory:
        named = self.request.mode == ArmMode.NAMED
        robot = self.robot
        goal = robot.named[self.request.named_target] if named else np.array(self.request.joints)
        return _of(
            checked(self.world.planner.plan_to_joints(q, goal, options=self._options())).trajectory
        )

    def _to_pose(self, q: Array) -> Trajectory:
        goal = self.request.base_T_tool[-1]
        plan = self.world.planner.plan_to_pose(q, [goal], options=self._options())
        return _of(checked(plan).trajectory)

    def _along_lines(self, q: Array) -> Trajectory:
        plan = self.world.planner.plan_cartesian(
            q, list(self.request.base_T_tool), options=self._options()
        )
        self.fraction = plan.fraction
        return _of(checked(plan).trajectory)

    def _through_poses(self, q: Array) -> Trajectory:
        poses = list(self.request.base_T_tool)
        plan = self.world.planner.plan_waypoints(q, poses, options=self._options())
        return _of(checked(plan).trajectory)

    def _recorded(self, q: Array) -> Trajectory:
        recorded = _of(self.request.trajectory)
        robot, planner = self.robot, self.world.planner
        if np.any(recorded.positions < robot.lower) or np.any(recorded.positions > robot.upper):
            raise invalid("the trajectory leaves the joint limits of the arm")
        # A recording is played at its own speed unless that, or the request, asks for less.
        speed = float(np.max(np.abs(recorded.velocities) / robot.velocity_limits))
        recorded = recorded.scaled(max(1.0 / (self.request.velocity_scaling or 1.0), speed))
        if recorded.duration > LONGEST_MOTION:
            raise invalid(
                f"within the arm's speeds the trajectory takes {recorded.duration:.4g} s, at most "
                f"{LONGEST_MOTION:g} s are played"
            )
        if self.request.avoid_collisions:
            self._check_recorded(recorded)
        if float(np.max(np.abs(q - recorded.positions[0]))) <= START_TOLERANCE:
            return recorded
        there = checked(planner.plan_to_joints(q, recorded.positions[0], options=self._options()))
        return _of(there.trajectory).concatenate(recorded)

    def _check_recorded(self, recorded: Trajectory) -> None:
        """Check a recording for collisions, between its points too."""
        way = float(np.abs(np.diff(recorded.positions, axis=0)).sum())
        if way > LONGEST_WAY:
            raise invalid(
                f"the joints move by {way:.4g} rad along the trajectory, at most {LONGEST_WAY:g} "
                "rad are checked"
            )
        planner, width = self.world.planner, self._options().gripper_width
        times = recorded.dense_times(CHECK_STEP)
        points = recorded.sample_many(times)[0]
        blocked = planner.check_path(points, gripper_width=width)
        if blocked is None:
            return
        report = planner.check_state(points[blocked], gripper_width=width)
        if report.limits:
            raise invalid(
                f"between its points, at {times[blocked]:.2f} s, the trajectory leaves the joint "
                "limits of the arm"
            )
        raise SkillFailure(
            FailureCode.GOAL_IN_COLLISION,
            f"The trajectory collides at {times[blocked]:.2f} s: {report.text}. Clear the way or "
            "record another one.",
        )


def _of(trajectory: Trajectory | None) -> Trajectory:
    assert trajectory is not None
    return trajectory
