# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the base: action /move_base.

Where Nav2, or what `controllers.navigation` of a robot's file names, is there (parameter `backend`:
nav2 or auto) it gets poses and paths. Elsewhere the base is driven by velocities with its pose
from TF, straight towards the goal: on /cmd_vel, or as `controllers.base` of the file says.
"""

from __future__ import annotations

import importlib.util
import threading
from typing import Any

import numpy as np
from behavior_msgs.action import MoveBase
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.time import Time

from behavior_motion import interruptible
from behavior_motion.robot.robot_file import (
    ControllersSection,
    DriverSection,
    load_drive,
)
from behavior_ros import (
    OK,
    WARN,
    Cancelled,
    DiagnosticsPublisher,
    GoalContext,
    ParameterError,
    ParameterSpec,
    ServerLost,
    TransformError,
    WaitTimeout,
    WorkerActionServer,
    create_transform_buffer,
    declare_all,
    run,
    seconds,
    to_time,
    transform_to_matrix,
)
from behavior_skills.base.drive import BaseMode, DriveRequest, DriveSkill
from behavior_skills.base.motion import BaseLimits
from behavior_skills.goal_checks import check_goal
from behavior_skills.interfaces import Array, FailureCode, Navigation, SkillFailure, Wheels
from behavior_skills.node import conversion
from behavior_skills.node.controllers import DriverStates
from behavior_skills.node.drivers.driver import DriverError, DriverParts, Role, make_driver
from behavior_skills.node.starting import await_start

STALE = 1.0
"""[s] an older pose of the base is none."""

PARAMETERS = [
    ParameterSpec("backend", "auto", "who drives", choices=("auto", "nav2", "direct")),
    ParameterSpec("robot", "", "robot file, of which `controllers` counts; empty: cmd_vel"),
    ParameterSpec("fixed_frame", "odom", "frame that the base is steered in"),
    ParameterSpec("base_frame", "base_link", "frame of the base"),
    ParameterSpec("max_linear_velocity", 0.5, "[m/s]", range=(0.01, 5.0)),
    ParameterSpec("max_angular_velocity", 1.2, "[rad/s]", range=(0.01, 10.0)),
    ParameterSpec("linear_acceleration", 0.8, "[m/s^2]", range=(0.01, 20.0)),
    ParameterSpec("angular_acceleration", 3.0, "[rad/s^2]", range=(0.01, 50.0)),
]


class BaseNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves the base; see the module's text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "base"), **kwargs)
        self._values = values = declare_all(self, PARAMETERS)
        self._limits = BaseLimits(
            linear=values["max_linear_velocity"],
            angular=values["max_angular_velocity"],
            linear_acceleration=values["linear_acceleration"],
            angular_acceleration=values["angular_acceleration"],
        )
        self._transforms = create_transform_buffer(self)
        self._make_drivers(values["robot"])
        self._lock = threading.Lock()
        self._server = WorkerActionServer(
            self, MoveBase, "move_base", self._move, accept=self._accept
        )
        self._diagnostics = DiagnosticsPublisher(self, "base")

    def _make_drivers(self, robot: str) -> None:
        """The base's drivers as its file names them; raises `ParameterError`."""
        parts = DriverParts(node=self)
        try:
            section, base = load_drive(robot) if robot else (ControllersSection(), None)
        except (OSError, ValueError) as error:
            raise ParameterError(f"parameter robot: {error}") from error
        try:
            states = [make_driver(Role.STATE, each, parts) for each in section.states]
            wheels = section.base or DriverSection(driver="cmd_vel")
            self._wheels: Wheels = make_driver(Role.BASE, wheels, parts)
            self._navigation = self._make_navigation(section, parts)
        except DriverError as error:
            raise ParameterError(f"parameter robot: {robot}: {error}") from error
        self._states = DriverStates(states, lambda: seconds(self.get_clock().now()))
        self._omnidirectional = base is not None and base.omnidirectional

    def _make_navigation(
        self, section: ControllersSection, parts: DriverParts
    ) -> Navigation | None:
        """Who drives to poses, where anybody does; raises `DriverError`."""
        backend = self._values["backend"]
        if backend == "direct":
            return None
        if section.navigation is None and importlib.util.find_spec("nav2_msgs") is None:
            if backend == "nav2":
                raise ParameterError(
                    "parameter backend is 'nav2', but nav2_msgs cannot be imported: install Nav2 "
                    "(rosdep install --from-paths src), or set backend to 'direct'."
                )
            self.get_logger().info("Nav2 is not installed: the base is driven directly.")
            return None
        wanted = section.navigation or DriverSection(driver="nav2")
        made: Navigation = make_driver(Role.NAVIGATION, wanted, parts)
        return made

    def _accept(self, goal: Any) -> str | None:
        busy = self._server.busy
        return "the base is driving already; wait for it or cancel it" if busy else None

    # ------------------------------------------------------------------ goals

    def _move(self, context: GoalContext) -> MoveBase.Result:
        with self._lock, interruptible(context.check_cancelled):
            try:
                check_goal(context.goal)
                await_start(context, self._has_begun)
                self._states.check()
                request = self._request(context.goal)
                if self._navigation and self._navigation.serves(context.goal.mode):
                    self._navigate(context, self._navigation)
                else:
                    self._drive(context, request)
                result = MoveBase.Result(message="The base is there.")
            except SkillFailure as failure:
                result = conversion.fail(MoveBase.Result(), failure.failure, str(failure))
            except ServerLost as lost:
                result = conversion.fail(MoveBase.Result(), FailureCode.SERVER_LOST, f"{lost}.")
            except WaitTimeout as timeout:
                result = conversion.fail(MoveBase.Result(), FailureCode.TIMED_OUT, f"{timeout}.")
            except Cancelled:
                result = conversion.fail(
                    MoveBase.Result(), FailureCode.CANCELED, "Cancelled: the base stands."
                )
        self._fill_pose(result)
        self._diagnostics.set(OK if result.code == 0 else WARN, result.message)
        return result

    def _has_begun(self) -> bool:
        """Whether the base's pose and the state of its drivers have arrived."""
        try:
            self.base_pose()
        except SkillFailure:
            return False
        return self._states.heard()

    def _navigate(self, context: GoalContext, navigation: Navigation) -> None:
        try:
            navigation.run(context, self._states.trouble)
        except ServerLost:
            self._states.check()  # which tells more than that something is gone
            raise

    def _drive(self, context: GoalContext, request: DriveRequest) -> None:
        DriveSkill(context, _Base(self), self._limits, request, self._omnidirectional).run()

    def _fill_pose(self, result: MoveBase.Result) -> None:
        try:
            pose, stamp = self.base_pose()
        except SkillFailure:
            return
        result.pose = conversion.stamped_message(pose, self._values["fixed_frame"], stamp)

    def _request(self, goal: MoveBase.Goal) -> DriveRequest:
        request = DriveRequest(
            mode=goal.mode,
            target=self._planar(goal.target) if goal.mode == BaseMode.POSE else None,
            path=(
                np.array([self._planar(pose) for pose in goal.path.poses]).reshape(-1, 3)
                if goal.mode == BaseMode.PATH
                else None
            ),
            distance=goal.distance,
            angle=goal.angle,
            max_linear_velocity=goal.max_linear_velocity,
            max_angular_velocity=goal.max_angular_velocity,
            position_tolerance=goal.position_tolerance,
            yaw_tolerance=goal.yaw_tolerance,
            any_yaw=goal.any_yaw,
            timeout=goal.timeout,
        )
        request.check()
        return request

    def _planar(self, message: PoseStamped) -> Array:
        """A pose as (x, y, yaw) in the fixed frame; raises `SkillFailure` UNKNOWN_FRAME."""
        return planar(conversion.stamped_pose(message, self._fixed_T_frame))

    def _fixed_T_frame(self, frame: str, stamp: float) -> Array:
        fixed = self._values["fixed_frame"]
        if frame == fixed:
            return np.eye(4)
        try:
            at = Time.from_msg(to_time(stamp)) if stamp > 0.0 else None
            matrix: Array = self._transforms.lookup_matrix(fixed, frame, at)
        except TransformError as error:
            raise SkillFailure(
                FailureCode.UNKNOWN_FRAME,
                f"Frame '{frame}' is not known: {error}. Give a frame that is on /tf.",
            ) from error
        return matrix

    # ------------------------------------------------------------------ the base

    def base_pose(self) -> tuple[Array, float]:
        """Newest pose of the base (4x4) and its time [s]; raises `SkillFailure` SERVER_LOST."""
        fixed, base = self._values["fixed_frame"], self._values["base_frame"]
        try:
            message = self._transforms.lookup_transform(fixed, base)
        except TransformError as error:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The pose of the base is not known: {error}. Start the base's driver or the "
                "simulation.",
            ) from error
        stamp = seconds(message.header.stamp)
        age = seconds(self.get_clock().now()) - stamp
        if age > STALE:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The pose of the base is {age:.1f} s old. Start the base's driver or the "
                "simulation again.",
            )
        matrix: Array = transform_to_matrix(message.transform)
        return matrix, stamp

    def may_move(self) -> None:
        """Raise `SkillFailure` EXECUTION_FAILED where a driver says that the base is stopped."""
        self._states.check()

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        """Publish a velocity; that to the side only where the base can: not all drivers take it."""
        if self._omnidirectional:
            self._wheels.command(linear, angular, lateral)
        else:
            self._wheels.command(linear, angular)


class _Base:
    """The skill's `Base`."""

    def __init__(self, node: BaseNode) -> None:
        self._node = node

    def pose(self) -> Array:
        self._node.may_move()
        return planar(self._node.base_pose()[0])

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        self._node.command(linear, angular, lateral)


def planar(matrix: Array) -> Array:
    """(x, y, yaw) of a 4x4 pose."""
    return np.array([matrix[0, 3], matrix[1, 3], np.arctan2(matrix[1, 0], matrix[0, 0])])


def main(args: list[str] | None = None) -> int:
    """Entry point of `base_node`."""
    return int(run([BaseNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
