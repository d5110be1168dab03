# SPDX-License-Identifier: Apache-2.0
"""Pick: grasp an object of the scene and lift it.

select -> reach -> approach -> grasp -> verify -> lift. The free reach and the straight approach
are one trajectory, the gripper opens while the arm moves, the lift is planned while the arm still
approaches, and the scene hears of the grasp while the arm lifts, so that nothing stands and waits.
Until the fingers close, the object is watched: when it moves, the arm stops and a new way is
planned. So it does where the fingers have not opened when the straight approach begins.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from behavior_motion import PlanOptions, Trajectory
from behavior_motion.object_state import ObjectState
from behavior_motion.pose_difference import distance_between
from behavior_skills.arm.context import Skill
from behavior_skills.arm.execution import follow, gave_up, shielded, stillness, wait_for
from behavior_skills.arm.geometry import carried, levelled, present, translated
from behavior_skills.arm.grip import report_release
from behavior_skills.arm.planning import (
    ApproachPlan,
    Final,
    PlanFailures,
    hangs,
    held_orientation,
    most_informative,
)
from behavior_skills.goal_checks import invalid, planning_budget
from behavior_skills.grasping.annotations import AnnotationError, read_grasps
from behavior_skills.grasping.candidates import Grasp, from_above, grasps_for, ranked_grasps
from behavior_skills.grasping.filters import allowed_grasps
from behavior_skills.grasping.process import ProcessWatch
from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.interfaces import (
    Array,
    Command,
    FailureCode,
    HeldObject,
    ObjectView,
    SkillFailure,
)
from behavior_skills.sentences import sentence


@dataclass(frozen=True, slots=True)
class PickParameters:
    """Lengths [m] and times [s] of the skill."""

    approach_distance: float = 0.08
    """From the pre-grasp to the grasp."""
    moved_tolerance: float = 0.015
    """The object may move this much before a new way is planned."""
    replans: int = 3
    width_tolerance: float = 0.008
    """Between the fingers' gap and the object's thickness."""
    close_timeout: float = 4.0
    planning_time: float = 1.0
    sight_timeout: float = 1.5
    """In which a lifted object must be seen, where its rise is asked for."""
    open_timeout: float = 4.0
    """In which the fingers must have opened once the arm waits for them."""


@dataclass(frozen=True, slots=True)
class PickRequest:
    """What is to be picked."""

    name: str
    max_tilt: float = 0.0
    """[rad]; 0: the default."""
    lift_height: float = 0.0
    """[m]; 0: the default."""
    velocity_scaling: float = 0.0
    """0..1; 0: the default."""
    grasps: tuple[Array, ...] = ()
    """Tool poses in the object's frame; empty: from annotations or the shape."""
    specification: PickSpecification | None = None


