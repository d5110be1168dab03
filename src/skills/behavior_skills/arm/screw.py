# SPDX-License-Identifier: Apache-2.0
"""Screw: move the tool along and about an axis, to turn a lever, a knob or a door.

plan -> move. The whole way is planned before anything moves: the tool's poses follow the closed
form of `screw_motion`, the joints follow the tool without jumps, and the way is checked for
collisions. On the way three things can stop the arm, if they are asked for: a force at the tool, a
distance from where it should be, fingers that shut.

What the hand touches when it starts it may touch on its way; what moves along with it, like the
door on the lever in the hand, is named in `may_touch`.
"""

from __future__ import annotations

import contextlib
import glob
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from behavior_motion import IkOptions, Trajectory, check_interrupted
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import follow, wait_for
from behavior_skills.arm.screw_motion import ScrewMotion
from behavior_skills.goal_checks import check_not_negative, invalid, planning_budget
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    SkillFailure,
)

SAMPLE_ANGLE, SAMPLE_LENGTH, SAMPLE_PERIOD = math.radians(2.0), 0.015, 0.2
"""[rad], [m] and [s] at most between two poses for which joints are sought, on average."""
LEAST_SAMPLES = 16
FINER = 4
"""Factor on the number of samples where a jump is suspected."""
MOST_JOINT_STEP = 0.25
"""[rad] between two samples; more is a jump to another posture."""
BETWEEN = 1.0005
"""Factor by which the tool may be faster than at the moments that are looked at."""
LAG = 0.5
"""[s] of the way behind the expected place that count as on time: commands travel."""
TOUCH_ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class ScrewParameters:
    """What holds where a request says 0, and limits of the skill."""

    max_linear: float = 0.1
    """[m/s]"""
    max_angular: float = 0.6
    """[rad/s]"""
    position_tolerance: float = 0.01
    """[m] between the tool and the end of its way."""
    orientation_tolerance: float = 0.05
    """[rad]"""
    timeout: float = 4.0
    """[s] beyond the nominal duration."""
    greatest_translation: float = 2.0
    """[m]"""
    greatest_rotation: float = 4.0 * math.pi
    """[rad]"""
    longest_way: float = 20.0
    """[m] of the tool."""
    longest_duration: float = 600.0
    """[s]"""


@dataclass(frozen=True, slots=True)
class ScrewRequest:
    """Fields as in behavior_msgs/Screw; 0 stands for the server's default, or no limit."""

    base_T_axis: Array
    translation: float = 0.0
    rotation: float = 0.0
    max_linear: float = 0.0
    max_angular: float = 0.0
    position_tolerance: float = 0.0
    orientation_tolerance: float = 0.0
    max_force: float = 0.0
    max_tracking_error: float = 0.0
    keep_grip: bool = False
    may_touch: tuple[str, ...] = ()
    timeout: float = 0.0
    preview: bool = False


