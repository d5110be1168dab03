# SPDX-License-Identifier: Apache-2.0
"""Place: put the held object down at a pose."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from behavior_motion import IkOptions, Trajectory
from behavior_skills.arm.execution import follow, wait_for
from behavior_skills.arm.geometry import (
    footprint_radius,
    levelled,
    occupant,
    present,
    raised,
    support_height,
)
from behavior_skills.arm.placing import Placing, PlacingParameters
from behavior_skills.arm.planning import (
    GROUND,
    ApproachPlan,
    Final,
    PlanFailures,
    most_informative,
)
from behavior_skills.goal_checks import invalid
from behavior_skills.grasping.candidates import tilt_of
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    HeldObject,
    ObjectView,
    SkillFailure,
)

LIKELY_WAYS = 8
"""Number of orientations of the object that are tried."""
YAWS_OF_A_CYLINDER = 8
DEFAULT_RETREAT = 0.08
"""[m]"""


@dataclass(frozen=True, slots=True)
class PlaceParameters(PlacingParameters):
    """Lengths [m] and times [s] of the skill."""

    release_opening: float = 0.02
    settle_time: float = 0.3
    approach_distance: float = 0.08
    """From above the target to the target."""
    release_gap: float = 0.0015
    """The object is let go this far above what it is to rest on."""
    support_tolerance: float = 0.02
    """Between the wanted height and the one at which the object rests."""
    position_tolerance: float = 0.02
    """Horizontally, between the object at rest and the target."""
    height_tolerance: float = 0.012
    tilt_tolerance: float = 0.2
    """[rad]"""


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """Where to put what."""

    name: str
    """Empty: whichever is held."""
    base_T_target: Array
    """Pose of the object's centre after placing, 4x4 in the base frame."""
    any_yaw: bool = False
    """True: turned about the vertical, or to another of the shape's like faces, is as good."""
    retreat_height: float = 0.0
    """[m]; 0: the default."""
    velocity_scaling: float = 0.0
    """0..1; 0: the default."""


@dataclass(frozen=True, slots=True)
class PlaceWay:
    """How the object comes to where it shall rest."""

    obj: ObjectView
    goal: Array
    """base_T_object, 4x4."""
    entry: ApproachPlan
    retreat: Trajectory


