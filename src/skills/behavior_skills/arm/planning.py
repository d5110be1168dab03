# SPDX-License-Identifier: Apache-2.0
"""The planner as the skills use it: its scene follows the detected one, its codes become ours."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion import (
    Box,
    Cylinder,
    ErrorCode,
    HalfSpace,
    IkOptions,
    MotionPlanner,
    OrientationConstraint,
    Plan,
    PlanOptions,
    RobotModel,
    Shape,
    Sphere,
    Trajectory,
)
from behavior_motion.collision.other_links import place_other_links
from behavior_motion.object_state import ObjectState
from behavior_motion.robot.other_links import PREFIX
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    HeldObject,
    ObjectView,
    SkillFailure,
)
from behavior_skills.sentences import sentence

GROUND = "ground"
IN_THE_AIR = 0.01
"""[m] What has nothing so near below it, and is let go, falls."""
SMALL_MOVE = 5e-4
"""[m] objects that moved less than this are left where they are in the planner's scene."""
OTHER_SIZE = 5e-3
"""[m] A size that differs less is the same one, measured anew: a changed shape costs the planner
and who steps through its scene far more than a moved object."""

HELD_ANGLE = 0.1
"""[rad] by which the tool may turn about an axis beyond what it must, with a hold weight of 1."""
MOST_FAILED_PLANS = 5
"""Plans that may fail in a row."""
TURN_SLACK = 0.01
"""[rad] of measured joints and of the planner's own check."""

_FAILURES = {
    ErrorCode.START_STATE_INVALID: FailureCode.PLANNING_FAILED,
    ErrorCode.GOAL_STATE_INVALID: FailureCode.INVALID_REQUEST,
    ErrorCode.START_STATE_IN_COLLISION: FailureCode.PLANNING_FAILED,
    ErrorCode.GOAL_IN_COLLISION: FailureCode.GOAL_IN_COLLISION,
    ErrorCode.NO_IK_SOLUTION: FailureCode.UNREACHABLE,
    ErrorCode.CARTESIAN_PATH_UNREACHABLE: FailureCode.UNREACHABLE,
    ErrorCode.TIMED_OUT: FailureCode.PLANNING_TIMED_OUT,
}


@dataclass(frozen=True, slots=True)
class Speeds:
    """How fast to move."""

    free: float
    """Velocity scaling of free motion, (0, 1]."""
    acceleration: float
    """Acceleration scaling, (0, 1]."""
    approach: float
    """Largest speed of the tool near things [m/s]."""


@dataclass(frozen=True, slots=True)
class ApproachPlan:
    """A way to a pose by free motion and a straight last part, as one trajectory."""

    trajectory: Trajectory
    approach_at: float
    """Time at which the straight part begins [s]."""
    q_end: Array
    """Joints at the end [rad]."""


def shape_of(obj: ObjectView) -> Shape:
    """The object's shape in the planner's terms."""
    if obj.shape == "sphere":
        return Sphere(obj.size[0])
    if obj.shape == "cylinder":
        return Cylinder(radius=obj.size[1], height=obj.size[0])
    x, y, z = obj.size
    return Box((x, y, z))


def _same_shape(first: Shape, second: Shape) -> bool:
    """Whether two shapes are alike: boxes that a detector measures are never quite the same."""
    if first == second or type(first) is not type(second):
        return first == second
    return bool(
        np.allclose(
            np.hstack(dataclasses.astuple(first)),
            np.hstack(dataclasses.astuple(second)),
            atol=OTHER_SIZE,
            rtol=0.0,
        )
    )


def hangs(name: str, objects: Mapping[str, ObjectView], ground: float) -> bool:
    """Whether an object has nothing below it that it could rest on.

    Args:
        name: of the object; one that is not there, lost or held does not hang.
        objects: all that are there, in the robot's base frame.
        ground: height of the surface below all in that frame [m].
    """
    obj = objects.get(name)
    if obj is None or obj.state in (ObjectState.LOST, ObjectState.ATTACHED):
        return False
    extents, position = _extents(obj), obj.base_T_object[:3, 3]
    air = position[2] - extents[2] - IN_THE_AIR
    for other in objects.values():
        if other is obj or other.state is ObjectState.LOST:
            continue
        reach = _extents(other)
        apart = np.abs(other.base_T_object[:2, 3] - position[:2])
        if np.all(apart < reach[:2] + extents[:2]) and other.base_T_object[2, 3] + reach[2] > air:
            return False
    return bool(air > ground)


