# SPDX-License-Identifier: Apache-2.0
"""Place by specification: sample poses in, over or beside a container, take the best, check.

Where to put the object comes from a `PlaceSpecification`. Each sampled placement is tested from the
state that the one before it ends in: the place pose from the pre-place joints, the way back from
the place joints. Without a placement that can be reached, new ones are sampled for a few rounds;
then the skill fails and says why.

What the planner looks away from is looked away from in `PlanningScene.allowing` blocks only, so it
is restored however the skill ends.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from behavior_motion import (
    OrientationConstraint,
    PlanOptions,
    Trajectory,
    check_interrupted,
)
from behavior_motion.object_state import ObjectState
from behavior_motion.pose_difference import angle_between, distance_between
from behavior_ros.node.elapsed import Elapsed
from behavior_skills.arm.execution import follow, wait_for
from behavior_skills.arm.geometry import present
from behavior_skills.arm.placing import Placing
from behavior_skills.arm.planning import (
    Final,
    PlanFailures,
    checked,
    held_orientation,
)
from behavior_skills.arm.reaching import reach_of
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    HeldObject,
    ObjectView,
    SkillFailure,
)
from behavior_skills.orientations import NoOrientation, OrientationReport, sample_orientations
from behavior_skills.placement import (
    OrientedBox,
    PlacedState,
    Placement,
    PlaceScene,
    PlaceSpecification,
    intersection_volume,
    placed,
    post_place_pose,
    sample_placements,
    select_placement,
)
from behavior_skills.sentences import sentence

ROUNDS = 3
"""Times that new placements are sampled."""
CONTACT = 0.003
"""[m] by which things may overlap: detections are noisy, and neighbours touch."""
ARRIVAL_TIME = 0.3
"""[s] in which the tool must be at the place pose after the motion to it."""
COMMAND_PERIOD = 0.01
"""[s] that one of the specification's waiting steps stands for."""
CONTAINER_MOVE = 0.02
"""[m] by which a container may move while the object is brought."""


SHORTEST_RETREAT = 1e-6
"""[m]"""


class Log(Protocol):
    """Where warnings about the specification go."""

    def __call__(self, message: str, /) -> object:
        """Tell one."""


@dataclass(frozen=True, slots=True)
class SpecifiedWay:
    """A placement that can be reached, with the motions that do it."""

    container: ObjectView
    placement: Placement
    reach: Trajectory
    """To the pre-place pose."""
    approach: Trajectory
    """From there to the place pose."""
    retreat: Trajectory | None
    """From there back, with the object left behind; None: the hand stays."""


