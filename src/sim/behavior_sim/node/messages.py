# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and what the simulation works with; nothing else here knows messages.

Those of cameras are in :mod:`behavior_sim.node.camera_messages`.

Messages that are published often are made once and filled again: building one costs more than
sending it.
"""

import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from behavior_msgs.msg import SceneObject, SceneObjectArray
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import TransformStamped, Vector3
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA
from trajectory_msgs.msg import JointTrajectory

from behavior_ros import pose_to_matrix, seconds, to_duration
from behavior_ros.messages.conversions import fill_pose
from behavior_ros.messages.rotations import pose_numbers
from behavior_ros.messages.wire import SECOND, WireWriter, reading
from behavior_sim.control.joint_trajectory_controller import Tolerances, TrajectoryPoints
from behavior_sim.control.part import Part
from behavior_sim.goals import Ending, InvalidGoal, InvalidJoints, Outcome
from behavior_sim.judging import ROBOT
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import extents
from behavior_sim.worlds.detection import DetectionFrame, DetectorConfig
from behavior_sim.worlds.joint_group import Fingers, JointGroup, Places
from behavior_sim.worlds.layouts import Pose
from behavior_sim.worlds.visible_objects import VisibleObject
from behavior_sim.worlds.world import World

_SHAPES = {
    "box": SolidPrimitive.BOX,
    "sphere": SolidPrimitive.SPHERE,
    "cylinder": SolidPrimitive.CYLINDER,
}
_ERROR_CODES = {
    Ending.SUCCEEDED: FollowJointTrajectory.Result.SUCCESSFUL,
    Ending.PATH_TOLERANCE: FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
    Ending.GOAL_TOLERANCE: FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED,
}


def fill_time(message: Time, nanoseconds: int) -> None:
    """Set a time message."""
    message.sec, message.nanosec = divmod(nanoseconds, 1_000_000_000)


def parse_pose(message: PoseMsg) -> Pose:
    """world_T_object (4, 4) of a pose.

    Raises:
        ValueError: numbers not finite, or a quaternion that is none.
    """
    p, q = message.position, message.orientation
    if not np.isfinite([p.x, p.y, p.z, q.x, q.y, q.z, q.w]).all():
        raise ValueError("the pose holds numbers that are not finite")
    if not 0.9 < np.linalg.norm([q.x, q.y, q.z, q.w]) < 1.1:
        raise ValueError("the pose's quaternion is not of length 1; w = 1 is no rotation")
    pose: Pose = pose_to_matrix(message)
    return pose


def parse_impulse(message: Vector3) -> NDArray[np.float64]:
    """Impulse (3,) [N s].

    Raises:
        ValueError: numbers not finite.
    """
    impulse = np.array([message.x, message.y, message.z])
    if not np.isfinite(impulse).all():
        raise ValueError("the impulse holds numbers that are not finite")
    return impulse


# -- state --------------------------------------------------------------------------------------


class JointStateMessage:
    """The robot's joints: the arms', then the fingers'."""

    def __init__(self, world: World) -> None:
        names = world.config.robot.joints
        zeros = [0.0] * len(names)
        self.message = JointState(name=list(names))
        self.message.position = array("d", zeros)
        self.message.velocity = array("d", zeros)
        self.message.effort = array("d", zeros)
        parts: list[JointGroup | Fingers] = [*world.groups.values(), *world.fingers.values()]
        columns = zip(*(part.places for part in parts), strict=True)
        self._places = Places(*map(np.concatenate, columns))

    def fill(self, simulation: Simulation, nanoseconds: int) -> JointState:
        """The message for now."""
        data, message, places = simulation.world.data, self.message, self._places
        fill_time(message.header.stamp, nanoseconds)
        message.position[:] = array("d", data.qpos[places.positions].tobytes())
        message.velocity[:] = array("d", data.qvel[places.velocities].tobytes())
        message.effort[:] = array("d", data.actuator_force[places.drives].tobytes())
        return message


class StateMessage:
    """All of MuJoCo's generalised positions, enough to draw the world."""

    def __init__(self, names: list[str]) -> None:
        self.message = JointState(name=names)

    def fill(self, simulation: Simulation, nanoseconds: int) -> JointState:
        """The message for now."""
        fill_time(self.message.header.stamp, nanoseconds)
        self.message.position = array("d", simulation.world.data.qpos.tobytes())
        return self.message


