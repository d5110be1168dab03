# SPDX-License-Identifier: Apache-2.0
"""Reach for a target that may move: small steps by sight of target and obstacles, no plan.

Every hundredth of a second a quadratic program chooses the joints' velocities, see
`behavior_motion.Servo`. Such steps can get stuck, before a wall or at a joint's limit. Then a path
is planned and followed; it hands back to the small steps at its end, or as soon as the target has
moved away from where it leads to or something has come into the way.
"""

from __future__ import annotations

import contextlib
import glob
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from behavior_motion import (
    IkOptions,
    JointLimits,
    MotionCommand,
    Plan,
    PlanOptions,
    RobotModel,
    Servo,
    ServoOptions,
    ServoStatus,
    ServoStep,
    TargetSmoother,
    Trajectory,
    interruptible,
)
from behavior_motion.servo.controller import difference
from behavior_ros.node.elapsed import Elapsed
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import REST_SPEED, STOP_TIMEOUT, shielded
from behavior_skills.arm.planning import checked
from behavior_skills.arm.reach_request import (
    ANY_ORIENTATION,
    ANYTHING,
    ReachRequest,
)
from behavior_skills.arm.streaming import Instant, Reference, instant_of
from behavior_skills.goal_checks import planning_budget
from behavior_skills.interfaces import (
    REPLACED,
    ArmStream,
    Array,
    FailureCode,
    ObjectView,
    SkillFailure,
)
from behavior_tree.cause import Cancelled

PERIOD = 0.01
"""[s] between steps."""
SLACK = 0.005
"""[m] by which the approach to an obstacle ends before the distance that must be kept."""
BRAKING = 0.97
"""Part of the joints' acceleration that is braked with: cubics between points exceed it a bit."""
STUCK_TIME = 0.4
"""[s] without ..."""
STUCK_WAY = 0.01
"""[rad] ... this much motion of any joint, far from a target that rests, is being stuck."""
CREEP_TIME = 1.0
"""[s] with no joint faster than ..."""
CREEP_SPEED = 0.1
"""... this part of the speed that it may have, in which an arm that comes nearer by less than"""
CREEP_NEARER, CREEP_SHARE = 0.1, 0.3
"""these parts of the distance, and of the way that the tool may go then, is stuck too: held by a
joint at its limit it creeps on for long."""
POSTURES = 20
"""Random starts of inverse kinematics, for the posture that a planned path leads to."""
MOST_POSTURES, POSTURE_TIME = 3, 2.0
"""How many of them are planned to at most, and for how long each [s]."""
SAME_POSTURE = 0.3
"""[rad] apart at most."""
RESTS, RESTS_AFAR = 1e-3, 0.03
"""[m] by which a target that rests may shake, and that as a part of the distance from it: what is
detected never quite rests."""
MOVED, TURNED = 0.02, 0.1
"""[m], [rad] by which a target has moved away from where it was."""
LOOK_AHEAD = (0.05, 0.15, 0.3)
"""[s] ahead of a planned path's motion something in the way is noticed."""
BEHIND, BEHIND_TIME = 0.08, 0.15
"""[rad] and [s] of motion by which the arm may be behind ..."""
BEHIND_PATIENCE = 0.4
"""[s] ... for so long."""
MOST_RESTARTS = 3
"""Times in one goal that an arm which stands elsewhere is gone on from there: messages that a busy
machine holds up too long are refused by controllers."""
REST_PATIENCE = 1.0
"""[s] in which the arm must come within the tolerances once it was sent there."""
SAMPLES = 0.02
"""[s] of a planned path between two looks at how fast the tool is."""
PATH_LEAD = 0.2
"""[s] by which a planned path is told ahead."""
LOOK_PERIOD = 0.02
"""[s] wall time between two looks at the target while a path is planned."""
_LASTING = frozenset(
    {
        FailureCode.GOAL_IN_COLLISION,
        FailureCode.UNREACHABLE,
        FailureCode.PLANNING_FAILED,
        FailureCode.PLANNING_TIMED_OUT,
        FailureCode.BLOCKED,
    }
)
"""What a goal that holds waits for the end of."""


@dataclass(frozen=True, slots=True)
class ReachParameters:
    """What a request leaves open."""

    position_tolerance: float = 0.005
    """[m]"""
    orientation_tolerance: float = 0.03
    """[rad]"""
    min_distance: float = 0.005
    """[m]"""
    approach_std_dev: float = 0.02
    """[m]"""
    max_linear_velocity: float = 0.4
    """[m/s]"""
    timeout: float = 30.0
    """[s]"""


