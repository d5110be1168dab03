# SPDX-License-Identifier: Apache-2.0
"""Reactive Cartesian control: one small step towards a target, many times a second.

Differential inverse kinematics as a quadratic program over the joint velocities ``v``::

    minimise    |W (J v - twist)|^2 + damping |v - v_posture|^2
    subject to  velocity, acceleration, jerk and position limits of the joints
                distance rate of every close pair >= -damper(distance)

``v_posture`` lies in the null space of J, so a posture never pulls the tool off its target. The
last line is the velocity damper of Faverjon and Tournassoud ("A local based approach for path
planning of manipulators with a high number of degrees of freedom", 1987). The program has as many
unknowns as the arm has joints; DAQP solves it in some microseconds.

Dampers look at speeds alone. A link that swings past an edge may need more acceleration or jerk
than it has to keep off. So near things a step is taken only where the arm could still brake to rest
afterwards without coming too close; else it brakes. That way is known to be free: it was looked at
one step before.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import daqp
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, Vector, as_joints, as_pose, positive, scaling_factor
from behavior_motion.collision.scene import PlanningScene
from behavior_motion.collision.world import CollisionWorld, Pair, Proximity
from behavior_motion.errors import ErrorCode, MotionError
from behavior_motion.robot.model import RobotModel
from behavior_motion.servo.commands import MotionCommand
from behavior_motion.trajectories.timing import JointLimits, stop_states

MOST_PAIRS = 40
"""Number of close pairs that are kept apart; more than this are never close at once."""
ROTATION_WEIGHT = 0.3
"""Metres of position error that one radian of rotation error counts for."""
POSTURE_WEIGHT = 1e-3
"""How much joint velocities other than the null space's count against the tool's motion."""
SINGULAR_DAMPING = 3e-2
"""What is added to it in a singularity, where the joints would race otherwise."""
SMALLEST_SINGULAR_VALUE = 0.06
"""Of the Jacobian, below which it counts as near a singularity."""
BRAKING_SHARE = 0.25
"""Braking of tool and close pairs per acceleration of the weakest joint [m/s^2 per rad/s^2]: half a
metre of arm, and half of what it can do, for it has other things to do as well."""
TOOL_SHARE = 0.5
"""Part of the joints' accelerations that the tool's braking counts on."""
INVERSION_DAMPING = 1e-4
"""Of the Jacobian's inverse that tells how the joints brake the tool."""
HARDEST_BRAKING = 1.0
"""Harder braking is never counted on [m/s^2]."""
RETREAT = 0.05
"""Fastest retreat from what came closer than the stop distance [m/s]."""
POSTURE_SHARE = 0.3
"""Largest part of the joints' speed that goes into a posture."""
LIMIT_MARGIN = 0.01
"""[rad or m] before the end of a joint's range where it comes to rest: `stop_trajectory` brakes a
little softer."""
BRAKE_CHECKS = 4
"""States along a braking that are checked for collisions."""
NEARER = 1e-3
"""[m] by which what was too close from the start may come closer."""
_YZX, _ZXY = [1, 2, 0], [2, 0, 1]
HARD, SOFT = 0, 8
"""DAQP's marks of constraints."""


class ServoStatus(enum.IntEnum):
    """What kept a step from going straight to the target; names as in moveit_servo."""

    NO_WARNING = 0
    DECELERATE_FOR_APPROACHING_SINGULARITY = 1
    DECELERATE_FOR_COLLISION = 4
    """Something is near on the way: slower, or beside it."""
    HALT_FOR_COLLISION = 5
    """Something is in the way and there is no way past it by small steps."""
    JOINT_BOUND = 6
    """A joint is at its limit."""