@dataclass
class ScrewSkill(Skill):
    """One screw motion; call :meth:`run`."""

    request: ScrewRequest
    parameters: ScrewParameters = ScrewParameters()
    fraction: float = 0.0
    """Part of the motion that was done, or of a preview: that can be done, 0..1."""
    motion: ScrewMotion | None = field(default=None, init=False)
    """Known once the request is accepted."""
    trajectory: Trajectory | None = field(default=None, init=False)
    """The planned motion of the joints."""
    _width: float = field(default=0.0, init=False)
    _effort: Array | None = field(default=None, init=False)

    def run(self) -> None:
        """Plan, and move unless only a preview is wanted.

        Raises:
            SkillFailure: with one of Screw's result codes; the arm stands.
            Cancelled: the client cancelled; the arm stands.
        """
        self.goal_context.feedback("plan", 0.0)
        state = self.arm.state()
        self._width, self._effort = state.width, state.effort
        self.motion = self._validated(state.q)
        self.world.sync(self.scene.objects(), self.hand.held)
        with planning_budget():
            trajectory = self.trajectory = self._plan(self.motion, state.q)
        if self.request.preview:
            self.fraction = 1.0
            return
        self.fraction = 0.0
        stretch = trajectory.duration / self.motion.duration
        timeout = self.request.timeout or self.parameters.timeout
        follow(
            self.goal_context,
            self.arm,
            trajectory,
            lambda elapsed: self._watch(elapsed / stretch),
            allowance=timeout,
        )
        self._arrive(timeout)

    # ------------------------------------------------------------------ request

    def _validated(self, q: Array) -> ScrewMotion:
        request, parameters = self.request, self.parameters
        check_not_negative(
            request,
            "max_linear",
            "max_angular",
            "position_tolerance",
            "orientation_tolerance",
            "max_force",
            "max_tracking_error",
            "timeout",
        )
        if not all(request.may_touch):
            raise invalid("may_touch holds an empty name; name objects, or give * for any")
        if abs(request.translation) > parameters.greatest_translation:
            raise invalid(
                f"translation is {request.translation} m, give at most "
                f"{parameters.greatest_translation}"
            )
        if abs(request.rotation) > parameters.greatest_rotation:
            raise invalid(
                f"rotation is {request.rotation} rad, give at most "
                f"{parameters.greatest_rotation:.2f}; degrees?"
            )
        if request.max_force > 0.0 and self._effort is None:
            raise invalid("the robot reports no joint efforts, so max_force must be 0")
        if request.keep_grip and self._width < 1e-3 and not request.preview:
            raise invalid("keep_grip, but the fingers are shut; grasp something first")
        try:
            motion = ScrewMotion(
                base_T_axis=request.base_T_axis,
                base_T_start=self.robot.forward_kinematics(q),
                translation=request.translation,
                rotation=request.rotation,
                max_linear=request.max_linear or parameters.max_linear,
                max_angular=request.max_angular or parameters.max_angular,
            )
        except ValueError as error:
            raise invalid(str(error)) from None
        if motion.arc > parameters.longest_way:
            raise invalid(
                f"the tool, {motion.radius:.4g} m from the axis, would travel {motion.arc:.4g} m, "
                f"at most {parameters.longest_way:g} m are allowed"
            )
        if motion.duration > parameters.longest_duration:
            raise invalid(
                f"at these speeds the motion takes {motion.duration:.4g} s, at most "
                f"{parameters.longest_duration:g} s are allowed"
            )
        return motion

    # ------------------------------------------------------------------ plan

    def _plan(self, motion: ScrewMotion, q: Array) -> Trajectory:
        count = max(
            LEAST_SAMPLES,
            math.ceil(abs(motion.rotation) / SAMPLE_ANGLE),
            math.ceil(motion.arc / SAMPLE_LENGTH),
            math.ceil(motion.duration / SAMPLE_PERIOD),
        )
        try:
            times, shares, joints = self._followed(motion, q, count)
        except SkillFailure:
            # Near a singular posture the joints hurry: that may look like a jump from afar.
            times, shares, joints = self._followed(motion, q, FINER * count)
        self._check_collisions(q, joints, shares)
        self.fraction = 1.0
        spline = CubicSpline(times, joints, bc_type="clamped")
        robot = self.robot
        trajectory = Trajectory(
            robot.joint_names, times, joints, spline(times, 1), spline(times, 2)
        )
        # Where the joints are too slow for the tool's speed, all of it takes longer; and where the
        # curve of the joints between the samples would be a thousandth too fast for the limits.
        speed, acceleration, _ = trajectory.peaks()
        slower = max(
            1.0,
            float(np.max(speed / robot.velocity_limits)),
            math.sqrt(float(np.max(acceleration / robot.acceleration_limits))),
            self._too_fast(motion, trajectory),
        )
        return trajectory.scaled(slower)

    def _too_fast(self, motion: ScrewMotion, trajectory: Trajectory) -> float:
        """Largest speed of the tool along a trajectory, in parts of its limit."""
        robot = self.robot
        times = np.linspace(0.0, trajectory.duration, 4 * len(trajectory.times) + 1)
        qs, qds, _ = trajectory.sample_many(times)
        twists = np.empty((len(qs), 6))
        for twist, q, qd in zip(twists, qs, qds, strict=True):
            check_interrupted()
            twist[:] = robot.jacobian(q) @ qd
        linear, angular = (np.linalg.norm(part, axis=1).max() for part in np.hsplit(twists, 2))
        return BETWEEN * float(max(linear / motion.max_linear, angular / motion.max_angular))

    def _followed(self, motion: ScrewMotion, q: Array, count: int) -> tuple[Array, Array, Array]:
        """Times [s] of `count` steps, shares of the motion done then, and joints [rad]."""
        times = np.linspace(0.0, motion.duration, count + 1)
        shares = np.array([motion.share(t)[0] for t in times])
        return times, shares, self._joints_along(motion, q, shares)

    def _joints_along(self, motion: ScrewMotion, q: Array, shares: Array) -> Array:
        """Joints for each share, every one reached from the one before without a jump."""
        joints = [q]
        once = IkOptions(avoid_collisions=False, attempts=1)
        for share in shares[1:]:
            target = motion.pose(float(share))
            found = self.world.planner.inverse_kinematics(target, seed=joints[-1], options=once)
            if found.q is None or np.abs(found.q - joints[-1]).max() > MOST_JOINT_STEP:
                self.fraction = float(shares[len(joints) - 1])
                raise SkillFailure(
                    FailureCode.UNREACHABLE,
                    f"The arm can follow {100 * self.fraction:.0f} % of the screw, then "
                    f"{'it jumps to another posture' if found.q is not None else 'it ends'}. "
                    "Grasp otherwise, or make the motion smaller.",
                )
            joints.append(self._polished(target, found.q))
        return np.array(joints)

    def _polished(self, target: Array, q: Array) -> Array:
        """The joints after a Newton step, which takes out what error is left."""
        robot = self.robot
        error = _difference(robot.forward_kinematics(q), target)
        step = np.linalg.pinv(robot.jacobian(q), rcond=1e-6) @ error
        return np.clip(q + step, robot.lower, robot.upper)

    def _check_collisions(self, q: Array, joints: Array, shares: Array) -> None:
        planner = self.world.planner
        touched = [(a, b) for a, b, _ in planner.check_state(q, gripper_width=self._width).pairs]
        with contextlib.ExitStack() as stack:
            scene = planner.scene
            wanted = self.request.may_touch
            names = [TOUCH_ANYTHING] if TOUCH_ANYTHING in wanted else map(glob.escape, wanted)
            allowed = [("*", name) for name in names]
            stack.enter_context(scene.allowing([*touched, *allowed]))
            blocked = planner.check_path(joints, gripper_width=self._width)
            if blocked is None:
                return
            self.fraction = float(shares[max(blocked - 1, 0)])
            report = planner.check_state(joints[blocked], gripper_width=self._width)
        raise SkillFailure(
            FailureCode.PLANNING_FAILED,
            f"After {100 * self.fraction:.0f} % of the screw something is in the way: "
            f"{report.text}. Clear it, or name it in may_touch.",
        )

    # ------------------------------------------------------------------ move

    def _watch(self, elapsed: float) -> None:
        """Feedback, and the conditions that stop the arm; `elapsed` [s] on the nominal motion."""
        motion = self.motion
        assert motion is not None
        self.fraction = motion.share(elapsed)[0]
        self.goal_context.feedback("move", self.fraction)
        state, request = self.arm.state(), self.request
        if request.keep_grip and state.width < 0.5 * self._width:
            raise SkillFailure(
                FailureCode.GRIP_LOST,
                f"What the fingers held slipped out after {100 * self.fraction:.0f} % of the "
                f"screw (gap {1e3 * state.width:.1f} mm). Grasp it again.",
            )
        if request.max_force > 0.0:
            force = self._force(state.q, state.effort)
            if force > request.max_force:
                raise SkillFailure(
                    FailureCode.FORCE_EXCEEDED,
                    f"The tool pushed with {force:.0f} N, more than {request.max_force:.0f} N, "
                    f"after {100 * self.fraction:.0f} % of the screw. See what blocks it.",
                )
        if request.max_tracking_error > 0.0:
            off = self._distance_from_way(elapsed, state.q)
            if off > request.max_tracking_error:
                raise SkillFailure(
                    FailureCode.TRACKING_LOST,
                    f"The tool is {1e3 * off:.0f} mm from its way, more than "
                    f"{1e3 * request.max_tracking_error:.0f} mm, after "
                    f"{100 * self.fraction:.0f} % of the screw. See what holds it.",
                )

    def _force(self, q: Array, effort: Array | None) -> float:
        """Force of the tool [N] that the joints' torques beyond those at the start tell of."""
        if effort is None or self._effort is None:
            return 0.0
        jacobian = self.robot.jacobian(q)
        wrench = np.linalg.pinv(jacobian.T, rcond=1e-2) @ (effort - self._effort)
        return float(np.linalg.norm(wrench[:3]))

    def _distance_from_way(self, elapsed: float, q: Array) -> float:
        """Distance of the tool from where it should be, or just was to be [m]."""
        assert self.motion is not None
        at = self.robot.forward_kinematics(q)[:3, 3]
        times = np.linspace(elapsed - LAG, elapsed, 6)
        ways = [self.motion.pose(self.motion.share(float(t))[0])[:3, 3] for t in times]
        return float(min(np.linalg.norm(at - way) for way in ways))

    def _arrive(self, timeout: float) -> None:
        """Wait until the tool is within the tolerances."""
        request, parameters = self.request, self.parameters
        assert self.motion is not None
        goal = self.motion.pose(1.0)
        most = np.array(
            [
                request.position_tolerance or parameters.position_tolerance,
                request.orientation_tolerance or parameters.orientation_tolerance,
            ]
        )

        def error() -> Array:
            q = self.arm.state().q
            off = _difference(self.robot.forward_kinematics(q), goal)
            return np.array([np.linalg.norm(off[:3]), np.linalg.norm(off[3:])])

        if not wait_for(self.goal_context, lambda: bool(np.all(error() <= most)), timeout):
            off, turn = error()
            raise SkillFailure(
                FailureCode.OUT_OF_TOLERANCE,
                f"The tool ended {1e3 * off:.1f} mm and {turn:.3f} rad from its goal; allowed are "
                f"{1e3 * most[0]:.1f} mm and {most[1]:.3f} rad. Allow more, or see what holds it.",
            )
        self.fraction = 1.0


def _difference(pose: Array, target: Array) -> Array:
    """Translation and rotation vector from a pose to a target, in base axes (6,) [m, rad]."""
    turn = Rotation.from_matrix(target[:3, :3] @ pose[:3, :3].T).as_rotvec()
    return np.concatenate([target[:3, 3] - pose[:3, 3], turn])