class ObjectsMessage:
    """The true state of everything that can be seen, and of the robot's place if it drives."""

    def __init__(
        self,
        visible_objects: Mapping[str, VisibleObject],
        hand_links: Mapping[str, str],
        *,
        drives: bool = False,
    ) -> None:
        """Of all that is there, the link that held objects move with, by group, and whether the
        robot drives: then it is one of the objects, `ROBOT`.
        """
        self.message = SceneObjectArray()
        self.message.header.frame_id = "world"
        self._links = hand_links
        self._seen = [_scene_object(obj) for obj in visible_objects.values()]
        self._robot = SceneObject(name=ROBOT, class_id=ROBOT, state=SceneObject.TRACKED)
        self.message.objects = [*self._seen, *([self._robot] if drives else [])]

    def fill(self, simulation: Simulation, nanoseconds: int) -> SceneObjectArray:
        """The message for now."""
        message, world = self.message, simulation.world
        fill_time(message.header.stamp, nanoseconds)
        message.revision += 1
        held = world.held_objects()
        if world.base is not None:
            self._fill_robot(world.base)
        for item in self._seen:
            fill_pose(item.pose, world.visible_pose(item.name))
            linear, angular = item.velocity.linear, item.velocity.angular
            velocity = world.visible_velocity(item.name).tolist()
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = velocity
            item.last_seen = message.header.stamp
            group = world.holding_group(item.name) if item.name in held else None
            item.state = SceneObject.TRACKED if group is None else SceneObject.ATTACHED
            item.attached_link = "" if group is None else self._links[group]
        return message

    def _fill_robot(self, base: JointGroup) -> None:
        x, y, yaw = base.positions.tolist()
        place, turn = self._robot.pose.position, self._robot.pose.orientation
        place.x, place.y = x, y
        turn.z, turn.w = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
        linear, angular = self._robot.velocity.linear, self._robot.velocity.angular
        linear.x, linear.y, angular.z = base.velocities.tolist()
        self._robot.last_seen = self.message.header.stamp


def _scene_object(obj: VisibleObject) -> SceneObject:
    red, green, blue = obj.color
    return SceneObject(
        name=obj.name,
        class_id=obj.class_id,
        shape=SolidPrimitive(type=_SHAPES[obj.shape], dimensions=list(obj.size)),
        color=ColorRGBA(r=red, g=green, b=blue, a=1.0),
        confidence=1.0,
    )


class DetectionsMessage:
    """What the detector reports: a serialized ``vision_msgs/Detection3DArray``."""

    def __init__(self, visible_objects: Mapping[str, VisibleObject]) -> None:
        self._sizes = {
            name: tuple(extents(obj.shape, obj.size)) for name, obj in visible_objects.items()
        }

    def write(self, frame: DetectionFrame, config: DetectorConfig) -> bytes:
        """The message of one report."""
        stamp = divmod(round(frame.time * 1e9), SECOND)
        turn = max(config.orientation_noise, 1e-6) ** 2
        told: set[str] = set()
        wire = WireWriter()
        wire.numbers("iI", *stamp)
        wire.text("world")
        wire.numbers("I", len(frame.detections))
        for detection in frame.detections:
            place = max(detection.deviation, 1e-6) ** 2
            numbers = pose_numbers(detection.pose)
            # A detector tells classes; which one of a class it sees, it cannot know.
            alone = detection.class_id == detection.name and detection.name not in told
            told.add(detection.name)
            wire.numbers("iI", *stamp)
            wire.text("world")
            wire.numbers("I", 1)  # hypotheses
            wire.text(detection.class_id)
            wire.numbers("44d", detection.score, *numbers, *_diagonal(place, turn))
            wire.numbers("10d", *numbers, *self._sizes[detection.name])
            wire.text(detection.name if alone else "")
        return wire.message()


def _diagonal(place: float, turn: float) -> list[float]:
    """A covariance's 36 numbers of the variances of position [m^2] and rotation [rad^2]."""
    numbers = [0.0] * 36
    numbers[:21:7] = [place] * 3
    numbers[21::7] = [turn] * 3
    return numbers


# -- base ---------------------------------------------------------------------------------------


class OdometryMessage:
    """Where a robot that drives is, as its wheels count it: here without error."""

    def __init__(self, frame: str) -> None:
        self.message = Odometry(child_frame_id=frame)
        self.message.header.frame_id = "odom"
        self.transform = TransformStamped(child_frame_id=frame)
        self.transform.header = self.message.header
        """The same for /tf."""

    def fill(self, simulation: Simulation, nanoseconds: int) -> Odometry:
        """The message for now, and the transform."""
        base, message = simulation.world.base, self.message
        assert base is not None
        (x, y, yaw), (vx, vy, turn) = base.positions.tolist(), base.velocities.tolist()
        fill_time(message.header.stamp, nanoseconds)
        pose, place = message.pose.pose, self.transform.transform
        pose.position.x, pose.position.y = place.translation.x, place.translation.y = x, y
        pose.orientation.z, pose.orientation.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)
        place.rotation.z, place.rotation.w = pose.orientation.z, pose.orientation.w
        twist = message.twist.twist
        twist.linear.x = math.cos(yaw) * vx + math.sin(yaw) * vy
        twist.linear.y = math.cos(yaw) * vy - math.sin(yaw) * vx
        twist.angular.z = turn
        return message