@dataclass
class PickSkill(Skill):
    """One pick; call :meth:`run`."""

    request: PickRequest
    parameters: PickParameters = PickParameters()
    _lift: Trajectory | None = field(default=None, init=False)
    _grasp: Grasp | None = field(default=None, init=False)
    _attached: bool = field(default=False, init=False)
    _process: ProcessWatch = field(default_factory=ProcessWatch, init=False)
    _opening: Command | None = field(default=None, init=False)

    def run(self) -> Array:
        """Pick the object.

        Returns:
            The grasp that was used: object_T_tool, 4x4.

        Raises:
            SkillFailure: with one of Pick's result codes.
            Cancelled: the client cancelled; the arm stands, and the scene knows what is held.
        """
        self._validate()
        self._check_free()
        self._object()
        self.goal_context.feedback("select", 0.0)
        self._opening = self._open()
        for attempt in range(self.parameters.replans + 1):
            obj = self._object()
            with planning_budget():
                entry = self._plan(obj)
            if self._reach(obj, entry, last=attempt == self.parameters.replans):
                break
        assert self._grasp is not None
        if self._wishes.final_gripper_state == 1:
            return self._grasp.object_T_tool  # approached only, the fingers stay open
        held = self._close(obj)
        try:
            self._raise(held)
            self._judge(held, obj)
            self._report_grasp(held)
        except BaseException:
            self._settle(held)
            raise
        return self._grasp.object_T_tool

    def sample(self) -> list[tuple[Array, Array, Grasp]]:
        """Ways to grasp the object, the best first, without moving and without asking the planner.

        Returns:
            Tool poses before the straight approach and at the grasp, base_T_tool, and the grasp.

        Raises:
            SkillFailure: INVALID_REQUEST, UNKNOWN_OBJECT, OUT_OF_WORKSPACE or NO_GRASP.
        """
        self._validate()
        obj = self._object()
        level, ways = levelled(obj.base_T_object), []
        for grasp in self._candidates(obj):
            target = level @ grasp.object_T_tool
            ways.append((translated(target, self._offset(target)), target, grasp))
        return ways

    @property
    def _wishes(self) -> PickSpecification:
        return self.request.specification or PLAIN

    # ------------------------------------------------------------------ select

    def _validate(self) -> None:
        request = self.request
        numbers = (request.max_tilt, request.lift_height, request.velocity_scaling)
        if not request.name:
            raise invalid("object_name is empty; name an object of the scene")
        if not all(math.isfinite(value) and value >= 0.0 for value in numbers):
            raise invalid("max_tilt, lift_height and velocity_scaling must be numbers not below 0")
        if request.velocity_scaling > 1.0:
            raise invalid(f"velocity_scaling is {request.velocity_scaling}, give at most 1")
        if len(request.grasps) > MOST_GRASPS:
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                f"Give at most {MOST_GRASPS} grasps, not {len(request.grasps)}.",
            )
        if not all(np.all(np.isfinite(grasp)) for grasp in request.grasps):
            raise SkillFailure(
                FailureCode.INVALID_REQUEST,
                "One of the grasps holds NaN or a quaternion of norm 0; give proper poses.",
            )

    def _check_free(self) -> None:
        report_release(self.hand, self.scene)
        attached = carried(self.scene.objects(), self.robot)
        if attached:
            raise SkillFailure(
                FailureCode.GRIPPER_NOT_FREE,
                f"The gripper holds '{attached[0].name}' already. Place it, or open the gripper, "
                "first.",
            )
        if self.hand.held is not None:
            self.hand.release(f"'{self.hand.held.name}' is in the gripper no more.")

    def _object(self) -> ObjectView:
        """The wanted object as it is seen now."""
        objects = self.scene.objects()
        obj = objects.get(self.request.name)
        if obj is None:
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"Object '{self.request.name}' is not in the scene. Known are {sorted(objects)}; "
                "see that it is in view.",
            )
        if obj.state is ObjectState.LOST:
            raise SkillFailure(
                FailureCode.UNKNOWN_OBJECT,
                f"Object '{obj.name}' has not been seen for long and is lost. Bring it back into "
                "view.",
            )
        problem = self.context.workspace.problem(obj.base_T_object[:3, 3])
        if problem:
            raise SkillFailure(
                FailureCode.OUT_OF_WORKSPACE,
                f"Object '{obj.name}' is out of the workspace: {problem}. Move it within reach.",
            )
        return obj

    def _candidates(self, obj: ObjectView) -> list[Grasp]:
        """The grasps to try, the best first; raises `SkillFailure` NO_GRASP."""
        given = [Grasp(pose, 0.0) for pose in self.request.grasps] or self._annotated()
        offered = given or grasps_for(obj, self.robot.gripper.open_width)
        if not offered:
            raise SkillFailure(
                FailureCode.NO_GRASP,
                f"'{obj.name}' is too thick on every side for the gripper of "
                f"{self.robot.gripper.open_width} m. Give grasps where it is thinner.",
            )
        wishes = self._wishes
        offered, fallen = allowed_grasps(offered, obj, wishes)
        if not offered:
            raise SkillFailure(
                FailureCode.NO_GRASP,
                f"No grasp of '{obj.name}' passes the filters: {fallen}. Widen them, or set the "
                "object down another way.",
            )
        unasked = not given and not wishes.says_from_where() and not self.request.max_tilt
        if unasked:
            offered = from_above(obj, offered)
        others = present(self.scene.objects(), without=[obj.name])
        neighbours = [other.base_T_object[:3, 3] for other in others]
        max_tilt = self.request.max_tilt or math.pi
        lean = not given and self.request.specification is None
        ranked = ranked_grasps(obj, offered, neighbours, max_tilt, lean=lean)
        if not ranked:
            raise SkillFailure(
                FailureCode.NO_GRASP,
                f"None of {len(offered)} grasps of '{obj.name}' comes from within "
                f"{math.degrees(max_tilt):.0f} degrees of straight above. Allow more tilt, or set "
                "the object upright.",
            )
        return ranked

    def _annotated(self) -> list[Grasp]:
        """Grasps from the file that the specification names."""
        wishes = self._wishes
        if wishes.npy_name is None:
            return []
        try:
            grasps = read_grasps(
                self.context.grasp_directory,
                wishes.npy_name,
                scale=wishes.grasp_scale,
                tcp_offset=wishes.tcp_offset,
            )
        except AnnotationError as error:
            raise SkillFailure(FailureCode.INVALID_REQUEST, str(error)) from error
        return [Grasp(g.object_T_tool, g.width, score=g.score) for g in grasps]

    def _plan(self, obj: ObjectView) -> ApproachPlan:
        """A way to the best grasp that can be reached; remembers the grasp."""
        objects = self.scene.objects()
        level = levelled(obj.base_T_object)
        self.world.sync(objects, None)
        q = self.arm.state().q
        failures: list[SkillFailure] = []
        in_a_row = PlanFailures()
        falls = hangs(self.hand.let_go, objects, self.world.ground_height())
        let_go = self.hand.let_go if falls and self.hand.let_go != obj.name else ""
        for grasp in self._candidates(obj):
            target = level @ grasp.object_T_tool
            try:
                entry = self._way_to(q, target, obj.name, in_a_row, let_go)
            except Final:
                raise
            except SkillFailure as failure:
                failures.append(failure)
                if (
                    self._wishes.test_mode == "ik"
                    and failure.failure is FailureCode.PLANNING_FAILED
                ):
                    break  # it has joints: the choice is made, and there is no way to it
                continue
            self._grasp = grasp
            return entry
        raise most_informative(failures, f"Object '{obj.name}' cannot be grasped")

    def _way_to(
        self, q: Array, target: Array, name: str, in_a_row: PlanFailures, let_go: str
    ) -> ApproachPlan:
        """Free motion and straight approach to a tool pose; raises `SkillFailure`."""
        robot = self.robot
        kept = held_orientation(
            robot.forward_kinematics(q), target, self._wishes.pre_grasp_hold_vec_weight
        )
        free = dataclasses.replace(self._options(), path_constraints=kept.constraint())
        with self.world.ignoring_collisions(self._wishes.ignore_substring):
            entry = self.world.straight_then_free(
                q,
                target,
                self._offset(target),
                free=free,
                straight=self._options(self.speeds.approach),
                object_name=name,
                in_a_row=in_a_row,
                let_go=let_go,
            )
        trajectory = entry.trajectory
        problem = kept.problem(robot, trajectory.positions[trajectory.times <= entry.approach_at])
        if problem:
            raise SkillFailure(FailureCode.PLANNING_FAILED, sentence(problem))
        return entry

    def _offset(self, target: Array) -> Array:
        """From the grasp to where the straight approach begins, in the base frame [m]."""
        return -target[:3, 2] * self._approach_distance()

    def _approach_distance(self) -> float:
        if self.request.specification is None:
            return self.parameters.approach_distance
        return max(self.request.specification.pre_grasp_offset, 1e-3)

    def _options(self, tool_speed: float | None = None, width: float | None = None) -> PlanOptions:
        speeds = self.speeds
        return PlanOptions(
            max_velocity_scaling_factor=self.request.velocity_scaling or speeds.free,
            max_acceleration_scaling_factor=speeds.acceleration,
            allowed_planning_time=self.parameters.planning_time,
            gripper_width=width or self.robot.gripper.open_width,
            max_cartesian_speed=tool_speed,
        )

    # ------------------------------------------------------------------ reach, approach

    def _reach(self, planned: ObjectView, entry: ApproachPlan, *, last: bool) -> bool:
        """Go to the grasp; False: the arm stands: the object moved, or the fingers opened late."""
        duration = entry.trajectory.duration

        def watch(elapsed: float) -> None:
            phase = "reach" if elapsed < entry.approach_at else "approach"
            self.goal_context.feedback(phase, 0.6 * min(elapsed / duration, 1.0))
            seen = self.scene.objects().get(planned.name)
            self._process.see(self.arm.state(), seen)
            if seen is None or seen.state is ObjectState.LOST:
                raise _Moved(f"'{planned.name}' is not seen any more")
            moved = distance_between(seen.base_T_object, planned.base_T_object)
            if moved > self.parameters.moved_tolerance:
                raise _Moved(f"'{planned.name}' moved {1e3 * moved:.0f} mm")
            if phase == "approach" and not self._is_open():
                raise _NotOpen

        try:
            follow(
                self.goal_context, self.arm, entry.trajectory, watch, self._planner_of_lift(entry)
            )
        except _Moved as moved:
            if last:
                raise SkillFailure(
                    FailureCode.OBJECT_MOVED,
                    f"{moved} while the arm approached, for the {self.parameters.replans + 1}. "
                    "time. Wait until it rests and try again.",
                ) from None
            return False
        except _NotOpen:
            self._await_open()
            if last:
                raise SkillFailure(
                    FailureCode.EXECUTION_FAILED,
                    f"The fingers opened late, when the arm was at '{planned.name}' already. Pick "
                    "it again.",
                ) from None
            return False
        return True

    def _is_open(self) -> bool:
        """Whether the fingers are so far apart that they do not meet what they are to take."""
        assert self._grasp is not None
        wide, tolerance = self.robot.gripper.open_width, self.parameters.width_tolerance
        free = wide - tolerance  # of a grasp that does not tell how thick the object is
        if thick := self._grasp.width:
            free = min(0.5 * (thick + wide), wide - 0.5 * tolerance)
        return self.arm.state().width >= free

    def _await_open(self) -> None:
        """Wait for the fingers, which open while the arm moves; raises EXECUTION_FAILED."""
        opening = self._opening
        assert opening is not None

        def ended() -> bool:
            done = opening.done()
            return self._is_open() or (done is not None and not done.ok)

        wait_for(self.goal_context, ended, self.parameters.open_timeout)
        if self._is_open():
            return
        done = opening.done()
        said = f" Its controller says: {sentence(done.message)}" if done and done.message else ""
        raise SkillFailure(
            FailureCode.EXECUTION_FAILED,
            f"The fingers did not open (gap {1e3 * self.arm.state().width:.1f} mm), so the arm "
            f"stopped before '{self.request.name}'.{said} See what blocks them, and whether the "
            "gripper's controller runs.",
        )

    def _planner_of_lift(self, entry: ApproachPlan) -> Callable[[], None]:
        def plan() -> None:
            if self._wishes.return_to_pregrasp:
                self._lift = entry.trajectory.from_time(entry.approach_at).reversed()
                return
            with self.world.ignoring_collisions(self._wishes.ignore_substring):
                self._lift = self.world.straight_up(
                    entry.q_end,
                    self._lift_height(),
                    self.request.name,
                    self._options(2.0 * self.speeds.approach),
                )

        return plan

    def _lift_height(self) -> float:
        wishes = self.request.specification
        return self.request.lift_height or (wishes.lift_height() if wishes else 0.0) or DEFAULT_LIFT

    # ------------------------------------------------------------------ grasp, verify, lift

    def _close(self, obj: ObjectView) -> HeldObject:
        """Close the fingers; on nothing: open again and fail."""
        self.goal_context.feedback("grasp", 0.6)
        try:
            wishes, timeout = self.request.specification, self.parameters.close_timeout
            if wishes is not None:
                timeout = wishes.gripper_change_steps * CLOSING_STEP
            width = self._close_until_contact(timeout)
        except BaseException:
            # Not verified: let go, so that the scene, where nothing is held, stays true.
            self._open()
            raise
        self.goal_context.feedback("verify", 0.7)
        assert self._grasp is not None
        expected = self._grasp.width or width
        if abs(width - expected) > self.parameters.width_tolerance or width < 0.003:
            self._open()
            raise SkillFailure(
                FailureCode.GRASP_MISSED,
                f"The fingers stopped at {1e3 * width:.1f} mm, but '{obj.name}' is "
                f"{1e3 * expected:.1f} mm thick: it was not between them. Pick it again; its "
                "position in the scene may have been wrong.",
            )
        return HeldObject(obj.name, self._tool_T_object(obj), width)

    def _close_until_contact(self, timeout: float) -> float:
        """Close the fingers until they stop on something or each other; returns their gap [m]."""
        command = self.gripper.move(0.0, self.robot.gripper.grasp_force)
        start = self.arm.state().width
        still = stillness(self.arm, self.robot.gripper.still_time)

        def stands() -> bool:
            """The fingers have moved and move no more; the controller itself says so later."""
            resting = still()
            return resting and abs(self.arm.state().width - start) > 1e-3

        if not wait_for(self.goal_context, lambda: stands() or command.done() is not None, timeout):
            raise SkillFailure(
                FailureCode.TIMED_OUT,
                f"The fingers did not come to rest within {timeout} s. See whether the gripper's "
                "controller runs.",
            )
        done = command.done()
        if done is not None and not done.ok and not done.stalled:
            raise gave_up("gripper", done)
        return self.arm.state().width

    def _tool_T_object(self, obj: ObjectView) -> Array:
        """How the object sits between the fingers.

        Closing turns it flush with the fingers and centres it between them, so the nominal grasp
        tells its rotation and place on their axis better than the detection does; along the two
        other axes the detection counts.
        """
        assert self._grasp is not None
        base_T_tool = self.robot.forward_kinematics(self.arm.state().q)
        held: Array = np.array(np.linalg.inv(self._grasp.object_T_tool), dtype=np.float64)
        seen = np.linalg.inv(base_T_tool) @ obj.base_T_object
        held[:3, 3] = (seen[0, 3], held[1, 3], seen[2, 3])
        return held

    def _raise(self, held: HeldObject) -> None:
        """Lift, and see by the fingers that the object came along."""
        assert self._lift is not None
        duration = max(self._lift.duration, 1e-3)

        def watch(elapsed: float) -> None:
            self.goal_context.feedback("lift", 0.75 + 0.2 * min(elapsed / duration, 1.0))
            self._process.see(self.arm.state(), self.scene.objects().get(held.name))
            self._check_grip(held)

        # That it rises with the hand is seen only of what the scene does not carry along with it.
        early = self._wishes.lift_th <= 0.0
        tell = (lambda: self._attach(held)) if early else (lambda: None)
        follow(self.goal_context, self.arm, self._lift, watch, tell)
        self._check_grip(held)

    def _judge(self, held: HeldObject, before: ObjectView) -> None:
        """What the specification asks of a pick that has gone well so far."""
        problem = self._process.problem() if self._wishes.process_valid else None
        if self.request.specification is not None and problem:
            raise SkillFailure(
                FailureCode.EXECUTION_FAILED,
                f"'{held.name}' was picked, but {problem}. See whether something hit the arm.",
            )
        rise = self._wishes.lift_th
        if rise <= 0.0:
            return
        lifted = self.goal_context.now()

        def seen_to_rise() -> bool:
            now = self.scene.objects().get(held.name)
            if now is None or now.last_seen < lifted:
                return False
            return bool(now.base_T_object[2, 3] - before.base_T_object[2, 3] > rise)

        if not wait_for(self.goal_context, seen_to_rise, self.parameters.sight_timeout):
            raise SkillFailure(
                FailureCode.GRASP_MISSED,
                f"'{held.name}' was not seen to rise by {1e3 * rise:.0f} mm. Pick it again.",
            )

    def _check_grip(self, held: HeldObject) -> None:
        width = self.arm.state().width
        if width < held.width - self.parameters.width_tolerance:
            raise SkillFailure(
                FailureCode.GRASP_MISSED,
                f"'{held.name}' slipped out of the fingers while it was lifted (gap now "
                f"{1e3 * width:.1f} mm). Pick it again.",
            )

    def _attach(self, held: HeldObject) -> None:
        """Have the scene carry the object along with the hand, if it does not yet."""
        if not self._attached:
            self.scene.attach(held.name, self.robot.gripper.link)
            self._attached = True

    def _report_grasp(self, held: HeldObject) -> None:
        self._attach(held)
        self.hand.held = held
        self.goal_context.feedback("lift", 1.0)

    def _open(self) -> Command:
        """Begin to open the fingers as far as they go."""
        return self.gripper.move(self.robot.gripper.open_width, self.robot.gripper.grasp_force)

    def _settle(self, held: HeldObject) -> None:
        """The pick ends early with the fingers closed: make scene and gripper agree."""
        with shielded(self.goal_context):
            try:
                self._check_grip(held)
                self._report_grasp(held)
            except SkillFailure:
                self._open()
                with contextlib.suppress(SkillFailure):  # why the pick ended is worth more
                    self.scene.detach(held.name)


MOST_GRASPS = 10_000
"""That a request may hold."""
CLOSING_STEP = 0.1
"""[s] that one of the specification's closing steps stands for."""
PLAIN = PickSpecification()
"""What holds without a specification."""
DEFAULT_LIFT = 0.1
"""[m]"""


class _Moved(Exception):
    """The object left its place; the text says how."""


class _NotOpen(Exception):
    """The arm is about to approach, but the fingers are not open."""