@dataclass
class SpecifiedPlaceSkill(Placing[SpecifiedWay]):
    """One place by specification; call :meth:`run`."""

    specification: PlaceSpecification
    base_T_world: Array
    """The container's extent is measured along the world's axes."""
    log: Log
    _why: str = field(default="", init=False)
    _occupants: set[str] = field(default_factory=set, init=False)
    """Things that stand where sampled placements would put the object."""
    report: OrientationReport | None = field(default=None, init=False)
    """How the orientations of the last round were found."""

    # ------------------------------------------------------------------ select

    def _validate(self) -> None:
        for warning in self.specification.warnings():
            self.log(f"place: {warning}")

    def _wanted(self) -> str:
        return self.specification.objects[0]

    def _container(self, name: str) -> ObjectView:
        obj = self.scene.objects().get(name)
        if obj is None or obj.state is ObjectState.LOST:
            known = ", ".join(sorted(self.scene.objects())) or "none"
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"The container '{name}' is not in the scene (there: {known}). See that it is "
                "detected, or name another one.",
            )
        return obj

    def sample(self) -> list[Placement]:
        """Places that are free, for one round, without moving and without asking for joints.

        Raises:
            SkillFailure: NOT_HELD, UNKNOWN_OBJECT, NO_ORIENTATION or OCCUPIED.
        """
        name, container_name = self.specification.objects
        held, _ = self._grip.held(name)
        rounds = self._rounds(held, self._container(container_name))
        free = next(rounds)
        if not free:
            raise self._occupied(self.specification.candidates)
        return free

    def _choose(self, held: HeldObject, obj: ObjectView) -> SpecifiedWay:
        container = self._container(self.specification.objects[1])
        self.world.sync(self.scene.objects(), held)
        any_free, in_a_row = False, PlanFailures()
        for free in itertools.islice(self._rounds(held, container), ROUNDS):
            any_free = any_free or bool(free)
            way = self._reachable_way(held, container, free, in_a_row) if free else None
            if way is not None:
                return way
            self.goal_context.tick()  # feedback and cancellation get their turn between the rounds
        tried = ROUNDS * self.specification.candidates
        if not any_free:
            raise self._occupied(tried)
        raise SkillFailure(
            FailureCode.UNREACHABLE,
            f"None of {tried} sampled ways to place '{held.name}' at '{container.name}' can be "
            f"reached; the nearest: {sentence(self._why or 'no joints reach it')} Widen ratios or "
            "filters, or move the container.",
        )

    def _occupied(self, tried: int) -> SkillFailure:
        return SkillFailure(
            FailureCode.OCCUPIED,
            f"Every one of {tried} sampled places at '{self.specification.objects[1]}' is taken by "
            f"{', '.join(sorted(self._occupants))}. Clear the container, or widen the ratios.",
        )

    def _rounds(self, held: HeldObject, container: ObjectView) -> Iterator[list[Placement]]:
        """Sampled placements that nothing stands in the way of, round after round."""
        rng = np.random.default_rng(self.specification.seed)
        scene = self._place_scene(held, container)
        constraints = self.specification.constraints(
            container.base_T_object[:3, :3], held.tool_T_object[:3, :3]
        )
        count = self.specification.candidates
        while True:
            try:
                rotations, self.report = sample_orientations(count, constraints, rng)
            except NoOrientation as error:
                raise SkillFailure(FailureCode.NO_ORIENTATION, str(error)) from error
            # Filters may leave fewer orientations than that; there are as many points all the same.
            rotations = np.resize(rotations, (count, 3, 3))
            placements = sample_placements(self.specification, scene, rotations, rng)
            yield self._free(placements, held, container.name)

    def _free(
        self, placements: list[Placement], held: HeldObject, container: str
    ) -> list[Placement]:
        """Placements whose object would not lie in another one; notes the others' names."""
        objects = self.scene.objects()
        half = objects[held.name].half_extents
        half = np.maximum(half - CONTACT, 0.1 * half)  # what is thin still takes room
        ignored = self.specification.ignore_substring
        others = [
            (obj.name, OrientedBox(obj.base_T_object, obj.half_extents))
            for obj in present(objects, without=[held.name, container])
            if not any(text in obj.name for text in ignored)
        ]
        free = []
        for placement in placements:
            check_interrupted()
            box = OrientedBox(placement.place @ held.tool_T_object, half)
            taken = [name for name, other in others if intersection_volume(box, other) > 0.0]
            self._occupants.update(taken)
            if not taken:
                free.append(placement)
        return free

    def _place_scene(self, held: HeldObject, container: ObjectView) -> PlaceScene:
        W_T_B: Array = np.linalg.inv(self.base_T_world).astype(np.float64)
        return PlaceScene(
            W_T_B=W_T_B,
            W_R_C=(W_T_B @ container.base_T_object)[:3, :3],
            container=self._target_box(container),
            E_T_O=held.tool_T_object,
        )

    def _target_box(self, container: ObjectView) -> OrientedBox:
        """The container, or its part that counts, in the world frame."""
        pose = np.linalg.inv(self.base_T_world) @ container.base_T_object
        part = self.specification.parts.get(self.specification.place_part_prim_path or "")
        if part is None:
            return OrientedBox(pose, container.half_extents)
        centre = np.eye(4)
        centre[:3, 3] = part.position
        return OrientedBox(pose @ centre, np.asarray(part.size) / 2)

    # ------------------------------------------------------------------ reachability

    def _reachable_way(
        self,
        held: HeldObject,
        container: ObjectView,
        placements: list[Placement],
        in_a_row: PlanFailures,
    ) -> SpecifiedWay | None:
        """The best of the placements, or None; `_why` then tells about one that failed."""
        q = self.arm.state().q
        with self._collisions_ignored(held, container.name):
            before, at = [p.pre for p in placements], [p.place for p in placements]
            pre, pre_q, why_not = reach_of(self.world, before, [q] * len(before), held.width)
            seeds = [q if found is None else found for found in pre_q]
            place, _, why_not_there = reach_of(self.world, at, seeds, held.width)
            self._why = why_not_there or why_not or self._why
            dual = self.specification.selection == "dual" and not placements[0].single
            while (best := select_placement(place, pre if dual else None)) is not None:
                try:
                    return self._plan(held, container, placements[best], pre_q[best], in_a_row)
                except Final:
                    raise
                except SkillFailure as failure:
                    self._why = str(failure)
                place.ok[best] = False
        return None

    def _plan(
        self,
        held: HeldObject,
        container: ObjectView,
        placement: Placement,
        q_pre: Array | None,
        in_a_row: PlanFailures,
    ) -> SpecifiedWay:
        """Whole motions of a placement, the way back included.

        Raises:
            SkillFailure: there is none of them; `Final` where no other placement may be taken.
        """
        try:
            q = self.arm.state().q
            reach = self._reach_motion(held, q, placement.pre, q_pre, in_a_row)
            approach = self._approach_motion(held, reach.positions[-1], placement.place)
        except SkillFailure as failure:
            if self.specification.test_mode == "ik":
                raise Final(failure.failure, str(failure)) from failure
            raise
        retreat = self._retreat_motion(held, approach.positions[-1], placement.place)
        return SpecifiedWay(container, placement, reach, approach, retreat)

    def _reach_motion(
        self,
        held: HeldObject,
        q: Array,
        pose: Array,
        q_goal: Array | None,
        in_a_row: PlanFailures,
    ) -> Trajectory:
        robot = self.robot
        start = robot.forward_kinematics(q)
        kept = held_orientation(start, pose, self.specification.pre_place_hold_vec_weight)
        options = self._planned(width=held.width, upright=kept.constraint())
        if q_goal is not None:
            plan = self.world.planner.plan_to_joints(q, q_goal, options=options)
        else:
            plan = self.world.planner.plan_to_pose(q, [pose], options=options)
        trajectory = in_a_row.checked(plan).trajectory
        assert trajectory is not None
        problem = kept.problem(robot, trajectory.positions)
        if problem:
            raise SkillFailure(FailureCode.PLANNING_FAILED, sentence(problem))
        return trajectory

    def _approach_motion(self, held: HeldObject, q: Array, pose: Array) -> Trajectory:
        """Straight where that can be; hold weights demand it."""
        planner = self.world.planner
        slow = self._planned(width=held.width, tool_speed=self._slow)
        plan = planner.plan_cartesian(q, [pose], options=slow)
        weights = self.specification.post_place_hold_vec_weight
        if not plan.ok and not any(weights or ()):
            plan = planner.plan_to_pose(q, [pose], options=self._planned(width=held.width))
        trajectory = checked(plan).trajectory
        assert trajectory is not None
        return trajectory

    def _retreat_motion(self, held: HeldObject, q: Array, pose: Array) -> Trajectory | None:
        """Back from the place pose by the wanted vector, the fingers open and the object left."""
        planner, opening = self.world.planner, self._opening(held)
        vector = np.asarray(self.specification.post_place_vector or (0.0, 0.0, 0.0))
        with self.world.released(held.name):
            if float(np.linalg.norm(vector)) < SHORTEST_RETREAT:
                self._check_opening(q, opening)
                return None
            options = self._planned(width=opening, tool_speed=2.0 * self._slow)
            back = planner.plan_cartesian(q, [post_place_pose(pose, vector)], options=options)
            return checked(back).trajectory

    def _check_opening(self, q: Array, opening: float) -> None:
        """Whether the fingers can open where the object is to be let go; raises `SkillFailure`."""
        report = self.world.planner.check_state(q, gripper_width=opening)
        hit = [(a, b) for a, b, depth in report.pairs if depth > CONTACT]
        if hit:
            raise SkillFailure(
                FailureCode.GOAL_IN_COLLISION,
                f"The fingers cannot open there: {' and '.join(map(repr, hit[0]))} would overlap.",
            )

    def _planned(
        self,
        *,
        width: float,
        tool_speed: float | None = None,
        upright: OrientationConstraint | None = None,
    ) -> PlanOptions:
        seed = self.specification.seed
        return self._options(width=width, tool_speed=tool_speed, upright=upright, seed=seed)

    @contextlib.contextmanager
    def _collisions_ignored(self, held: HeldObject, container: str) -> Iterator[None]:
        """The planner lets the object touch container and hand, and ignores what it is told to."""
        links = self.robot.gripper.touch_links
        pairs = [(held.name, other) for other in (container, *links)]
        with (
            self.world.planner.scene.allowing(pairs),
            self.world.ignoring_collisions(self.specification.ignore_substring),
        ):
            yield

    # ------------------------------------------------------------------ reach, approach

    def _carry(self, held: HeldObject, way: SpecifiedWay) -> None:
        for phase, trajectory, begin in (
            ("reach", way.reach, 0.0),
            ("approach", way.approach, 0.4),
        ):
            duration = max(trajectory.duration, 1e-3)

            def watch(
                elapsed: float,
                phase: str = phase,
                begin: float = begin,
                duration: float = duration,
            ) -> None:
                self.goal_context.feedback(phase, begin + 0.2 * min(elapsed / duration, 1.0))
                self._grip.check(held)
                self._check_container(way.container)

            follow(self.goal_context, self.arm, trajectory, watch)
        self._arrive(way)
        self._hesitate(held)

    def _arrive(self, way: SpecifiedWay) -> None:
        """Wait for the tool to be at the place pose within t_eps and o_eps.

        Not to be is a failure only where the specification names the tolerances: their defaults
        are finer than many an arm's controller.
        """
        wanted = way.placement.place

        def off() -> tuple[float, float]:
            tool = self.robot.forward_kinematics(self.arm.state().q)
            return distance_between(tool, wanted), angle_between(tool, wanted)

        def there() -> bool:
            way_left, turn_left = off()
            return way_left < self.specification.t_eps and turn_left < self.specification.o_eps

        if wait_for(self.goal_context, there, ARRIVAL_TIME):
            return
        way_left, turn_left = off()
        message = (
            f"The tool is {1e3 * way_left:.2f} mm and {turn_left:.4f} rad from its place pose, "
            f"not within t_eps {self.specification.t_eps:g} m and o_eps "
            f"{self.specification.o_eps:g} rad."
        )
        if {"t_eps", "o_eps"} & self.specification.model_fields_set:
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED, f"{message} Allow more, or see what holds the arm."
            )
        self.log(f"place: {message}")

    def _hesitate(self, held: HeldObject) -> None:
        passed = Elapsed(self.goal_context.now)
        while passed() < self.specification.hesitate_steps * COMMAND_PERIOD:
            self.goal_context.tick()
            self._grip.check(held)

    def _check_container(self, before: ObjectView) -> None:
        now = self.scene.objects().get(before.name)
        if now is None or now.state is ObjectState.LOST:
            what = "is gone"
        elif distance_between(now.base_T_object, before.base_T_object) > CONTAINER_MOVE:
            what = "was moved"
        else:
            return
        raise SkillFailure(
            FailureCode.EXECUTION_FAILED,
            f"The container '{before.name}' {what} on the way. The object is still held: place it "
            "again.",
        )

    # ------------------------------------------------------------------ release, retreat, verify

    def _leave(self, way: SpecifiedWay) -> None:
        """Wait as the specification says after opening, and go back."""
        waits = max(0, self.specification.gripper_change_steps - 1)
        wait_for(self.goal_context, lambda: False, waits * COMMAND_PERIOD)
        if way.retreat is not None:
            self.goal_context.feedback("retreat", 0.75)
            follow(self.goal_context, self.arm, way.retreat)

    def _verify(self, name: str, way: SpecifiedWay, released_at: float) -> Array:
        settled, height = released_at + self.parameters.settle_time, way.placement.place[2, 3]
        return self._await_placed(height, settled, self.parameters.verify_timeout)

    def check_placed(self, tool_height: float, patience: float) -> Array:
        """Wait until the object is seen to be placed, by the specification's success mode.

        Args:
            tool_height: of the tool in the base frame where the object was let go [m].
            patience: [s]

        Returns:
            Where it rests: base_T_object, 4x4.

        Raises:
            SkillFailure: UNKNOWN_OBJECT or NOT_PLACED.
        """
        name = self.specification.objects[0]
        if name not in self.scene.objects():
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"'{name}' is not in the scene. See that it is detected.",
            )
        self._container(self.specification.objects[1])
        return self._await_placed(tool_height, self.goal_context.now(), patience)

    def _await_placed(self, tool_height: float, since: float, patience: float) -> Array:
        name, container = self.specification.objects
        problem: str | None = f"'{name}' has not been seen since then"

        def is_placed() -> bool:
            nonlocal problem
            obj = self.scene.objects().get(name)
            if obj is None or obj.last_seen < since:
                return False
            if obj.state is ObjectState.ATTACHED:
                problem = "it is in the gripper"
                return False
            state = self._placed_state(obj, self._container(container), tool_height)
            problem = placed(self.specification.success_mode, state, self.specification.bbox)
            return problem is None

        if not wait_for(self.goal_context, is_placed, patience):
            raise SkillFailure(
                FailureCode.NOT_PLACED,
                f"By success_mode {self.specification.success_mode} '{name}' is not placed: "
                f"{sentence(problem or '')} Pick it and place it again.",
            )
        return self.scene.objects()[name].base_T_object

    def _placed_state(
        self, obj: ObjectView, container: ObjectView, tool_height: float
    ) -> PlacedState:
        pose = np.linalg.inv(self.base_T_world) @ obj.base_T_object
        return PlacedState(
            object_box=OrientedBox(pose, obj.half_extents),
            container_box=self._target_box(container),
            object_origin=pose[:3, 3],
            object_height_in_base=float(obj.base_T_object[2, 3]),
            tool_height_in_base=float(tool_height),
            threshold=self.specification.threshold,
            success_th=self.specification.success_th,
        )