@dataclass(slots=True)
class _Path:
    """A planned path that drives."""

    trajectory: Trajectory
    aim: Array
    """Pose of the target that it was planned for, 4x4."""
    time: float = 0.0
    """[s] of the trajectory that was decided last."""


@dataclass
class ReachSkill(Skill):
    """One goal; call :meth:`run`."""

    request: ReachRequest
    stream: ArmStream
    parameters: ReachParameters = ReachParameters()
    plans: int = 0
    """Planned paths that were needed."""
    distance: float = math.inf
    """[m] from the target at the end."""
    angle: float = math.inf
    """[rad] from its orientation."""
    _path: _Path | None = None
    _planned_for: Array | None = None
    """The target that the last planned path was for, while it has not moved."""
    _tried: list[Array] = field(default_factory=list)
    """Postures at the target that paths have led to, while it has not moved."""
    _held_up: str = ""
    """Why a goal that holds does not get to its target."""
    _held_up_in: int = -1
    """Revision of the planner's scene in which it does not."""
    _farthest: float = 1e-3
    """[m] greatest distance from the target so far."""
    _recent: deque[tuple[float, Array, Array, float]] = field(default_factory=deque)
    """Time, joints, target and distance of the last steps."""
    _seen: Mapping[str, ObjectView] | None = None
    _pairs: list[tuple[str, str]] | None = None
    """What may touch what; None: nothing has been looked at yet."""
    _behind_since: float | None = None
    _restarts: int = 0
    _there_since: float | None = None
    _told: bool = False
    """The stream was told a motion."""
    _step: ServoStep | None = None

    def check(self) -> None:
        """Raise `SkillFailure` where the request cannot be."""
        self.request.check(self.robot)
        self.request.target()

    def run(self) -> None:
        """Go there and, where wanted, stay.

        Raises:
            SkillFailure: with one of Reach's result codes; the arm stands.
            Cancelled: the client cancelled, and the arm stands; or a newer goal takes over, and
                goes on from the motion.
        """
        self.check()
        self._switches = contextlib.ExitStack()
        with self._switches:
            self._look()
            self._start()
            try:
                self._reach()
            except Cancelled as cancelled:
                if str(cancelled) == REPLACED:
                    self._leave()
                else:
                    self._rest()
                raise
            except BaseException:
                self._rest()
                raise
            finally:
                self._measure()

    # ------------------------------------------------------------------ the loop

    def _start(self) -> None:
        request, now = self.request, self.goal_context.now()
        self._limits = JointLimits.of(self.robot, 1.0, BRAKING)
        last = self.stream.last
        # What begins later than now was sent before the clock was set back.
        moving = last is not None and last.times[0] <= now < last.times[-1]
        if moving and last is not None:
            instant = instant_of(last, now)
        else:
            q = self.arm.state().q
            instant = Instant(q, 0 * q, 0 * q)
        self._reference = Reference(self._limits, now, instant)
        held = self.hand.held
        defaults = self.parameters
        self._position_tolerance = request.position_tolerance or defaults.position_tolerance
        self._angle_tolerance = request.orientation_tolerance or defaults.orientation_tolerance
        self._width = held.width if held else None
        least = request.min_distance or defaults.min_distance
        velocity_scaling = request.velocity_scaling or self.speeds.free
        self._max_linear_velocity = request.max_linear_velocity or defaults.max_linear_velocity
        self._creeping = CREEP_SPEED * CREEP_TIME * velocity_scaling * self._limits.velocity
        self._least_way = CREEP_SHARE * CREEP_TIME * self._max_linear_velocity
        self._servo = Servo(
            self.robot,
            self.world.planner.scene,
            instant.q,
            ServoOptions(
                period=PERIOD,
                max_velocity_scaling_factor=velocity_scaling,
                max_acceleration_scaling_factor=request.acceleration_scaling
                or self.speeds.acceleration,
                max_linear_speed=self._max_linear_velocity,
                stop_distance=least + SLACK,
                least_distance=least,
                gripper_width=self._width,
                position_tolerance=0.5 * self._position_tolerance,
                rotation_tolerance=0.5 * self._angle_tolerance,
            ),
        )
        self._begin_steps(instant)
        if last is not None and last.times[0] <= now and isinstance(last.left, ReachSkill):
            self._take_over(last.left)
        self._smoother = TargetSmoother(self._servo.tool_pose(), PERIOD) if request.smooth else None
        self._passed = Elapsed(self.goal_context.now)
        if moving:  # a newer goal turns the arm at once
            self._decide(now)

    def _leave(self) -> None:
        """Leave what is known of the way to the goal that takes this one's place."""
        if self._told:
            motion = replace(self._reference.motion(), left=self)
            self.stream.send(motion, self.goal_context.now())

    def _take_over(self, before: ReachSkill) -> None:
        """Go on with what a goal knows of the way that wants the same, but for the target.

        Goals may follow each other faster than it can be told that one is stuck.
        """
        wanted = self.request
        if replace(before.request, target=wanted.target, approach=wanted.approach) != wanted:
            return
        if before._planned_for is None or not _moved(before._planned_for, self._goal_pose()):
            self._recent, self._planned_for = before._recent, before._planned_for
            self._tried = before._tried
            if before._path is not None:
                self._path, self._reference = before._path, before._reference

    def _reach(self) -> None:
        while not self._done():
            self.goal_context.tick()
            now = self.goal_context.now()
            if self._told:  # before, it would tell how an earlier goal's motion ended
                self.stream.check()
            self._look()
            self._follow_target()
            if now < self._reference.motion().times[0]:  # the clock was set back
                self._begin_anew(now)
            reference = self._reference
            if now > reference.time:
                # Late, which a path may be after: it is planned anew then.
                reference.catch_up(now)
                self._path = self._planned_for = None
                self._begin_steps(reference.end)
            self._decide(now)
            self._watch(now)
            if self._stuck():
                self._unstick()

    def _decide(self, now: float) -> None:
        """Decide on the motion as far ahead as must be, and tell it."""
        reference = self._reference
        while reference.time < now + self._lead():
            self._extend()
        reference.trim(now)
        self.stream.send(reference.motion(), now)
        self._told = True

    def _lead(self) -> float:
        """[s] by which the motion is decided ahead: paths are in no hurry."""
        lead = self.stream.lead
        return max(lead, PATH_LEAD) if self._path is not None else lead

    def _extend(self) -> None:
        """Decide on the next period."""
        if self._path is not None:
            self._along_path(self._path)
            return
        command = self._command()
        felt = None
        if self.request.feel:
            felt = self.robot.forward_kinematics(self.arm.state().q)
        before = self._reference.end.qd
        step = self._step = self._servo.step(command, felt)
        self._reference.extend(PERIOD, Instant(step.q, step.qd, (step.qd - before) / PERIOD))
        self._remember(step)

    def _command(self) -> MotionCommand:
        request, target = self.request, self._target
        pose = self._goal_pose()
        if self._smoother is not None:
            pose = self._smoother.step(self._servo.tool_pose(), pose)
        posture = np.array(request.posture) if request.posture else None
        approach = request.way_in(target, self.parameters.approach_std_dev)
        if request.position_only:
            return MotionCommand(position=pose[:3, 3], approach=approach, posture=posture)
        return MotionCommand(pose, approach=approach, posture=posture)

    def _goal_pose(self) -> Array:
        """The target's pose; that of a position alone has the orientation that is kept."""
        pose = self._target.base_T_target
        if self.request.position_only:
            return self._servo.target(MotionCommand(position=pose[:3, 3]))
        return pose

    def _from(self, instant: Instant) -> None:
        """Small steps from here on, whatever was before."""
        self._begin_steps(instant)
        self._recent.clear()

    def _begin_steps(self, instant: Instant) -> None:
        self._servo.reset(instant.q, instant.qd, instant.qdd)

    # ------------------------------------------------------------------ what is around

    def _look(self) -> None:
        """Newest target; newest objects, but for those that are switched off."""
        self._target = self.request.target()
        objects = self.scene.objects()
        if objects is self._seen:
            return
        self._seen = objects
        self.world.sync(objects, self.hand.held)
        pairs = self._allowed(objects)
        if pairs != self._pairs:
            self._pairs = pairs
            self._switches.close()
            self._switches.enter_context(self.world.planner.scene.allowing(pairs))

    def _allowed(self, objects: Mapping[str, ObjectView]) -> list[tuple[str, str]]:
        """Pairs that may touch: with what is not known where it is at present, nothing touches."""
        lost = objects.keys() - set(self.world.planner.scene.object_names())
        off = [name for name in self.request.switched_off(objects) if name not in lost]
        touched = [name for name in self.request.may_touch if name not in lost]
        names = [ANYTHING] if ANYTHING in touched else [glob.escape(name) for name in touched]
        return [*(("*", name) for name in names), *((glob.escape(name), "*") for name in off)]

    def _follow_target(self) -> None:
        """A target that has moved on is reason to look anew."""
        pose = self._goal_pose()
        if self._planned_for is not None and _moved(self._planned_for, pose):
            self._planned_for = None
            self._held_up = ""
            if self._path is not None:
                self._hand_back()

    # ------------------------------------------------------------------ planned paths

    def _stuck(self) -> bool:
        """Whether the small steps do not come nearer to a target that rests."""
        if self._path is not None or not self._recent or self._arrived():
            return False
        return self._no_nearer(STUCK_TIME, STUCK_WAY, 0.3, math.inf) or self._no_nearer(
            CREEP_TIME, self._creeping, CREEP_NEARER, self._least_way
        )

    def _no_nearer(self, seconds: float, way: float | Array, nearer: float, least: float) -> bool:
        """Whether for so long no joint has moved by `way` [rad], the target has rested, and the arm
        has come nearer by less than a part of the distance and than `least` [m].
        """
        now, q, target, off = self._recent[-1]
        for then, q0, target0, off0 in reversed(self._recent):
            if now - then >= seconds:
                return (
                    bool(np.all(np.abs(q - q0) < way))
                    and float(np.abs(target - target0).max()) < max(RESTS, RESTS_AFAR * off0)
                    and off0 - off < min(nearer * off0, least)
                )
        return False

    def _remember(self, step: ServoStep) -> None:
        at, recent = self._reference.time, self._recent
        off = step.position_error + 0.1 * step.rotation_error
        recent.append((at, step.q, self._target.base_T_target, off))
        while len(recent) > 1 and at - recent[1][0] >= CREEP_TIME:  # late steps are far apart
            recent.popleft()

    def _unstick(self) -> None:
        """Have a planned path take over, or end; a goal that holds waits instead."""
        scene = self.world.planner.scene
        if self._held_up and self._held_up_in == scene.revision:
            return
        why = self._step.message if self._step is not None else ""
        try:
            if self.request.local_only:
                raise SkillFailure(FailureCode.BLOCKED, _blocked(why, "no planned path is wanted"))
            self._plan(why, again=self._planned_for is not None and not self._held_up)
            self._held_up = ""
        except SkillFailure as failure:
            if not (self.request.hold and failure.failure in _LASTING):
                raise
            self._held_up, self._held_up_in = str(failure), scene.revision
            self._planned_for = self._goal_pose()
        except _Elsewhere:
            self._planned_for = None
        if self._path is None:
            self._from(self._reference.end)

    def _plan(self, why: str, *, again: bool) -> None:
        """Plan to the target, or to the stand-off before it; `again`: to another posture, as the
        last path there did not help.
        """
        approach = self.request.way_in(self._target, self.parameters.approach_std_dev)
        no_help = SkillFailure(FailureCode.BLOCKED, _blocked(why, "a planned path did not help"))
        if again and approach is None:
            raise no_help
        self._feedback("plan", why or "small steps are stuck")
        self._rest()
        goal = self._goal_pose()
        aim = np.array(goal)
        if approach is not None:
            aim[:3, 3] -= approach.direction
        if not again:
            self._tried = []
        options = PlanOptions(
            max_velocity_scaling_factor=self.request.velocity_scaling or self.speeds.free,
            max_acceleration_scaling_factor=self.request.acceleration_scaling
            or self.speeds.acceleration,
            gripper_width=self._width,
        )
        self.plans += 1
        q = self._reference.end.q
        with planning_budget(), interruptible(self._watch_target(goal)):
            plan = self._plan_before(q, goal, aim, options) if approach is not None else None
            if plan is None and again:
                raise no_help
            plan = plan or checked(self.world.planner.plan_to_pose(q, [aim], options=options))
        assert plan.trajectory is not None
        self._path = _Path(
            with_tool_speed(plan.trajectory, self.robot, self._max_linear_velocity), goal
        )
        self._planned_for = goal
        now = self.goal_context.now()
        self._reference = Reference(self._limits, now, Instant(q, 0 * q, 0 * q))
        self._decide(now)

    def _plan_before(
        self, q: Array, goal: Array, stand_off: Array, options: PlanOptions
    ) -> Plan | None:
        """Plan to a posture before the target from which a straight way leads in; None: none found.

        The one that is next to the present one is often one that the arm got stuck in.
        """
        planner = self.world.planner
        options = replace(options, allowed_planning_time=POSTURE_TIME)
        plans = 0
        for posture in self._postures(q, goal):
            if any(float(np.abs(posture - other).max()) < SAME_POSTURE for other in self._tried):
                continue
            way_out = planner.plan_cartesian(posture, [stand_off], options=options).trajectory
            if way_out is None:
                continue
            plan = planner.plan_to_joints(q, way_out.positions[-1], options=options)
            plans += 1
            if plan.ok:
                self._tried.append(posture)
                return plan
            if plans == MOST_POSTURES:
                break
        return None

    def _postures(self, q: Array, goal: Array) -> list[Array]:
        """Joints that reach the target, the nearest first."""
        planner, random = self.world.planner, np.random.default_rng(0)
        seeds = [q, *random.uniform(self.robot.lower, self.robot.upper, (POSTURES, len(q)))]
        options = IkOptions(gripper_width=self._width, attempts=1)
        answers = [planner.inverse_kinematics(goal, seed=seed, options=options).q for seed in seeds]
        found = [joints for joints in answers if joints is not None]
        return sorted(found, key=lambda joints: float(np.abs(joints - q).max()))

    def _watch_target(self, planned: Array) -> Callable[[], None]:
        """A check that ends planning once the target has moved away."""
        looked = time.monotonic()

        def check() -> None:
            nonlocal looked
            if time.monotonic() - looked < LOOK_PERIOD:
                return
            looked = time.monotonic()
            newest = self.request.target().base_T_target
            if float(np.linalg.norm(newest[:3, 3] - planned[:3, 3])) > MOVED:
                raise _Elsewhere

        return check

    def _along_path(self, path: _Path) -> None:
        trajectory = path.trajectory
        path.time = min(path.time + PERIOD, trajectory.duration)
        self._reference.extend(PERIOD, Instant(*trajectory.sample(path.time)))
        if path.time >= trajectory.duration or self._in_the_way(path):
            self._hand_back()

    def _in_the_way(self, path: _Path) -> bool:
        if round(path.time / PERIOD) % 4:
            return False
        ahead = [path.time + ahead for ahead in LOOK_AHEAD]
        points = path.trajectory.sample_many(np.minimum(ahead, path.trajectory.duration))[0]
        planner, width = self.world.planner, self._width
        return any(planner.check_state(q, gripper_width=width).pairs for q in points)

    def _hand_back(self) -> None:
        self._path = None
        self._from(self._reference.end)

    # ------------------------------------------------------------------ ends

    def _arrived(self) -> bool:
        step = self._step
        if step is None or self._path is not None:
            return False
        return self._tolerates(step.position_error, step.rotation_error)

    def _tolerates(self, distance: float, angle: float) -> bool:
        """Whether so far from the target, [m] and [rad], is there."""
        free = self._angle_tolerance >= ANY_ORIENTATION
        return distance <= self._position_tolerance and (free or angle <= self._angle_tolerance)

    def _done(self) -> bool:
        if self._step is None or self.request.hold or self._path is not None:
            return False
        still = float(np.abs(self._reference.end.qd / self.robot.velocity_limits).max()) < 0.02
        if not (self._arrived() and still):
            self._there_since = None
            return False
        self._measure()
        if self._tolerates(self.distance, self.angle):
            return True
        now = self.goal_context.now()
        self._there_since = self._there_since or now
        if now - self._there_since > REST_PATIENCE:
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED,
                f"The arm was sent to the target, but the tool is {1e3 * self.distance:.1f} mm "
                f"and {self.angle:.3f} rad from it. See whether something holds the arm, or ask "
                "for wider tolerances.",
            )
        return False

    def _measure(self) -> None:
        """How far the tool is from the target, by the measured joints."""
        with contextlib.suppress(SkillFailure):
            tool = self.robot.forward_kinematics(self.arm.state().q)
            self.distance, self.angle = _apart(tool, self._goal_pose())

    def _watch(self, now: float) -> None:
        self._publish_progress()
        self._check_following(now)
        if self.request.hold and not self.request.timeout:
            return
        limit = self.request.timeout or self.parameters.timeout
        if self._passed() > limit:
            self._measure()
            detail = self._step.message if self._step is not None else ""
            raise SkillFailure(
                FailureCode.TIMED_OUT,
                f"The tool is {1e3 * self.distance:.0f} mm from the target after {limit:g} s"
                f"{': ' + detail if detail else ''}. Give it more time, or a target that rests.",
            )

    def _check_following(self, now: float) -> None:
        """Raise EXECUTION_FAILED where the arm does not go where it is sent."""
        sent, is_at = self._reference.at(now), self.arm.state().q
        behind = np.abs(is_at - sent.q) - BEHIND_TIME * np.abs(sent.qd)
        joint = int(np.argmax(behind))
        if behind[joint] < BEHIND:
            self._behind_since = None
            return
        if self._behind_since is None:
            self._behind_since = now
        if now - self._behind_since <= BEHIND_PATIENCE:
            return
        stands = float(np.abs(self.arm.state().qd).max()) < REST_SPEED
        if not stands or self._restarts >= MOST_RESTARTS:
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED,
                f"Joint {self.robot.joint_names[joint]} is "
                f"{abs(is_at[joint] - sent.q[joint]):.2f} rad from where it is sent. See "
                "whether something holds the arm, and that its "
                f"controller is active and takes what comes on {self.stream.name}.",
            )
        self._restarts += 1
        self._begin_anew(now)

    def _begin_anew(self, now: float) -> None:
        """Go on from where the arm stands."""
        q = self.arm.state().q
        self._behind_since = self._there_since = self._path = self._planned_for = None
        self._reference = Reference(self._limits, now, Instant(q, 0 * q, 0 * q))
        self._from(self._reference.end)

    def _publish_progress(self) -> None:
        step = self._step
        if self._path is not None:
            self._feedback("path", "")
        elif step is not None:
            arrived = self._arrived() and self.request.hold
            self._feedback("hold" if arrived else "step", self._held_up or step.message)

    def _feedback(self, phase: str, detail: str) -> None:
        step = self._step
        tool = self.robot.forward_kinematics(self._reference.end.q)
        off, angle = _apart(tool, self._goal_pose())
        self._farthest = max(off, self._farthest)
        self.goal_context.feedback(
            phase,
            1.0 - off / self._farthest,
            distance=off,
            angle=angle,
            clearance=step.distance if step is not None else math.inf,
            status=int(step.status if step is not None else ServoStatus.NO_WARNING),
            detail=detail,
            planned=phase == "path",
        )

    def _rest(self) -> None:
        """Brake, and wait until the arm has come to rest."""
        with shielded(self.goal_context):
            start, passed = self.goal_context.now(), Elapsed(self.goal_context.now)
            # What was sent last ends in a braking too, but a little later.
            self._reference = Reference(self._limits, start, self._reference.at(start))
            motion = self._reference.motion()
            end = float(motion.times[-1])
            self.stream.send(motion, start)
            # Where the robot is gone the caller reports why.
            with contextlib.suppress(SkillFailure):
                while passed() < STOP_TIMEOUT:
                    rests = float(np.abs(self.arm.state().qd).max()) < REST_SPEED
                    if rests and passed() >= end - start:
                        break
                    self.goal_context.tick()
                    if start <= self.goal_context.now() < end:
                        self.stream.send(motion, self.goal_context.now())
        self._reference.catch_up(max(self.goal_context.now(), end + 1e-6))


def with_tool_speed(trajectory: Trajectory, robot: RobotModel, fastest: float) -> Trajectory:
    """The same path, so slowly that the tool never goes faster [m/s]."""
    times = np.linspace(0.0, trajectory.duration, math.ceil(trajectory.duration / SAMPLES) + 1)
    speed = robot.largest_speed(trajectory.sample_many(times)[0], times)
    return trajectory.scaled(max(1.0, speed / fastest))


class _Elsewhere(Exception):
    """The target has moved away from what was being planned for."""


def _apart(first: Array, second: Array) -> tuple[float, float]:
    """[m] and [rad] between two poses."""
    shift, turn = difference(first, second)
    return float(np.linalg.norm(shift)), float(np.linalg.norm(turn))


def _moved(first: Array, second: Array) -> bool:
    distance, angle = _apart(first, second)
    return distance > MOVED or angle > TURNED


def _blocked(why: str, what: str) -> str:
    reason = f"Stuck: {why}" if why else "Small steps bring the tool no nearer"
    return f"{reason}; {what}. Clear the way, or move the target."
