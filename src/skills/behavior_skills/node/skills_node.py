# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the skills: actions /pick, /place, /move_arm, /screw and /gripper.

One arm, so one goal of pick, place, move_arm and screw at a time: a second one is rejected. Every
goal runs in a worker thread (`behavior_ros.WorkerActionServer`) and ends with code and sentence.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from behavior_msgs.action import Look, MoveArm, MoveGripper, Pick, Place, Screw
from rclpy.node import Node
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from behavior_motion import MotionError, Trajectory, create_planner, interruptible, load_robot
from behavior_motion.planners import AUTO
from behavior_ros import (
    OK,
    QOS_LATCHED,
    WARN,
    DiagnosticsPublisher,
    GoalContext,
    ParameterError,
    ParameterSpec,
    TransformError,
    WorkerActionServer,
    create_transform_buffer,
    declare_all,
    run,
    to_time,
)
from behavior_skills.arm.grip import GripParameters
from behavior_skills.arm.gripper import GripperSkill
from behavior_skills.arm.look import LookSkill
from behavior_skills.arm.move_arm import MoveArmSkill
from behavior_skills.arm.pick import PickParameters, PickSkill, Workspace
from behavior_skills.arm.place import PlaceParameters, PlaceSkill
from behavior_skills.arm.planning import PlanningWorld, Speeds
from behavior_skills.arm.screw import ScrewParameters, ScrewSkill
from behavior_skills.arm.specified_place import (
    SpecifiedPlaceParameters,
    SpecifiedPlaceSkill,
)
from behavior_skills.goal_checks import check_goal
from behavior_skills.interfaces import Array, Cancelled, Failure, Hand, SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.controllers import ArmClient, GripperClient, RobotState
from behavior_skills.node.goal_runtime import GoalRuntime
from behavior_skills.node.robot_file import ROBOT, robot_file
from behavior_skills.node.scene_client import SceneClient, SceneTopic
from behavior_skills.node.step_servers import StepServers
from behavior_skills.placement import PlaceSpecification
from behavior_skills.sentences import sentence
from behavior_tree.shown_text import reason_text

USES_ARM = ("pick", "place", "move_arm", "screw", "look", "select_reachable")
"""Servers of which one at a time may move the arm, or plan for it."""
START_PATIENCE = 2.5
"""[s] wall time that a goal waits for the first joint state and snapshot of the scene."""
SWITCH_INTERVAL = 5e-4
"""[s] after which a thread that computes lets another one go on."""