@dataclass(frozen=True)
class ServoOptions:
    """How to move."""

    period: float = 0.01
    """Time between steps [s]."""
    max_velocity_scaling_factor: float = 0.5
    """Fraction of the joints' velocity limits, (0, 1]."""
    max_acceleration_scaling_factor: float = 0.5
    """Fraction of the joints' acceleration and jerk limits, (0, 1]."""
    max_linear_speed: float = 0.5
    """Of the tool [m/s]."""
    max_angular_speed: float = 2.0
    """Of the tool [rad/s]."""
    gain: float = 6.0
    """Speed per remaining error [1/s]."""
    stop_distance: float = 0.005
    """Where the approach of a pair ends, unless it was closer already [m]. Links that swing past
    each other at full speed may use up most of it: leave some."""
    least_distance: float = 0.0
    """Never closer than this to things that rest, unless it was closer already [m]; below
    ``stop_distance``."""
    influence_distance: float | None = None
    """Pairs closer than this slow the arm down [m]; None: as much as braking from
    ``max_linear_speed`` takes. Less is only safe for things that are approached slowly."""
    gripper_width: float | None = None
    """Opening of the gripper, for collisions of the fingers [m]; None: open."""
    position_tolerance: float = 1e-3
    """Of arrival [m]."""
    rotation_tolerance: float = 0.01
    """Of arrival [rad]."""

    def __post_init__(self) -> None:
        scaling_factor("max_velocity_scaling_factor", self.max_velocity_scaling_factor)
        scaling_factor("max_acceleration_scaling_factor", self.max_acceleration_scaling_factor)
        for name in ("max_linear_speed", "max_angular_speed"):
            positive(name, getattr(self, name), ErrorCode.INVALID_SPEED)
        for name in ("period", "gain", "position_tolerance", "rotation_tolerance"):
            positive(name, getattr(self, name))
        if self.gain * self.period > 1.0:
            raise MotionError(
                ErrorCode.INVALID_OPTION,
                f"gain: at most 1 / period = {1 / self.period:g} wanted, got {self.gain:g}; steps "
                "would lead past the target, ever farther",
            )
        if self.influence_distance is not None:
            positive("influence_distance", self.influence_distance)
        positive("stop_distance", self.stop_distance, zero=True)
        positive("least_distance", self.least_distance, zero=True, at_most=self.stop_distance)
        if self.gripper_width is not None:
            positive("gripper_width", self.gripper_width, zero=True)


@dataclass(frozen=True, eq=False)
class ServoStep:
    """What to command now, and how things stand."""

    q: Vector
    """Joint positions at the end of this period, (dof,) [rad or m]."""
    qd: Vector
    """Joint velocities then, (dof,) [rad/s or m/s]."""
    position_error: float
    """Distance of the tool from the command's target before the step [m]."""
    rotation_error: float
    """Angle between them [rad]."""
    distance: float
    """Of the closest pair, where below the influence distance; else infinity [m]."""
    status: ServoStatus
    message: str
    """What holds the arm up, in words; empty where nothing does."""
    arrived: bool
    """True where both errors are within tolerance and the arm stands."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Minimise ``v H v / 2 + g v`` for ``lower <= v <= upper`` and, if it can be, ``A v >= b``."""

    hessian: Matrix
    """H, (dof, dof)."""
    gradient: Vector
    """g, (dof,)."""
    rows: Matrix
    """A, (pairs, dof)."""
    least: Vector
    """b, (pairs,) [m/s]."""
    lower: Vector
    """(dof,) [rad/s]."""
    upper: Vector
    """(dof,) [rad/s]."""


