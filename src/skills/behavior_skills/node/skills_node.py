# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the skills: it serves what the table of skills holds.

One arm, so one goal at a time of those that need it: a second one is rejected. Of a robot of
several arms each has a node of its own, which serves the skills below the name of its group: with
the group `left_arm`, /left_arm/move_arm and so on; a torso and a head serve those that need no
hand. Every goal runs in a worker thread (`behavior_ros.WorkerActionServer`) and ends with code and
sentence. Packages add skills, see `skill_server`.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from behavior_msgs.srv import AttachObject
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from behavior_motion import MotionError, Trajectory, create_planner, interruptible
from behavior_motion.planning.planners import AUTO
from behavior_motion.robot.robot_file import ControllersSection, SuctionSection, stream_of
from behavior_ros import (
    OK,
    QOS_LATCHED,
    WARN,
    Cancelled,
    DiagnosticsPublisher,
    GoalContext,
    ParameterError,
    ParameterSpec,
    WorkerActionServer,
    create_transform_buffer,
    declare_all,
    run,
    seconds,
)
from behavior_skills.arm.context import SkillContext, Workspace
from behavior_skills.arm.planning import PlanningWorld, Speeds
from behavior_skills.goal_checks import check_goal
from behavior_skills.interfaces import REPLACED, FailureCode, Hand, SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.controllers import ArmClient, DriverStates, RobotState, WatchedStream
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver
from behavior_skills.node.frame_lookup import FrameLookup
from behavior_skills.node.listener import GoalListener
from behavior_skills.node.previewed_motions import MotionExchange, planning_for
from behavior_skills.node.robot_file import GROUP, ROBOT, robot_of
from behavior_skills.node.scene_client import SceneClient, SceneTopic
from behavior_skills.node.skill_server import Part, SkillGoal, SkillServer, skill_servers
from behavior_skills.node.starting import await_start
from behavior_skills.node.suction_cup import NoFingers, SuctionCup
from behavior_skills.node.worker_service import WorkerService
from behavior_skills.sentences import sentence
from behavior_tree.shown_text import reason_text

OTHERS_END = 0.2
"""[s] wall time in which another goal that is over gives the arm up ..."""
REPLACED_ENDS = 2.0
"""[s] ... and one that was replaced."""
SWITCH_INTERVAL = 5e-4
"""[s] after which a thread that computes lets another one go on."""

NOWHERE = Workspace(inner=0.0, outer=0.0)
"""Where a group that has no hand takes and puts objects."""

PARAMETERS = [
    ROBOT,
    GROUP,
    ParameterSpec("planner", AUTO, "which planner plans: auto, embedded, moveit or a package's"),
    ParameterSpec("world_frame", "world", "fixed frame of the scene"),
    ParameterSpec(
        "max_frame_age",
        0.0,
        "[s] since which somebody must have told on /tf where a goal's frame is; 0: any time",
        range=(0.0, 3600.0),
    ),
    ParameterSpec("ground", 0.0, "[m] height of the surface in the base frame", range=(-5.0, 5.0)),
    ParameterSpec("velocity_scaling", 0.8, "of free motion", range=(0.01, 1.0)),
    ParameterSpec("acceleration_scaling", 0.5, "of all motion", range=(0.01, 1.0)),
    ParameterSpec("approach_speed", 0.25, "[m/s] of the tool near objects", range=(0.01, 2.0)),
    ParameterSpec("grasp_directory", "", "folder with files of annotated grasps; empty: none"),
    ParameterSpec("recording_directory", "", "folder with recorded trajectories; empty: none"),
]


class SkillsNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves the skills; see the module's text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "skills"), **kwargs)
        # The executor's thread gives up the interpreter at every message and would wait a whole
        # interval for each while a worker plans; 5 ms, the default, would starve it.
        sys.setswitchinterval(SWITCH_INTERVAL)
        values = declare_all(self, PARAMETERS)
        self._values = values
        robot = robot_of(values["robot"], values["group"])
        try:
            planner = create_planner(robot, values["planner"])
        except (ValueError, RuntimeError) as error:
            raise ParameterError(f"parameter planner: {error}") from error
        self._robot = planner.robot
        workspace, controllers = robot.config.workspace, robot.config.controllers
        suction = robot.config.gripper.suction if robot.config.gripper else None
        hand = controllers and (controllers.gripper or suction)
        group = values["group"]
        complete = bool(workspace and hand) or bool(group)
        if controllers is None or not (controllers.arm and complete):
            raise ParameterError(
                f"parameter robot: {values['robot']} lacks the sections `workspace` and "
                "`controllers` (arm, gripper), or `gripper.suction`; see docs/adding_a_robot.md"
            )
        self._workspace = Workspace(**workspace.model_dump()) if workspace else NOWHERE
        others = robot.config.other_joints
        self._state = RobotState(self, self._robot, other_joints=others)
        self._world = PlanningWorld(planner, values["ground"], lambda: self._state.others)
        self._world.warm_up()
        MotionExchange(self, planner)
        self._hand = Hand()
        self._arm_lock = threading.Lock()
        self._newest: tuple[int, GoalContext] | None = None
        """The newest goal of a skill that replaces its goals, and its place in `_accepted`."""
        self._newest_lock = threading.Lock()
        self._accepted: dict[int, int] = {}
        """Places of such goals in the order in which they were accepted, by identity of their
        messages: their threads may come to the arm in another one."""
        self._places = itertools.count()
        self._at_work: set[GoalContext] = set()
        self._frames = FrameLookup(
            create_transform_buffer(self),
            base=self._robot.base_frame,
            world=values["world_frame"],
            most_age=values["max_frame_age"],
            now=lambda: seconds(self.get_clock().now()),
        )
        self._path = self.create_publisher(MarkerArray, "motion/planned_path", QOS_LATCHED)
        self._trajectory = self.create_publisher(JointTrajectory, "motion/trajectory", QOS_LATCHED)
        try:
            self._make_drivers(controllers, suction)
        except ValueError as error:
            raise ParameterError(f"parameter robot: {values['robot']}: {error}") from error
        self._scene = SceneTopic(self, lambda frame: self._frames(frame, 0.0), self._nudge)
        self._speeds = Speeds(
            values["velocity_scaling"], values["acceleration_scaling"], values["approach_speed"]
        )
        self._skills = skill_servers(self.get_logger().error)
        self._servers: dict[str, WorkerActionServer] = {}
        self._worker_services: dict[str, WorkerService] = {}
        for name, skill in self._skills.items():
            if not hand and not _needs_no_hand(skill):
                continue
            server = self._serve(f"{group}/{name}" if group else name, skill)
            if isinstance(server, WorkerService):
                self._worker_services[name] = server
            else:
                self._servers[name] = server
        self._diagnostics = DiagnosticsPublisher(self, "skills")
        self._counts: dict[str, int] = {}
        self.create_timer(1.0, self._diagnose)

    def _make_drivers(
        self, controllers: ControllersSection, suction: SuctionSection | None
    ) -> None:
        """The robot's drivers as its file names them; raises `ValueError`, mostly `DriverError`."""
        parts = DriverParts(node=self, robot=self._robot, state=self._state.get)
        states = [make_driver(Role.STATE, each, parts) for each in controllers.states]
        self._states = DriverStates(states, lambda: seconds(self.get_clock().now()))
        assert controllers.arm is not None
        arm = make_driver(Role.ARM, controllers.arm, parts)
        self._arm = ArmClient(self._state, arm, self._states, self._show, self._hide)
        stream = make_driver(Role.STREAM, stream_of(controllers), parts)
        self._stream = WatchedStream(stream, self._states)
        self._cup = SuctionCup(parts, suction, self._on_vacuum_lost) if suction else None
        self._gripper = (
            make_driver(Role.GRIPPER, controllers.gripper, parts)
            if controllers.gripper
            else NoFingers()
        )

    def destroy_node(self) -> None:
        """Cancel what runs, wait up to 2 s for it, and destroy the node."""
        for service in self._worker_services.values():
            service.destroy()
        for server in self._servers.values():
            server.destroy()
        super().destroy_node()

    def _serve(self, name: str, skill: SkillServer) -> WorkerActionServer | WorkerService:
        def work(context: GoalContext) -> Any:
            return self._run(skill, context)

        if skill.is_action:
            refusal = partial(self._refusal, skill)
            return WorkerActionServer(self, skill.interface, name, work, accept=refusal)

        def failed(text: str) -> Any:
            return conversion.fail(skill.answer(), FailureCode.EXECUTION_FAILED, text)

        return WorkerService(self, skill.interface, name, work, failed)

    # ------------------------------------------------------------------ goals

    def _refusal(self, skill: SkillServer, goal: Any) -> str | None:
        """Why a goal is refused now, in words; None: it is not."""
        part = skill.needs
        if part is None:
            return None
        busy = [
            name
            for name in self._busy()
            if part in self._skills[name].occupies
            and not (skill.replaces and self._skills[name] is skill)
        ]
        if not busy:
            if skill.replaces:
                self._accepted[id(goal)] = next(self._places)
            return None
        return f"the {part.value} is busy with {busy[0]}; wait for it or cancel it"

    def _busy(self) -> list[str]:
        """Names of the actions that work on a goal."""
        return [name for name, server in self._servers.items() if server.busy]

    def _run(self, skill: SkillServer, context: GoalContext) -> Any:
        """Run a skill and turn its end into an answer."""
        context.pace = lambda: self._state.await_next(context)
        occupied = partial(self._occupied, skill, context)
        self._at_work.add(context)
        try:
            with (
                interruptible(context.check_cancelled),
                planning_for(context.mark),
                contextlib.nullcontext() if skill.replaces else occupied(),
            ):
                check_goal(context.goal)
                await_start(context, self._has_begun)
                result = skill.work(self._goal(context, occupied))
        except SkillFailure as failure:
            result = conversion.fail(skill.answer(), failure.failure, str(failure))
        except MotionError as error:
            result = conversion.fail(
                skill.answer(), FailureCode.INVALID_REQUEST, sentence(error.message)
            )
        except Cancelled as cancelled:
            result = self._cancelled(skill, context, str(cancelled))
        finally:
            self._at_work.discard(context)
            self._accepted.pop(id(context.goal), None)
        self._report(skill.interface.__name__, result)
        return result

    def _nudge(self) -> None:
        """Something has come that goals may wait for; in any thread."""
        for context in tuple(self._at_work):
            context.nudge()

    def _cancelled(self, skill: SkillServer, context: GoalContext, reason: str) -> Any:
        phase = context.phase or "the beginning"
        if reason == REPLACED:
            text = f"Replaced in {phase}: {reason}."
            return conversion.fail(skill.answer(), FailureCode.REPLACED, text)
        text = f"Cancelled in {phase}: the arm stands. {self._hand.text}"
        return conversion.fail(skill.answer(), FailureCode.CANCELED, text)

    @contextlib.contextmanager
    def _occupied(self, skill: SkillServer, context: GoalContext) -> Iterator[None]:
        """Within the block the arm is this goal's, where the skill needs it."""
        if skill.needs is not Part.ARM:
            yield
            return
        patience = OTHERS_END
        if skill.replaces:
            patience = REPLACED_ENDS
            with self._newest_lock:
                # The request of a service has no place yet.
                place = self._accepted.setdefault(id(context.goal), next(self._places))
                newest, self._newest = self._newest, (place, context)
                if newest is not None and newest[0] > place:
                    newest, self._newest = self._newest, newest
                if newest is not None:
                    newest[1].cancel(REPLACED)
            context.check_cancelled()
        # Two goals that were accepted in the same moment meet here.
        deadline = time.monotonic() + patience
        while not self._arm_lock.acquire(timeout=0.05):
            context.check_cancelled()
            if time.monotonic() > deadline:
                raise SkillFailure(
                    FailureCode.INVALID_REQUEST, "The arm is busy with another goal."
                )
        try:
            yield
        finally:
            self._arm_lock.release()

    def _goal(
        self, context: GoalContext, occupied: Callable[[], AbstractContextManager[None]]
    ) -> SkillGoal:
        scene = SceneClient(self._scene, context, self)
        return SkillGoal(
            message=context.goal,
            context=SkillContext(
                goal_context=context,
                arm=self._arm,
                gripper=self._gripper,
                cup=self._cup,
                scene=scene,
                world=self._world,
                hand=self._hand,
                speeds=self._speeds,
                workspace=self._workspace,
                grasp_directory=self._values["grasp_directory"],
            ),
            frames=lambda frame, stamp: scene.base_T_frame(frame, stamp, self._frames),
            base_T_world=lambda: self._frames(self._values["world_frame"], 0.0),
            warn=lambda text: self.get_logger().warning(reason_text(text)),
            show=self._preview,
            recording_directory=self._values["recording_directory"],
            stream=self._stream,
            occupied=occupied,
            listen=partial(GoalListener, self),
        )

    def _has_begun(self) -> bool:
        """Whether joint states, the drivers' states, scene and frames have arrived."""
        return not self._state.silent and self._states.heard() and self._scene.usable()

    def _report(self, name: str, result: Any) -> None:
        ending = "succeeded" if result.code == 0 else "failed"
        key = f"{name}_{ending}"
        self._counts[key] = self._counts.get(key, 0) + 1
        if result.code == 0:
            return
        text = reason_text(f"{name} ended with {result.code}: {result.message}")
        if result.code == getattr(result, "REPLACED", 0):
            self.get_logger().debug(text)  # as it is meant, many times a minute
        else:
            self.get_logger().warning(text)

    def _on_vacuum_lost(self) -> None:
        """What the cup held has come off; the scene is told at once."""
        held = self._hand.held
        if held is None:
            return
        self._hand.release(f"'{held.name}' came off the suction cup: the vacuum was lost.")
        self._scene.attacher.call_async(AttachObject.Request(name=held.name, attach=False))
        self.get_logger().warning(self._hand.emptied)

    # ------------------------------------------------------------------ diagnostics

    def _preview(self, trajectory: Trajectory) -> None:
        """Publish a motion that is not done, from a worker's thread."""
        if self.executor is not None:
            self.executor.create_task(lambda: self._show(trajectory))

    def _show(self, trajectory: Trajectory) -> None:
        """Publish a motion that starts; in the executor's thread, beside the worker."""
        now = seconds(self.get_clock().now())
        self._trajectory.publish(conversion.trajectory_message(trajectory))
        self._path.publish(conversion.path_marker(trajectory, self._robot, now))

    def _hide(self) -> None:
        """The motion is over: its path is no plan any more."""
        self._nudge()
        self._path.publish(conversion.no_path_marker())

    def _diagnose(self) -> None:
        busy = self._busy()
        held = self._hand.held.name if self._hand.held else "nothing"
        level, message = OK, f"busy with {', '.join(busy)}" if busy else "ready"
        if self._states.pace() == 0.0:
            level, message = WARN, "the robot's driver holds it up for now"
        if trouble := self._states.trouble():
            level, message = WARN, trouble
        if self._state.silent:
            level, message = WARN, "no joint states arrive: start the robot's driver"
        self._diagnostics.set(level, message, holds=held, **self._counts)


def _needs_no_hand(skill: SkillServer) -> bool:
    """Whether a torso or a head can do it: it moves joints alone."""
    return skill.is_action and skill.needs is Part.ARM and Part.GRIPPER not in skill.occupies


def main(args: list[str] | None = None) -> int:
    """Entry point of `skills_node`."""
    return int(run([SkillsNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