PARAMETERS = [
    ROBOT,
    ParameterSpec("planner", AUTO, "which planner plans: auto, embedded, moveit or a package's"),
    ParameterSpec("world_frame", "world", "fixed frame of the scene"),
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
        robot = load_robot(robot_file(values["robot"]))
        planner = create_planner(robot, values["planner"])
        self._robot = planner.robot
        workspace, controllers = robot.config.workspace, robot.config.controllers
        if workspace is None or controllers is None or not controllers.gripper:
            raise ParameterError(
                f"parameter robot: {values['robot']} lacks the sections `workspace` and "
                "`controllers` (arm, gripper); see docs/adding_a_robot.md"
            )
        self._workspace = Workspace(**workspace.model_dump())
        self._world = PlanningWorld(planner, values["ground"])
        self._world.warm_up()
        self._hand = Hand()
        self._arm_lock = threading.Lock()
        self._transforms = create_transform_buffer(self)
        self._path = self.create_publisher(MarkerArray, "/motion/planned_path", QOS_LATCHED)
        self._trajectory = self.create_publisher(JointTrajectory, "/motion/trajectory", QOS_LATCHED)
        self._state = RobotState(self, self._robot)
        self._arm = ArmClient(self, self._state, controllers.arm, self._show, self._hide)
        self._gripper = GripperClient(self, self._state, controllers.gripper)
        self._scene = SceneTopic(self, lambda frame: self._base_T_frame(frame, 0.0))
        self._set_skill_parameters()
        self._serve()
        self._diagnostics = DiagnosticsPublisher(self, "skills")
        self._counts: dict[str, int] = {}
        self.create_timer(1.0, self._diagnose)

    def destroy_node(self) -> None:
        """Cancel what runs, wait up to 2 s for it, and destroy the node."""
        for server in [*self._step_services.values(), *self._servers.values()]:
            server.destroy()
        super().destroy_node()

    def _set_skill_parameters(self) -> None:
        values, gripper = self._values, self._robot.gripper
        speeds = Speeds(
            values["velocity_scaling"], values["acceleration_scaling"], values["approach_speed"]
        )
        self._speeds = speeds
        self._pick_parameters = PickParameters(
            workspace=self._workspace,
            speeds=speeds,
            effort=gripper.grasp_force,
            max_width=gripper.open_width,
            grasp_directory=values["grasp_directory"],
        )
        self._place_parameters = PlaceParameters(
            workspace=self._workspace,
            speeds=Speeds(speeds.free, speeds.acceleration, 0.8 * speeds.approach),
            grip=GripParameters(max_width=gripper.open_width, effort=gripper.grasp_force),
        )
        self._specified_place_parameters = SpecifiedPlaceParameters(
            speeds=self._place_parameters.speeds, grip=self._place_parameters.grip
        )

    def _serve(self) -> None:
        def server(
            kind: Any, name: str, execute: Callable[[GoalContext], Any]
        ) -> WorkerActionServer:
            accept = self._accept_gripper if kind is MoveGripper else self._accept_arm
            return WorkerActionServer(self, kind, name, execute, accept=accept)

        self._servers = {
            "pick": server(Pick, "/pick", self._pick),
            "place": server(Place, "/place", self._place),
            "move_arm": server(MoveArm, "/move_arm", self._move_arm),
            "screw": server(Screw, "/screw", self._screw),
            "look": server(Look, "/look", self._look),
            "gripper": server(MoveGripper, "/gripper", self._move_gripper),
        }
        steps = StepServers(
            self,
            self._arm,
            self._gripper,
            self._world,
            self._hand,
            self._pick_parameters,
            self._specified_place_parameters,
            lambda: self._base_T_frame(self._values["world_frame"], 0.0),
            self._frames_of,
            self._run,
            self._accept_arm,
        ).serve()
        self._servers["select_reachable"] = steps.pop("select_reachable")
        self._step_services = steps

    # ------------------------------------------------------------------ goals

    def _accept_arm(self, goal: Any) -> str | None:
        busy = [name for name in USES_ARM if self._servers[name].busy]
        return f"the arm is busy with {busy[0]}; wait for it or cancel it" if busy else None

    def _accept_gripper(self, goal: Any) -> str | None:
        busy = [name for name in ("pick", "place", "gripper") if self._servers[name].busy]
        return f"the gripper is busy with {busy[0]}; wait for it or cancel it" if busy else None

    def _pick(self, context: GoalContext) -> Pick.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> Pick.Result:
            request = conversion.pick_request(context.goal)
            for warning in request.specification.warnings() if request.specification else ():
                self.get_logger().warning(reason_text(f"pick: {warning}"))
            skill = PickSkill(
                runtime,
                self._arm,
                self._gripper,
                scene,
                self._world,
                self._hand,
                self._pick_parameters,
                request,
            )
            grasp = conversion.pose_message(skill.run())
            return Pick.Result(message=f"Holding '{request.name}'.", grasp=grasp)

        return self._run(context, Pick, work)

    def _place(self, context: GoalContext) -> Place.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> Place.Result:
            goal = context.goal
            specification = conversion.place_specification(goal.parameters)
            if specification is not None:
                return self._place_by(specification, runtime, scene)
            skill = PlaceSkill(
                runtime,
                self._arm,
                self._gripper,
                scene,
                self._world,
                self._hand,
                conversion.place_parameters(goal.parameters, self._place_parameters),
                conversion.place_request(goal, self._frames_of(scene)),
            )
            pose = skill.run()
            placed = conversion.stamped_message(pose, self._robot.base_frame, runtime.now())
            return Place.Result(message="It rests at the target.", placed=placed)

        return self._run(context, Place, work)

    def _place_by(
        self, specification: PlaceSpecification, runtime: GoalRuntime, scene: SceneClient
    ) -> Place.Result:
        skill = SpecifiedPlaceSkill(
            runtime,
            self._arm,
            self._gripper,
            scene,
            self._world,
            self._hand,
            self._specified_place_parameters,
            specification,
            self._base_T_frame(self._values["world_frame"], 0.0),
            lambda text: self.get_logger().warning(reason_text(text)),
        )
        pose = skill.run()
        share = skill.report.share if skill.report else 1.0
        return Place.Result(
            message=f"It is placed by success_mode {specification.success_mode}; the filters let "
            f"{100 * share:.2g} % of all orientations pass.",
            placed=conversion.stamped_message(pose, self._robot.base_frame, runtime.now()),
        )

    def _move_arm(self, context: GoalContext) -> MoveArm.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> MoveArm.Result:
            request = conversion.move_arm_request(
                context.goal,
                self._frames_of(scene),
                self._robot.joint_names,
                self._values["recording_directory"],
            )
            skill = MoveArmSkill(
                runtime, self._arm, scene, self._world, self._hand, self._speeds, request
            )
            try:
                skill.run()
            except SkillFailure as failure:
                result = conversion.fail(MoveArm.Result(), failure.failure, str(failure))
                result.fraction = skill.fraction
                return result
            return MoveArm.Result(message="The arm is there.", fraction=skill.fraction)

        return self._run(context, MoveArm, work)

    def _screw(self, context: GoalContext) -> Screw.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> Screw.Result:
            request = conversion.screw_request(context.goal, self._frames_of(scene))
            skill = ScrewSkill(
                runtime, self._arm, scene, self._world, self._hand, ScrewParameters(), request
            )
            result = Screw.Result()
            try:
                skill.run()
                result.message = "The way is free." if request.preview else "The tool is there."
            except SkillFailure as failure:
                conversion.fail(result, failure.failure, str(failure))
            result.fraction = skill.fraction
            if skill.motion is not None:
                result.duration = skill.motion.duration
                result.path = [
                    conversion.stamped_message(pose, self._robot.base_frame, runtime.now())
                    for pose in skill.motion.waypoints()
                ]
            planned, executor = skill.trajectory, self.executor
            if request.preview and planned is not None and executor is not None:
                executor.create_task(lambda: self._show(planned))
            return result

        return self._run(context, Screw, work)

    def _look(self, context: GoalContext) -> Look.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> Look.Result:
            request = conversion.look_request(context.goal, self._frames_of(scene))
            skill = LookSkill(
                runtime, self._arm, scene, self._world, self._hand, self._speeds, request
            )
            skill.run()
            return Look.Result(message="It looks at the target.", error=skill.error)

        return self._run(context, Look, work)

    def _move_gripper(self, context: GoalContext) -> MoveGripper.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> MoveGripper.Result:
            skill = GripperSkill(
                runtime,
                self._arm,
                self._gripper,
                scene,
                self._hand,
                self._robot.gripper.open_width,
                self._robot.gripper.grasp_force,
                self._robot.gripper.grips,
                conversion.gripper_request(context.goal),
            )
            outcome = skill.run()
            return MoveGripper.Result(
                message=f"The gap is {1e3 * outcome.width:.1f} mm.",
                width=outcome.width,
                holding=outcome.holding,
            )

        return self._run(context, MoveGripper, work, needs_arm=False)

    def _run(
        self,
        context: GoalContext,
        kind: Any,
        work: Callable[[GoalRuntime, SceneClient], Any],
        *,
        needs_arm: bool = True,
    ) -> Any:
        """Run a skill and turn its end into a result."""
        # Two goals that were accepted in the same moment meet here.
        if needs_arm and not self._arm_lock.acquire(timeout=0.2):
            return conversion.fail(
                kind.Result(), Failure.INVALID_REQUEST, "The arm is busy with another goal."
            )
        runtime = GoalRuntime(self, self._state, context, kind.Feedback)
        try:
            with interruptible(runtime.check_cancelled):
                check_goal(context.goal)
                self._await_start(context)
                result = work(runtime, SceneClient(self._scene, runtime, self))
        except SkillFailure as failure:
            result = conversion.fail(kind.Result(), failure.failure, str(failure))
        except MotionError as error:
            result = conversion.fail(
                kind.Result(), Failure.INVALID_REQUEST, sentence(error.message)
            )
        except Cancelled:
            phase = runtime.phase or "the beginning"
            result = conversion.fail(
                kind.Result(),
                Failure.CANCELED,
                f"Cancelled in {phase}: the arm stands. {self._hand.text}",
            )
        finally:
            if needs_arm:
                self._arm_lock.release()
        self._report(kind.__name__, result)
        return result

    def _await_start(self, context: GoalContext) -> None:
        """Right after the start joint states, scene or frames may not have arrived yet."""
        deadline = time.monotonic() + START_PATIENCE
        while self._state.silent or not self._scene.usable():
            if context.cancelled.wait(0.02) or time.monotonic() > deadline:
                return

    def _report(self, name: str, result: Any) -> None:
        ending = "succeeded" if result.code == 0 else "failed"
        key = f"{name}_{ending}"
        self._counts[key] = self._counts.get(key, 0) + 1
        if result.code != 0:
            self.get_logger().warning(
                reason_text(f"{name} ended with {result.code}: {result.message}")
            )

    # ------------------------------------------------------------------ frames, diagnostics

    def _frames_of(self, scene: SceneClient) -> Callable[[str, float], Array]:
        """Where frames are in the robot's base frame, objects as one goal sees them."""
        return lambda frame, stamp: scene.base_T_frame(frame, stamp, self._base_T_frame)

    def _base_T_frame(self, frame: str, stamp: float) -> Array:
        """Pose of a frame in the robot's base frame; raises `SkillFailure` UNKNOWN_FRAME."""
        if frame == self._robot.base_frame:
            return np.eye(4)
        if not frame:
            raise SkillFailure(
                Failure.UNKNOWN_FRAME,
                f"The pose has no frame_id: give one such as '{self._values['world_frame']}'.",
            )
        at = Time.from_msg(to_time(stamp)) if stamp > 0.0 else None
        try:
            matrix: Array = self._transforms.lookup_matrix(self._robot.base_frame, frame, at)
        except TransformError as error:
            raise SkillFailure(
                Failure.UNKNOWN_FRAME,
                f"Frame '{frame}' is not known: {error}. Give a frame that is on /tf.",
            ) from error
        return matrix

    def _show(self, trajectory: Trajectory) -> None:
        """Publish a motion that starts; in the executor's thread, beside the worker."""
        now = float(self.get_clock().now().nanoseconds) * 1e-9
        self._trajectory.publish(conversion.trajectory_message(trajectory))
        self._path.publish(conversion.path_marker(trajectory, self._robot, now))

    def _hide(self) -> None:
        """The motion is over: its path is no plan any more."""
        self._path.publish(conversion.no_path_marker())

    def _diagnose(self) -> None:
        busy = [name for name, server in self._servers.items() if server.busy]
        held = self._hand.held.name if self._hand.held else "nothing"
        level, message = OK, f"busy with {', '.join(busy)}" if busy else "ready"
        if self._state.silent:
            level, message = WARN, "no joint states arrive: start the robot's driver"
        self._diagnostics.set(level, message, holds=held, **self._counts)


def main(args: list[str] | None = None) -> int:
    """Entry point of `skills_node`."""
    return int(run([SkillsNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