def _extents(obj: ObjectView) -> Array:
    """Half edges of the box around an object along the base frame's axes [m]."""
    extents: Array = np.abs(obj.base_T_object[:3, :3]) @ obj.half_extents
    return extents


class PlanningWorld:
    """A planner whose scene mirrors the detected objects."""

    def __init__(
        self,
        planner: MotionPlanner,
        ground: float,
        other_joints: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        """Of a planner.

        Args:
            planner: of a robot, or of one group of it.
            ground: height of the plane that everything stands on, in the base frame [m]; of a group
                in the frame of all of the robot.
            other_joints: where the joints of the robot's other groups are [rad, m].
        """
        self.planner = planner
        self._ground = ground
        self._other_joints = other_joints
        robot = planner.robot
        surface = np.eye(4)
        surface[2, 3] = ground
        planner.scene.add_object(GROUND, HalfSpace(), surface)
        planner.scene.allow_collision(GROUND, robot.base_frame)
        self._place_the_rest()

    def _place_the_rest(self) -> None:
        """Bring what the group does not move to where it is: other links, and the ground below."""
        scene, others = self.planner.scene, self.planner.robot.others
        if others is None:
            return
        joints = self._other_joints()
        place_other_links(scene, joints)
        scene.move_object(GROUND, self._surface(joints))

    def _surface(self, joints: Mapping[str, float]) -> Array:
        """base_T_surface of the ground, where the robot's other joints are as given."""
        others = self.planner.robot.others
        surface = np.eye(4) if others is None else others.base_T_root(joints)
        surface[:3, 3] += self._ground * surface[:3, 2]
        return surface

    def ground_height(self) -> float:
        """Height of the ground in the base frame [m]: of a group, below what carries it now."""
        return float(self._surface(self._other_joints())[2, 3])

    def warm_up(self) -> None:
        """Plan something once: the first plan loads and compiles what later ones use."""
        robot = self.planner.robot
        start = np.array(next(iter(robot.named.values())))
        options = PlanOptions(max_cartesian_speed=0.1)
        tool = robot.forward_kinematics(start)
        lowered = tool.copy()
        lowered[2, 3] -= 0.05
        self.planner.inverse_kinematics(lowered, seed=start)
        plan = self.planner.plan_cartesian(start, [lowered], options=options)
        if plan.trajectory is not None:
            back = self.planner.plan_to_joints(plan.trajectory.positions[-1], start)
            if back.trajectory is not None:
                plan.trajectory.concatenate(back.trajectory)

    def sync(self, objects: Mapping[str, ObjectView], held: HeldObject | None) -> None:
        """Make the planner's scene that of `objects`, with `held` in the gripper."""
        scene = self.planner.scene
        wanted = {obj.name: obj for obj in objects.values() if obj.state is not ObjectState.LOST}
        self._place_the_rest()
        for name in set(scene.object_names()) - set(wanted) - {GROUND}:
            if not name.startswith(PREFIX):
                scene.remove_object(name)
        for name, obj in wanted.items():
            if held is not None and name == held.name:
                self._carry(obj, held)
            elif (
                name not in scene.object_names()
                or name in scene.attached()
                or not _same_shape(scene.object_shape(name), shape_of(obj))
            ):
                scene.add_object(name, shape_of(obj), obj.base_T_object)
            elif not np.allclose(
                scene.object_pose(name), obj.base_T_object, atol=SMALL_MOVE, rtol=0.0
            ):
                scene.move_object(name, obj.base_T_object)

    def _carry(self, obj: ObjectView, held: HeldObject) -> None:
        scene, tool = self.planner.scene, self.planner.robot.tool_frame
        carried = scene.attached().get(held.name)
        if carried is not None and np.allclose(carried.link_T_object, held.tool_T_object):
            return
        scene.add_object(held.name, shape_of(obj), obj.base_T_object)
        scene.attach_object(held.name, tool, link_T_object=held.tool_T_object)

    @contextlib.contextmanager
    def touching(self, name: str, *others: str) -> Iterator[None]:
        """Within the block the object may touch the hand and `others`."""
        links = self.planner.robot.gripper.touch_links
        with self.planner.scene.allowing([(name, other) for other in (*links, *others)]):
            yield

    @contextlib.contextmanager
    def ignoring_collisions(self, substrings: Sequence[str]) -> Iterator[None]:
        """Within the block things whose name contains one of `substrings` are no obstacles.

        Things only: the robot's links count however they are called, and so does what it carries.
        """
        scene = self.planner.scene
        names = set(scene.object_names()) - set(scene.attached())
        ignored = [name for name in names if any(text in name for text in substrings)]
        with scene.allowing([(glob.escape(name), "*") for name in ignored]):
            yield

    @contextlib.contextmanager
    def released(self, name: str) -> Iterator[None]:
        """Within the block what is carried is no obstacle: it stays behind when the hand goes."""
        with self.planner.scene.allowing([(name, "*")]):
            yield

    def straight_then_free(
        self,
        q_start: Array,
        target: Array,
        offset: Array,
        *,
        free: PlanOptions,
        straight: PlanOptions,
        object_name: str,
        in_a_row: PlanFailures,
        contacts: Sequence[str] = (),
        let_go: str = "",
    ) -> ApproachPlan:
        """Free motion to `offset` beside the target, then a straight line to it.

        The straight part is planned first and backwards, from the target: it decides whether the
        target is good at all, and the free part need only reach one joint vector.

        Args:
            q_start: where the arm is [rad].
            target: 4x4 tool pose.
            offset: from the target to the start of the straight part, in the base frame [m].
            free: options of the free part.
            straight: options of the straight part.
            object_name: that the hand works on.
            in_a_row: counts failures of the free part.
            contacts: other objects it may touch in the straight part.
            let_go: object that falls out of the open hand and is no obstacle to that; empty: none.

        Raises:
            SkillFailure: UNREACHABLE, GOAL_IN_COLLISION, PLANNING_FAILED ...
            Final: too many failures in a row.
        """
        planner = self.planner
        outside = target.copy()
        outside[:3, 3] = target[:3, 3] + offset
        with self.touching(object_name, *contacts):
            found = planner.inverse_kinematics(
                target,
                seed=q_start,
                options=IkOptions(gripper_width=straight.gripper_width),
            )
            if found.q is None:
                raise SkillFailure(
                    _FAILURES.get(found.code, FailureCode.PLANNING_FAILED), sentence(found.message)
                )
            back = checked(planner.plan_cartesian(found.q, [outside], options=straight))
        assert back.trajectory is not None
        falls = [(let_go, link) for link in planner.robot.gripper.touch_links if let_go]
        touched = self._present_contacts(q_start, free.gripper_width)
        with planner.scene.allowing([*touched, *falls]):
            reach = in_a_row.checked(
                planner.plan_to_joints(q_start, back.trajectory.positions[-1], options=free)
            )
        assert reach.trajectory is not None
        approach = back.trajectory.reversed()
        return ApproachPlan(
            reach.trajectory.concatenate(approach), reach.trajectory.duration, found.q
        )

    def straight_up(self, q: Array, height: float, name: str, options: PlanOptions) -> Trajectory:
        """Raise the tool straight up, or as far as the arm can, at least a third of `height` [m].

        Away from where the hand has just worked: when believed contacts are in the way, noise put
        them there, and up is still the best way out.

        Raises:
            SkillFailure: the arm cannot.
        """
        target = self.planner.robot.forward_kinematics(q)
        target[2, 3] += height

        def plan() -> Plan:
            return self.planner.plan_cartesian(q, [target], options=options, min_fraction=0.3)

        with self.touching(name):
            up = plan()
        if not up.ok:
            with self.planner.scene.allowing([("*", "*")]):
                up = checked(plan())
        assert up.trajectory is not None
        return up.trajectory

    def _present_contacts(self, q: Array, width: float | None) -> list[tuple[str, str]]:
        """Objects that the robot is believed to touch already, with what touches them.

        Fingers that let go of a block, or a block that fell beside the hand, must not keep the arm
        from moving away.
        """
        objects = set(self.planner.scene.object_names()) - {GROUND}
        pairs = self.planner.check_state(q, gripper_width=width).pairs
        return [(a, b) for a, b, _ in pairs if a in objects or b in objects]

    def contacts_of_held(self, q: Array, held: HeldObject) -> list[tuple[str, str]]:
        """Pairs of what is held and things of the scene that it is believed to touch already."""
        pairs = self._present_contacts(q, held.width)
        return [pair for pair in pairs if self._is_thing(set(pair) - {held.name})]

    def _is_thing(self, others: set[str]) -> bool:
        things = set(self.planner.scene.object_names()) - {GROUND}
        return len(others) == 1 and others <= {n for n in things if not n.startswith(PREFIX)}


@dataclass(frozen=True, slots=True)
class HeldOrientation:
    """How the tool may turn on a way: no further about each of its axes than its weight lets it.

    About an axis without a weight it turns freely. About the others it turns from its orientation
    at the start to that at the goal and, beyond, by `HELD_ANGLE` over the weight.
    """

    start: Array
    """Tool pose, 4x4."""
    goal: Array
    """Tool pose, 4x4."""
    weights: tuple[float, float, float]
    """Of turning about the tool's x, y and z."""

    def allowed(self) -> Array:
        """Largest turn from the start about each of the tool's axes [rad], shape (3,)."""
        weights = np.asarray(self.weights, dtype=np.float64)
        with np.errstate(divide="ignore"):
            slack = np.where(weights > 0.0, HELD_ANGLE / weights, np.inf)
        allowed: Array = np.abs(_turn(self.start, self.goal)) + slack
        return allowed

    def constraint(self) -> OrientationConstraint | None:
        """What the planner is told: the axis about which turning is freest keeps its direction."""
        if not any(self.weights):
            return None
        free = int(np.argmin(self.weights))
        axis = np.eye(3)[free]
        between = float(np.arccos(np.clip(self.start[:3, free] @ self.goal[:3, free], -1.0, 1.0)))
        others = [weight for i, weight in enumerate(self.weights) if i != free]
        tolerance = min(between + HELD_ANGLE / max(others), math.pi)
        return OrientationConstraint(tolerance, axis=(axis[0], axis[1], axis[2]))

    def problem(self, robot: RobotModel, path: Array) -> str | None:
        """Where a path of joint vectors (n, dof) turns the tool too far, in words."""
        if not any(self.weights):
            return None
        allowed = self.allowed()
        turns = [np.abs(_turn(self.start, robot.forward_kinematics(q))) for q in path]
        most = np.max(turns, axis=0)
        over = most - allowed
        worst = int(np.argmax(over))
        if over[worst] <= TURN_SLACK:
            return None
        return (
            f"the tool would turn by {math.degrees(most[worst]):.0f} degrees about its "
            f"{'xyz'[worst]} on the way, its hold weight of {self.weights[worst]:g} allows "
            f"{math.degrees(allowed[worst]):.0f}"
        )


def held_orientation(start: Array, goal: Array, weights: Sequence[float] | None) -> HeldOrientation:
    """What six weights, of rotation x y z and translation x y z, ask of the way to `goal`."""
    x, y, z = (float(weight) for weight in (weights or (0.0, 0.0, 0.0))[:3])
    return HeldOrientation(start, goal, (x, y, z))


def _turn(first: Array, second: Array) -> Array:
    """Rotation vector from the first to the second orientation in the first's axes [rad]."""
    turn: Array = Rotation.from_matrix(first[:3, :3].T @ second[:3, :3]).as_rotvec()
    return turn


class Final(SkillFailure):
    """A failure after which no other candidate is to be tried."""


@dataclass(slots=True)
class PlanFailures:
    """Searches for a way that failed in a row; the sixth ends the skill.

    Joints that do not exist and straight lines that are blocked need no search and do not count.
    """

    count: int = 0

    def checked(self, plan: Plan) -> Plan:
        """As `checked`; raises `Final` when there have been too many failures."""
        if plan.ok:
            self.count = 0
            return plan
        self.count += 1
        try:
            return checked(plan)
        except SkillFailure as failure:
            if self.count <= MOST_FAILED_PLANS:
                raise
            raise Final(
                failure.failure,
                f"Planning failed {self.count} times in a row, the last time: {failure}",
            ) from failure


def checked(plan: Plan) -> Plan:
    """The plan, or a `SkillFailure` that says why there is none."""
    if not plan.ok:
        raise SkillFailure(
            _FAILURES.get(plan.code, FailureCode.PLANNING_FAILED), sentence(plan.message)
        )
    return plan


def most_informative(failures: Sequence[SkillFailure], what: str) -> SkillFailure:
    """Of the reasons why all candidates failed, the one that came nearest to success.

    A candidate that collides is a matter of planning for a skill that has others to choose from,
    so the result is PLANNING_FAILED, PLANNING_TIMED_OUT or, where no joints reach any candidate,
    UNREACHABLE.
    """
    order = (
        FailureCode.PLANNING_FAILED,
        FailureCode.PLANNING_TIMED_OUT,
        FailureCode.GOAL_IN_COLLISION,
        FailureCode.UNREACHABLE,
    )
    best = min(failures, key=lambda f: order.index(f.failure) if f.failure in order else 9)
    kept = (FailureCode.PLANNING_TIMED_OUT, FailureCode.UNREACHABLE)
    return SkillFailure(
        best.failure if best.failure in kept else FailureCode.PLANNING_FAILED,
        f"{what} in any of {len(failures)} ways; the nearest: {sentence(str(best))}",
    )