@dataclass
class PlaceSkill(Placing[PlaceWay]):
    """One place at a pose; call :meth:`run`.

    The way above the target and the straight way down are one trajectory. While the arm moves, the
    target is watched: another object that takes the place ends the skill with the arm stopped.
    """

    request: PlaceRequest
    parameters: PlaceParameters = field(default_factory=PlaceParameters, kw_only=True)
    _checked_revision: int = field(default=-1, init=False)

    # ------------------------------------------------------------------ select

    def _validate(self) -> None:
        request = self.request
        numbers = (request.retreat_height, request.velocity_scaling)
        if not all(math.isfinite(value) and value >= 0.0 for value in numbers):
            raise invalid("retreat_height and velocity_scaling must be numbers not below 0")
        if request.velocity_scaling > 1.0:
            raise invalid(f"velocity_scaling is {request.velocity_scaling}, give at most 1")
        if not np.all(np.isfinite(request.base_T_target)):
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                "The target holds NaN or a quaternion of norm 0; give a proper pose.",
            )
        problem = self.context.workspace.problem(request.base_T_target[:3, 3])
        if problem:
            raise SkillFailure(
                FailureCode.OUT_OF_WORKSPACE,
                f"The target is out of the workspace: {problem}. Choose a nearer place.",
            )

    def _wanted(self) -> str:
        return self.request.name

    def _support(self, obj: ObjectView) -> tuple[float, str]:
        """Top of what the object is to rest on [m] and its name; raises `SkillFailure`."""
        target = self.request.base_T_target
        others = present(self.scene.objects(), without=[obj.name])
        radius, half_height = footprint_radius(obj), self._half_height(obj)
        name = occupant(target, half_height, radius, others)
        if name is not None:
            raise SkillFailure(
                FailureCode.OCCUPIED,
                f"'{name}' stands where '{obj.name}' is to be put. Clear the place or choose "
                "another one.",
            )
        top, support = support_height(target, radius, others, self.world.ground_height())
        gap = float(target[2, 3]) - half_height - top
        if abs(gap) > self.parameters.support_tolerance:
            below = f"'{support}'" if support else "the ground"
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                f"The target would leave '{obj.name}' {1e3 * gap:.0f} mm above {below}, which "
                f"ends at {top:.3f} m. Give the height of the object's centre when it rests.",
            )
        return top, support

    def _half_height(self, obj: ObjectView) -> float:
        return float(np.abs(self.request.base_T_target[2, :3]) @ obj.half_extents)

    def _resting_pose(self, obj: ObjectView) -> Array:
        """The target with the height at which the object touches what is below."""
        top, _ = self._support(obj)
        pose = levelled(self.request.base_T_target).copy()
        pose[2, 3] = top + self._half_height(obj)
        return pose

    def _orientations(self, obj: ObjectView, goal: Array) -> list[Array]:
        """Poses of the object that are as good as the goal."""
        if not self.request.any_yaw:
            return [goal]
        poses = []
        for turn in symmetries(obj):
            pose = goal.copy()
            pose[:3, :3] = goal[:3, :3] @ turn
            poses.append(pose)
        return poses

    # ------------------------------------------------------------------ plan

    def _choose(self, held: HeldObject, obj: ObjectView) -> PlaceWay:
        """The way to the target and the way back up from it."""
        goal, support = self._resting_pose(obj), self._support(obj)[1]
        self.world.sync(self.scene.objects(), held)
        q = self.arm.state().q
        scaling = self.request.velocity_scaling
        release = raised(goal, self.parameters.release_gap)
        tool_T_object_inv = np.linalg.inv(held.tool_T_object)
        targets = [pose @ tool_T_object_inv for pose in self._orientations(obj, release)]
        failures: list[SkillFailure] = []
        in_a_row = PlanFailures()
        for target in self._by_effort(q, targets):
            try:
                entry = self.world.straight_then_free(
                    q,
                    target,
                    np.array([0.0, 0.0, self.parameters.approach_distance]),
                    free=self._options(width=held.width, velocity_scaling=scaling),
                    straight=self._options(
                        width=self._opening(held), tool_speed=self._slow, velocity_scaling=scaling
                    ),
                    object_name=held.name,
                    in_a_row=in_a_row,
                    contacts=[support or GROUND],
                )
                return PlaceWay(obj, goal, entry, self._way_up(entry, held))
            except Final:
                raise
            except SkillFailure as failure:
                failures.append(failure)
        raise most_informative(failures, f"'{held.name}' cannot be brought to the target")

    def _way_up(self, entry: ApproachPlan, held: HeldObject) -> Trajectory:
        options = self._options(
            width=self._opening(held),
            tool_speed=2.5 * self._slow,
            velocity_scaling=self.request.velocity_scaling,
        )
        height = self.request.retreat_height or DEFAULT_RETREAT
        with self.world.released(held.name):
            return self.world.straight_up(entry.q_end, height, held.name, options)

    def _by_effort(self, q: Array, targets: list[Array]) -> list[Array]:
        """The likely tool poses, those that take the arm the least time first."""
        limits = self.world.planner.robot.velocity_limits
        upright = sorted(targets, key=lambda pose: round(tilt_of(pose), 1))[:LIKELY_WAYS]

        def effort(target: Array) -> tuple[float, float]:
            found = self.world.planner.inverse_kinematics(
                target, seed=q, options=IkOptions(avoid_collisions=False, attempts=4)
            )
            time = math.inf if found.q is None else float(np.max(np.abs(found.q - q) / limits))
            return (round(tilt_of(target), 1), time)

        return sorted(upright, key=effort) if len(upright) > 1 else upright

    # ------------------------------------------------------------------ reach, approach

    def _carry(self, held: HeldObject, way: PlaceWay) -> None:
        duration = way.entry.trajectory.duration

        def watch(elapsed: float) -> None:
            phase = "reach" if elapsed < way.entry.approach_at else "approach"
            self.goal_context.feedback(phase, 0.6 * min(elapsed / duration, 1.0))
            self._grip.check(held)
            self._check_target(way.obj)

        follow(self.goal_context, self.arm, way.entry.trajectory, watch)
        self._grip.check(held)

    def _check_target(self, obj: ObjectView) -> None:
        """Whether the place is still free and the support still there, at each new snapshot."""
        revision = self.scene.revision()
        if revision == self._checked_revision:
            return
        self._checked_revision = revision
        try:
            self._support(obj)
        except SkillFailure as failure:
            if failure.failure is FailureCode.OCCUPIED:
                raise
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED,
                f"What was to carry '{obj.name}' is gone: {failure} It is still held.",
            ) from None

    # ------------------------------------------------------------------ release, retreat, verify

    def _leave(self, way: PlaceWay) -> None:
        duration = max(way.retreat.duration, 1e-3)

        def watch(elapsed: float) -> None:
            self.goal_context.feedback("retreat", 0.7 + 0.2 * min(elapsed / duration, 1.0))

        follow(self.goal_context, self.arm, way.retreat, watch)

    def _verify(self, name: str, way: PlaceWay, released_at: float) -> Array:
        settled = released_at + self.parameters.settle_time

        def seen() -> bool:
            obj = self.scene.objects().get(name)
            return obj is not None and obj.last_seen >= settled

        if not wait_for(self.goal_context, seen, self.parameters.verify_timeout):
            raise SkillFailure(
                FailureCode.NOT_PLACED,
                f"'{name}' has not been seen since it was let go. See that it is in view.",
            )
        pose = self.scene.objects()[name].base_T_object
        problem = self._misplaced(pose, way.goal)
        if problem:
            raise SkillFailure(
                FailureCode.NOT_PLACED,
                f"'{name}' does not rest at the target: {problem}. Pick it and place it again.",
            )
        return pose

    def _misplaced(self, pose: Array, goal: Array) -> str | None:
        parameters = self.parameters
        aside = float(np.linalg.norm(pose[:2, 3] - goal[:2, 3]))
        if aside > parameters.position_tolerance:
            return f"it lies {1e3 * aside:.0f} mm beside it"
        lower = float(goal[2, 3] - pose[2, 3])
        if abs(lower) > parameters.height_tolerance:
            return f"it lies {1e3 * lower:.0f} mm lower"
        upright = float(np.max(np.abs(pose[2, :3])))
        if math.acos(min(upright, 1.0)) > parameters.tilt_tolerance:
            return "it is tilted"
        return None


def symmetries(obj: ObjectView) -> list[Array]:
    """Rotations (3x3) in the object's frame after which its shape looks the same.

    A box has the rotations among its axes that keep its edge lengths (24 for a cube), a cylinder
    turns about its axis, a sphere is given what a cube has.
    """
    if obj.shape == "cylinder":
        angles = np.arange(YAWS_OF_A_CYLINDER) * 2 * np.pi / YAWS_OF_A_CYLINDER
        return [
            np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
            for a in angles
        ]
    half = obj.half_extents
    turns = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[order, range(3)] = signs
            proper = np.linalg.det(turn) > 0.0
            if proper and np.allclose(np.abs(turn.T) @ half, half, atol=1e-3):
                turns.append(turn)
    return turns