class Servo:
    """Steps of one arm. Not safe to share between threads; the scene may change meanwhile."""

    def __init__(
        self,
        robot: RobotModel,
        scene: PlanningScene,
        q: Vector,
        options: ServoOptions | None = None,
    ) -> None:
        """Start at rest at joints ``q``; ``scene`` is followed as it changes."""
        self.robot, self.scene = robot, scene
        self.options = options or ServoOptions()
        limits = JointLimits.of(
            robot,
            self.options.max_velocity_scaling_factor,
            self.options.max_acceleration_scaling_factor,
        )
        self._limits = limits
        self._velocity, self._acceleration = limits.velocity, limits.acceleration
        self._jerk = limits.jerk
        weakest = float(self._acceleration.min())
        self._braking = min(HARDEST_BRAKING, BRAKING_SHARE * weakest)
        # Until a brake bites, and the last part of the way, which is gone by `gain`.
        self._late = float((limits.acceleration / limits.jerk).max()) + 0.5 / self.options.gain
        speed = self.options.max_linear_speed
        self._influence = self.options.influence_distance or (
            self.options.stop_distance + speed * self._late + 0.5 * speed**2 / self._braking
        )
        self._data = robot.pin_model.createData()
        self._tool = robot.pin_model.getFrameId(robot.tool_frame, pin.FrameType.BODY)
        self._world = CollisionWorld(robot, scene.snapshot())
        self.reset(q)

    def reset(
        self, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
    ) -> None:
        """Go on from joints ``q``, velocities ``qd`` and accelerations ``qdd``; None: zero.

        Raises:
            MotionError: INVALID_JOINT_COUNT or NOT_FINITE.
        """
        names = self.robot.joint_names
        zero = np.zeros(self.robot.dof)
        self._q = as_joints("q", q, names)
        self._qd = zero if qd is None else as_joints("qd", qd, names)
        self._qdd = zero if qdd is None else as_joints("qdd", qdd, names)
        self._floors: dict[Pair, float] = {}
        self._margins: tuple[CollisionWorld, dict[Pair, float]] | None = None
        self._kept: Matrix | None = None

    @property
    def q(self) -> Vector:
        """Joints last commanded, (dof,)."""
        return np.array(self._q)

    def tool_pose(self) -> Matrix:
        """Pose of the tool at the joints last commanded, (4, 4) in the base frame."""
        return self.robot.forward_kinematics(self._q)

    def step(self, command: MotionCommand, felt: Matrix | None = None) -> ServoStep:
        """Advance by one period towards the command's target.

        The state it starts from is what was commanded last, not what was measured: so a
        controller's lag does not slow it down. Use :meth:`reset` after the arm was moved otherwise.

        Args:
            command: where to.
            felt: measured pose of the tool, (4, 4) in the base frame, that the approach's funnel
                looks at: what contact has pushed off the axis comes in again. None: the commanded
                one.
        """
        tool = self.tool_pose()
        target = self.target(command)
        aim = target
        if command.approach is not None:
            seen = tool if felt is None else as_pose("felt", felt)
            aim = command.approach.shifted(seen, target)
        jacobian, joint_jacobians = self._jacobians()
        twist = self._wanted_twist(tool, aim, jacobian)
        close = self._close_pairs()
        qd = self._velocities(command, jacobian, joint_jacobians, twist, close)
        if close and not self._can_stop(qd):
            qd = self._braking_velocities()
        status, message = self._judged(twist, jacobian @ qd, jacobian, close)
        dt = self.options.period
        # Position with the mean of both velocities: the acceleration is constant over the step.
        # What is outside its limits from the start does not jump there, nor goes farther.
        lowest, highest = (
            np.minimum(self.robot.lower, self._q),
            np.maximum(self.robot.upper, self._q),
        )
        self._q = np.clip(self._q + 0.5 * dt * (self._qd + qd), lowest, highest)
        self._qdd, self._qd = (qd - self._qd) / dt, qd
        shift, turn = difference(tool, target)
        off, angle = float(np.linalg.norm(shift)), float(np.linalg.norm(turn))
        return ServoStep(
            np.array(self._q),
            np.array(qd),
            off,
            angle,
            close[0].distance if close else math.inf,
            status,
            message,
            off <= self.options.position_tolerance
            and angle <= self.options.rotation_tolerance
            and float(np.abs(qd / self._velocity).max()) < 0.02,
        )

    def target(self, command: MotionCommand) -> Matrix:
        """The pose commanded, before any approach, (4, 4) in the base frame.

        Positions alone keep the orientation that the tool had when the first of them came: the
        present one would drift.
        """
        if command.pose is not None or self._kept is None:
            self._kept = self.tool_pose()
        return command.target(self._kept)

    def stop(self) -> ServoStep:
        """Advance by one period, slowing every joint down as hard as its limits allow."""
        dt = self.options.period
        qd = self._braking_velocities()
        self._q = self._q + 0.5 * dt * (self._qd + qd)
        self._qdd, self._qd = (qd - self._qd) / dt, qd
        return ServoStep(
            np.array(self._q), np.array(qd), 0.0, 0.0, math.inf, ServoStatus.NO_WARNING, "", False
        )

    # ---------------------------------------------------------------- braking

    def _can_stop(self, qd: Vector) -> bool:
        """Whether the arm could brake to rest after a step to velocities ``qd``, keeping off."""
        self._set_margins()
        if self._world.collides(self._q):
            return True  # Something came too close by itself: dampers know the way out.
        dt = self.options.period
        q = self._q + 0.5 * dt * (self._qd + qd)
        qdd = (qd - self._qd) / dt
        brake = stop_states(q, qd, self._limits, qdd=qdd, count=BRAKE_CHECKS)
        return not any(self._world.collides(point) for point in brake)

    def _set_margins(self) -> None:
        """Have collision checks count what is closer than may be; near from the start is not."""
        least = self.options.least_distance
        near = {pair: floor - NEARER for pair, floor in self._floors.items() if floor < least}
        if (self._world, near) != self._margins:
            self._world.set_margins(least, near)
            self._margins = self._world, near

    def _braking_velocities(self) -> Vector:
        """After one period of braking, (dof,)."""
        still = np.zeros(self.robot.dof)
        lower, upper = self._reachable(still, still)
        qd: Vector = np.clip(still, lower, upper)
        return qd

    # ---------------------------------------------------------------- the program

    def _jacobians(self) -> tuple[Matrix, Matrix]:
        """Of the tool, (6, dof), and of every joint, (joints, 6, dof); base axes."""
        model, data, index = self.robot.pin_model, self._data, self.robot.v_index
        full = self.robot.full_configuration(self._q, self.options.gripper_width)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.computeJointJacobians(model, data, full)
        pin.updateFramePlacement(model, data, self._tool)
        tool = np.array(pin.getFrameJacobian(model, data, self._tool, aligned))[:, index]
        joints = np.stack(
            [
                np.array(pin.getJointJacobian(model, data, j, aligned))[:, index]
                for j in range(model.njoints)
            ]
        )
        turn = self.robot.base_T_root[:3, :3]
        return np.concatenate([turn @ tool[:3], turn @ tool[3:]]), joints

    def _wanted_twist(self, tool: Matrix, aim: Matrix, jacobian: Matrix) -> Vector:
        """Velocity of the tool towards ``aim``, (6,): linear [m/s] over angular [rad/s]."""
        options = self.options
        shift, turn = difference(tool, aim)
        still = np.zeros(3)
        braking = min(self._braking, self._can_brake(np.concatenate([shift, still]), jacobian))
        linear = self._pace(shift, options.max_linear_speed, braking)
        braking = min(
            self._braking / ROTATION_WEIGHT,
            self._can_brake(np.concatenate([still, turn]), jacobian),
        )
        angular = self._pace(turn, options.max_angular_speed, braking)
        return np.concatenate([linear, angular])

    def _can_brake(self, way: Vector, jacobian: Matrix) -> float:
        """How hard the joints can brake the tool on its ``way``, (6,) [m/s^2 or rad/s^2].

        A folded arm's joints turn far for a short way. Sent there faster than they can brake it,
        the tool swings aside, which sends it up again where it comes in through a funnel.
        """
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            return math.inf
        squared = jacobian @ jacobian.T + INVERSION_DAMPING * np.eye(6)
        rates = np.abs(jacobian.T @ np.linalg.solve(squared, way / length))
        return TOOL_SHARE * float((self._acceleration / np.maximum(rates, 1e-9)).min())

    def _pace(self, way: Vector, fastest: float, braking: float) -> Vector:
        """Velocity along ``way``, slow enough to brake in time."""
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            return np.zeros(3)
        return way * (min(fastest, self._speed_for(length, braking)) / length)

    def _speed_for(self, room: float, braking: float) -> float:
        """Speed that can be brought to rest within ``room``: gain times room in the end."""
        gain = self.options.gain
        knee = braking / gain**2
        if room <= knee:
            return gain * room
        return math.sqrt(2 * braking * (room - 0.5 * knee))

    def _close_pairs(self) -> list[Proximity]:
        snapshot = self.scene.snapshot()
        if self._world.scene.structure != snapshot.structure:
            self._world = CollisionWorld(self.robot, snapshot)
            self._floors.clear()
        elif self._world.scene.revision != snapshot.revision:
            self._world.move_objects(snapshot)
        self._world.set_gripper_width(self.options.gripper_width)
        return self._world.near(self._q, self._influence)[:MOST_PAIRS]

    def _velocities(
        self,
        command: MotionCommand,
        jacobian: Matrix,
        joint_jacobians: Matrix,
        twist: Vector,
        close: list[Proximity],
    ) -> Vector:
        dof = self.robot.dof
        weights = np.array([1.0] * 3 + [ROTATION_WEIGHT] * 3)
        task, wanted = jacobian * weights[:, None], twist * weights
        hessian = task.T @ task
        smallest = float(np.linalg.svd(task, compute_uv=False)[-1])
        nearness = max(0.0, 1.0 - smallest / SMALLEST_SINGULAR_VALUE)
        damping = POSTURE_WEIGHT + SINGULAR_DAMPING * nearness**2
        hessian += damping * np.eye(dof)
        gradient = -task.T @ wanted - damping * self._posture_velocity(command, task)
        lower, upper = self._bounds()
        rows, least = self._dampers(close, joint_jacobians)
        qd = self._solve(Program(hessian, gradient, rows, least, lower, upper))
        if qd is None:
            # Stand still as fast as the joints can: always within the bounds.
            qd = np.zeros(dof)
        kept: Vector = np.clip(qd, lower, upper)
        return kept

    def _solve(self, program: Program) -> Vector | None:
        """The velocities that the program asks for, or None where none are found."""
        soft = len(program.least)
        qd, _, flag, _ = daqp.solve(
            np.ascontiguousarray(program.hessian),
            np.ascontiguousarray(program.gradient),
            np.ascontiguousarray(program.rows),
            np.concatenate([program.upper, np.full(soft, 1e30)]),
            np.concatenate([program.lower, program.least]),
            np.array([HARD] * len(program.lower) + [SOFT] * soft, dtype=np.int32),
        )
        found: Vector | None = qd if flag >= 1 and np.all(np.isfinite(qd)) else None
        return found

    def _posture_velocity(self, command: MotionCommand, task: Matrix) -> Vector:
        """Velocity towards the posture that leaves the tool where it is, (dof,)."""
        # Without a posture the present motion is damped: a null space must not drift.
        if command.posture is None:
            return np.zeros(self.robot.dof)
        posture = as_joints("MotionCommand.posture", command.posture, self.robot.joint_names)
        wish = 0.5 * self.options.gain * (posture - self._q)
        # Slower as a whole: clipped joint by joint it would come to rest elsewhere.
        wish = wish / max(1.0, float(np.abs(wish / self._velocity).max()) / POSTURE_SHARE)
        free: Vector = wish - np.linalg.pinv(task, rcond=1e-2) @ (task @ wish)
        return free

    def _bounds(self) -> tuple[Vector, Vector]:
        """Velocities that the limits allow at the end of this step."""
        ahead = self._towards_limit(self.robot.upper - LIMIT_MARGIN - self._q, self._qd)
        behind = self._towards_limit(self._q - LIMIT_MARGIN - self.robot.lower, -self._qd)
        return self._reachable(
            -np.minimum(self._velocity, behind), np.minimum(self._velocity, ahead)
        )

    def _reachable(self, least: Vector, most: Vector) -> tuple[Vector, Vector]:
        """Velocities in ``least``..``most`` that acceleration and jerk let this step reach.

        Only those count from which both can be kept later on too. What cannot be kept any more is
        done as far as it can.
        """
        dt, slew = self.options.period, self._jerk * self.options.period
        lowest = np.maximum(-self._acceleration, self._qdd - slew)
        highest = np.minimum(self._acceleration, self._qdd + slew)
        rise = np.clip(self._fading(most - self._qd), lowest, highest)
        fall = np.clip(-self._fading(self._qd - least), lowest, highest)
        upper = self._qd + dt * rise
        return np.minimum(self._qd + dt * fall, upper), upper

    def _fading(self, room: Vector) -> Vector:
        """Largest acceleration that can fade to none before the velocity has used up ``room``."""
        # a dt + a^2 / (2 jerk) <= room, solved for a.
        dt = self.options.period
        fading = self._jerk * (np.sqrt(dt * dt + 2 * np.maximum(room, 0.0) / self._jerk) - dt)
        result: Vector = np.where(room < 0.0, room / dt, fading)
        return result

    def _towards_limit(self, room: Vector, speed: Vector) -> Vector:
        """Largest speed after this step from which the joints can still stop in ``room``."""
        dt, brake = self.options.period, 0.9 * self._acceleration
        # Time until the brake bites.
        late = 0.5 * dt + self._acceleration / self._jerk
        # room - speed dt / 2 >= v late + v^2 / (2 brake), solved for v.
        left = np.maximum(room - 0.5 * dt * np.maximum(speed, 0.0), 0.0)
        result: Vector = brake * (np.sqrt(late * late + 2 * left / brake) - late)
        return result

    def _dampers(self, close: list[Proximity], jacobians: Matrix) -> tuple[Matrix, Vector]:
        """Rows (K, dof) and bounds (K,) that keep the close pairs apart."""
        if not close:
            return np.empty((0, self.robot.dof)), np.empty(0)
        normals = np.array([item.normal for item in close])
        first, second = (self._along(normals, jacobians, close, side) for side in (0, 1))
        return second - first, np.array([self._least_rate(item) for item in close])

    def _along(
        self, normals: Matrix, jacobians: Matrix, close: list[Proximity], side: int
    ) -> Matrix:
        """Speed of each pair's nearest point on one side along its normal, (K, dof) per joint."""
        joints = [item.joints[side] for item in close]
        origins = np.array([self._data.oMi[j].translation for j in joints])
        arms = np.array([item.points[side] for item in close]) - origins
        # n . (v + w x r) = n . v + (r x n) . w
        # As `np.cross(arms, normals)`, which takes ten times as long for so few.
        turning = arms[:, _YZX] * normals[:, _ZXY] - arms[:, _ZXY] * normals[:, _YZX]
        wrenches = np.concatenate([normals, turning], axis=1)
        result: Matrix = np.einsum("ki,kij->kj", wrenches, jacobians[joints])
        return result

    def _least_rate(self, item: Proximity) -> float:
        """Smallest rate that a distance may change with [m/s]."""
        # What is closer than the stop distance when first seen may stay so: things that rest on
        # others must not make the arm withdraw.
        stop = self.options.stop_distance
        floor = self._floors.setdefault(item.pair, min(stop, item.distance))
        room = item.distance - floor
        if room >= 0:
            # room >= v late + v^2 / (2 braking), solved for v.
            late, braking = self._late, self._braking
            return -braking * (math.sqrt(late * late + 2 * room / braking) - late)
        return min(-self.options.gain * room, RETREAT)

    # ---------------------------------------------------------------- the verdict

    def _judged(
        self, wanted: Vector, done: Vector, jacobian: Matrix, close: list[Proximity]
    ) -> tuple[ServoStatus, str]:
        """What kept the tool from moving as wanted."""
        weights = np.array([1.0] * 3 + [ROTATION_WEIGHT] * 3)
        speed = float(np.linalg.norm(wanted * weights))
        lag = float(np.linalg.norm((wanted - done) * weights))
        if lag < max(0.3 * speed, 1e-3):
            return ServoStatus.NO_WARNING, ""
        standing = float(np.linalg.norm(done * weights)) < 0.05 * speed
        tight = [p for p in close if p.distance < 2 * self.options.stop_distance + 0.01]
        if tight:
            a, b = tight[0].pair
            where = f"{a!r} is {1e3 * tight[0].distance:.0f} mm from {b!r}"
            if standing:
                return (
                    ServoStatus.HALT_FOR_COLLISION,
                    f"{where}, in the way; plan a way about it, or let the pair touch",
                )
            return ServoStatus.DECELERATE_FOR_COLLISION, where
        room = np.minimum(self._q - self.robot.lower, self.robot.upper - self._q)
        joint = int(np.argmin(room))
        if room[joint] < 0.02:
            return (
                ServoStatus.JOINT_BOUND,
                f"{self.robot.joint_names[joint]} is at its limit; come in from another posture",
            )
        if np.linalg.svd(jacobian, compute_uv=False)[-1] < SMALLEST_SINGULAR_VALUE:
            return (
                ServoStatus.DECELERATE_FOR_APPROACHING_SINGULARITY,
                "the arm is near a singularity; keep away from full stretch",
            )
        return ServoStatus.NO_WARNING, ""


def difference(tool: Matrix, target: Matrix) -> tuple[Vector, Vector]:
    """Translation [m] and rotation vector [rad] from ``tool`` to ``target``, base axes."""
    turn: Vector = np.array(pin.log3(target[:3, :3] @ tool[:3, :3].T))
    return target[:3, 3] - tool[:3, 3], turn