def read_twist(data: bytes) -> NDArray[np.float64]:
    """Speeds ahead, sideways and turning (3,) [m/s, m/s, rad/s] of a ``geometry_msgs/Twist``.

    Raises:
        ValueError: the bytes are no such message.
    """
    with reading(data, "geometry_msgs/Twist") as wire:
        x, y, _, _, _, turn = wire.doubles(6)
    return np.array([x, y, turn])


# -- joint trajectories -------------------------------------------------------------------------


def parse_trajectory(message: JointTrajectory) -> TrajectoryPoints:
    """The points of a trajectory.

    Raises:
        InvalidGoal: points with differing numbers of values.
    """
    columns: dict[str, NDArray[np.float64] | None] = {}
    for name in ("positions", "velocities", "accelerations"):
        rows = [list(getattr(point, name)) for point in message.points]
        if not any(rows):
            columns[name] = None
        elif len({len(row) for row in rows}) > 1:
            raise InvalidGoal(f"the points have differing numbers of {name}")
        else:
            columns[name] = np.array(rows)
    if message.points and columns["positions"] is None:
        raise InvalidGoal("the trajectory's points have no positions")
    return TrajectoryPoints(
        joints=list(message.joint_names),
        times=np.array([seconds(point.time_from_start) for point in message.points]),
        positions=columns["positions"] if columns["positions"] is not None else np.empty((0, 0)),
        velocities=columns["velocities"],
        accelerations=columns["accelerations"],
    )


def parse_tolerances(goal: Any) -> Tolerances:
    """Tolerances of a FollowJointTrajectory goal: 0 leaves the default, below 0 is none at all."""

    def table(entries: Any) -> dict[str, float]:
        return {
            entry.name: entry.position if entry.position > 0.0 else np.inf
            for entry in entries
            if entry.position != 0.0
        }

    late = seconds(goal.goal_time_tolerance)
    return Tolerances(
        path=table(goal.path_tolerance),
        goal=table(goal.goal_tolerance),
        goal_time=late if late > 0.0 else None,
    )


def trajectory_result(outcome: Outcome | InvalidGoal) -> Any:
    """Result message of a FollowJointTrajectory goal."""
    result = FollowJointTrajectory.Result()
    if isinstance(outcome, InvalidJoints):
        result.error_code, result.error_string = result.INVALID_JOINTS, str(outcome)
    elif isinstance(outcome, InvalidGoal):
        result.error_code, result.error_string = result.INVALID_GOAL, str(outcome)
    else:
        # The interface has no code of its own for goals that were cancelled or replaced.
        result.error_code = _ERROR_CODES.get(
            outcome.ending, FollowJointTrajectory.Result.INVALID_GOAL
        )
        result.error_string = outcome.message
    return result


def trajectory_feedback(part: Part, t: float, nanoseconds: int) -> Any:
    """Feedback message, at `t` [s], of the FollowJointTrajectory goal that a part works on."""
    feedback = FollowJointTrajectory.Feedback()
    fill_time(feedback.header.stamp, nanoseconds)
    feedback.joint_names = list(part.config.arm.joints)
    desired = part.arm.setpoint
    actual = (part.joints.positions, part.joints.velocities)
    for point, positions, velocities in (
        (feedback.desired, *desired),
        (feedback.actual, *actual),
        (feedback.error, desired[0] - actual[0], desired[1] - actual[1]),
    ):
        point.positions, point.velocities = positions.tolist(), velocities.tolist()
        point.time_from_start = to_duration(max(0.0, part.arm.elapsed(t)))
    return feedback


# -- gripper ------------------------------------------------------------------------------------


def _fill_gripper(message: Any, fingers: Fingers) -> Any:
    message.position = fingers.gap
    message.effort = abs(fingers.force)
    return message


def gripper_result(fingers: Fingers, outcome: Outcome | InvalidGoal) -> Any:
    """Result message of a GripperCommand goal."""
    result = _fill_gripper(GripperCommand.Result(), fingers)
    if isinstance(outcome, Outcome):
        result.stalled = outcome.stalled
        result.reached_goal = outcome.ending is Ending.SUCCEEDED and not outcome.stalled
    return result


def gripper_feedback(fingers: Fingers) -> Any:
    """Feedback message of the GripperCommand goal being worked on."""
    return _fill_gripper(GripperCommand.Feedback(), fingers)
