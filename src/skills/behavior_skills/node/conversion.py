# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the skills' own types; the only place that knows both."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from behavior_msgs.action import Look, MoveArm, MoveGripper, Pick, Place, Screw
from behavior_msgs.msg import SceneObjectArray
from behavior_msgs.srv import SampleGrasp
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import Point, PoseStamped, Vector3
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA, Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from behavior_motion import RobotModel, Trajectory, check_interrupted
from behavior_motion.object_state import ObjectState
from behavior_ros import matrix_to_pose, pose_to_matrix, seconds, to_duration, to_time
from behavior_skills.arm.gripper import GripperRequest
from behavior_skills.arm.look import LookRequest
from behavior_skills.arm.move_arm import ArmMode, MoveArmRequest
from behavior_skills.arm.pick import PickRequest
from behavior_skills.arm.place import PlaceParameters, PlaceRequest
from behavior_skills.arm.recordings import RecordingError, read_recording
from behavior_skills.arm.screw import ScrewRequest
from behavior_skills.goal_checks import invalid
from behavior_skills.grasping.specification import PickSpecification
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    ObjectView,
    SkillFailure,
)
from behavior_skills.placement import (
    PlaceSpecification,
)
from behavior_skills.specification import (
    Specification,
    SpecificationError,
    read_mapping,
    read_specification,
)
from behavior_tree.shown_text import named

FrameLookup = Callable[[str, float], Array]
"""base_T_frame of a frame at a time [s] (0: newest); raises `SkillFailure` UNKNOWN_FRAME."""

_ZONE = "zone"
_THINGS = ("", "detected", _ZONE)
"""Kinds of objects that are things, or count as such: the robot keeps out of zones."""
_SHAPES = {
    SolidPrimitive.BOX: "box",
    SolidPrimitive.CYLINDER: "cylinder",
    SolidPrimitive.SPHERE: "sphere",
}
_FALLBACKS = {
    FailureCode.GOAL_IN_COLLISION: FailureCode.PLANNING_FAILED,
    FailureCode.PLANNING_TIMED_OUT: FailureCode.PLANNING_FAILED,
    FailureCode.UNKNOWN_FRAME: FailureCode.INVALID_REQUEST,
    FailureCode.UNKNOWN_OBJECT: FailureCode.INVALID_REQUEST,
    FailureCode.NO_ORIENTATION: FailureCode.INVALID_REQUEST,
}
"""Codes to use where an action has none of its own for a failure."""


def object_views(message: SceneObjectArray, base_T_frame: Array) -> Mapping[str, ObjectView]:
    """The things of a snapshot in the robot's base frame.

    Those without a known shape are left out, and so are derived ones, which are places, not things;
    but for zones, which are obstacles.
    """
    return {
        obj.name: ObjectView(
            name=obj.name,
            state=ObjectState(obj.state),
            base_T_object=base_T_frame @ pose_to_matrix(obj.pose),
            shape=_SHAPES[obj.shape.type],
            size=tuple(obj.shape.dimensions),
            last_seen=seconds(obj.last_seen),
            attached_link=obj.attached_link,
            is_zone=obj.kind == _ZONE,
        )
        for obj in message.objects
        if obj.shape.type in _SHAPES and obj.kind in _THINGS
    }


def object_frames(message: SceneObjectArray, base_T_frame: Array) -> Mapping[str, Array]:
    """Where all objects of a snapshot are in the robot's base frame that are not lost, 4x4 [m]."""
    return {
        obj.name: base_T_frame @ pose_to_matrix(obj.pose)
        for obj in message.objects
        if obj.state != ObjectState.LOST
    }


def stamped_pose(message: PoseStamped, lookup: FrameLookup) -> Array:
    """base_T_pose of a checked pose in any frame; raises `SkillFailure` UNKNOWN_FRAME."""
    check_interrupted()
    pose: Array = pose_to_matrix(message.pose)
    return lookup(message.header.frame_id, seconds(message.header.stamp)) @ pose


def pick_request(goal: Pick.Goal) -> PickRequest:
    """The goal of a Pick; raises `SkillFailure` INVALID_REQUEST for a wrong specification."""
    specification = _read(PickSpecification, goal.parameters) if goal.parameters else None
    named = specification.objects if specification else []
    return PickRequest(
        name=goal.object_name or (named[0] if named else ""),
        max_tilt=goal.max_tilt,
        lift_height=goal.lift_height,
        velocity_scaling=goal.velocity_scaling,
        grasps=tuple(pose_to_matrix(pose) for pose in goal.grasps),
        specification=specification,
    )


def sample_grasp_request(request: SampleGrasp.Request) -> PickRequest:
    """What grasps are asked for; raises `SkillFailure` INVALID_REQUEST."""
    return pick_request(
        Pick.Goal(
            object_name=request.object_name,
            max_tilt=request.max_tilt,
            grasps=request.grasps,
            parameters=request.parameters,
        )
    )


def place_request(goal: Place.Goal, lookup: FrameLookup) -> PlaceRequest:
    """The goal of a Place; raises `SkillFailure` for an unknown frame."""
    return PlaceRequest(
        name=goal.object_name,
        base_T_target=stamped_pose(goal.target, lookup),
        any_yaw=goal.any_yaw,
        retreat_height=goal.retreat_height,
        velocity_scaling=goal.velocity_scaling,
    )


def place_specification(text: str) -> PlaceSpecification | None:
    """The specification in a goal's YAML text, or None where it has none (no key `objects`).

    Raises:
        SkillFailure: INVALID_REQUEST, with everything that is wrong in it.
    """
    return _read(PlaceSpecification, text) if "objects" in text else None


def _read(kind: type[Specification], text: str) -> Specification:
    try:
        return read_specification(kind, text)
    except SpecificationError as error:
        raise SkillFailure(FailureCode.INVALID_REQUEST, str(error)) from error


def place_parameters(text: str, defaults: PlaceParameters) -> PlaceParameters:
    """The parameters with the keys of a goal's YAML text replaced; raises INVALID_REQUEST."""
    if not text.strip():
        return defaults
    known = {f.name for f in dataclasses.fields(defaults) if isinstance(f.default, float)}
    try:
        values: dict[str, Any] = {key: float(value) for key, value in read_mapping(text).items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid(
            f"parameters must be a YAML mapping of names to numbers, not {reprlib.repr(text)}"
        ) from error
    wrong = [key for key, value in values.items() if key not in known or not math.isfinite(value)]
    if wrong or any(value < 0.0 for value in values.values()):
        raise invalid(
            f"parameters: {reprlib.repr(wrong or values)} cannot be used; known are "
            f"{sorted(known)}, each a number not below 0"
        )
    return dataclasses.replace(defaults, **values)


def move_arm_request(
    goal: MoveArm.Goal, lookup: FrameLookup, joint_names: tuple[str, ...], recordings: str
) -> MoveArmRequest:
    """The goal of a MoveArm; `recordings` is the folder of recorded trajectories.

    Raises:
        SkillFailure: UNKNOWN_FRAME, or INVALID_REQUEST for a recording that cannot be used.
    """
    trajectory = None
    if goal.mode == ArmMode.TRAJECTORY:
        trajectory = trajectory_from(goal.trajectory, joint_names)
    if goal.recording:
        try:
            trajectory = read_recording(recordings, goal.recording, joint_names)
        except RecordingError as error:
            raise SkillFailure(FailureCode.INVALID_REQUEST, str(error)) from error
    return MoveArmRequest(
        mode=goal.mode,
        named_target=goal.named_target,
        joints=tuple(goal.joints),
        base_T_tool=tuple(stamped_pose(pose, lookup) for pose in goal.poses),
        trajectory=trajectory,
        velocity_scaling=goal.velocity_scaling,
        acceleration_scaling=goal.acceleration_scaling,
        avoid_collisions=goal.avoid_collisions,
        joint_tolerance=goal.joint_tolerance,
        timeout=goal.timeout,
    )


def screw_request(goal: Screw.Goal, lookup: FrameLookup) -> ScrewRequest:
    """The goal of a Screw; raises `SkillFailure` for an unknown frame."""
    return ScrewRequest(
        base_T_axis=stamped_pose(goal.axis, lookup),
        translation=goal.translation,
        rotation=goal.rotation,
        max_linear=goal.max_linear_velocity,
        max_angular=goal.max_angular_velocity,
        position_tolerance=goal.position_tolerance,
        orientation_tolerance=goal.orientation_tolerance,
        max_force=goal.max_force,
        max_tracking_error=goal.max_tracking_error,
        keep_grip=goal.keep_grip,
        may_touch=tuple(goal.may_touch),
        timeout=goal.timeout,
        preview=goal.preview,
    )


def gripper_request(goal: MoveGripper.Goal) -> GripperRequest:
    """The goal of a MoveGripper."""
    return GripperRequest(
        mode=goal.mode,
        width=goal.width,
        max_effort=goal.max_effort,
        grip=goal.grip,
        satisfied_within=goal.satisfied_within,
        tolerance=goal.tolerance,
        timeout=goal.timeout,
    )


def look_request(goal: Look.Goal, lookup: FrameLookup) -> LookRequest:
    """The goal of a Look; raises `SkillFailure` for an unknown frame."""
    target: Array | None = None
    if not goal.object_name:
        point, header = goal.target.point, goal.target.header
        base_T_frame = lookup(header.frame_id, seconds(header.stamp))
        target = base_T_frame[:3, :3] @ [point.x, point.y, point.z] + base_T_frame[:3, 3]
    return LookRequest(
        base_P_target=target,
        object_name=goal.object_name,
        frame=goal.frame,
        distance=goal.distance,
        tolerance=goal.tolerance,
        velocity_scaling=goal.velocity_scaling,
    )


def trajectory_from(message: JointTrajectory, joint_names: tuple[str, ...]) -> Trajectory | None:
    """A trajectory from its checked message; None when it is empty.

    Velocities that the message lacks are taken from the positions, at rest at both ends.

    Raises:
        SkillFailure: INVALID_REQUEST, it is no trajectory of these joints.
    """
    if not message.points:
        return None
    missing = [name for name in joint_names if name not in message.joint_names]
    if missing:
        raise invalid(f"trajectory.joint_names lacks {named(missing)}")
    order = [list(message.joint_names).index(name) for name in joint_names]
    times = np.array([seconds(point.time_from_start) for point in message.points])
    if len(times) < 2 or np.any(np.diff(times) <= 0.0):
        raise invalid("trajectory.points needs at least two points with rising times")
    dof = len(message.joint_names)
    wrong = [i for i, point in enumerate(message.points) if len(point.positions) != dof]
    if wrong:
        raise invalid(
            f"trajectory.points[{wrong[0]}].positions has "
            f"{len(message.points[wrong[0]].positions)} entries, one for each of {dof} joints is "
            "wanted"
        )
    positions = np.array([point.positions for point in message.points])[:, order]
    if all(len(point.velocities) == dof for point in message.points):
        velocities = np.array([point.velocities for point in message.points])[:, order]
    else:
        velocities = np.gradient(positions, times, axis=0)
        velocities[[0, -1]] = 0.0
    zeros = np.zeros_like(positions)
    return Trajectory(joint_names, times - times[0], positions, velocities, zeros)


def trajectory_message(trajectory: Trajectory) -> JointTrajectory:
    """A trajectory as a message that starts at once."""
    rows = zip(
        trajectory.times.tolist(),
        trajectory.positions,
        trajectory.velocities,
        trajectory.accelerations,
        strict=True,
    )
    # array("d") passes the message's setters unchecked, which lists of floats do not.
    points = []
    for time, q, qd, qdd in rows:
        check_interrupted()
        points.append(
            JointTrajectoryPoint(
                positions=array("d", q.tobytes()),
                velocities=array("d", qd.tobytes()),
                accelerations=array("d", qdd.tobytes()),
                time_from_start=to_duration(time),
            )
        )
    return JointTrajectory(joint_names=list(trajectory.joint_names), points=points)


def trajectory_goal(trajectory: Trajectory) -> FollowJointTrajectory.Goal:
    """Goal of a trajectory controller."""
    return FollowJointTrajectory.Goal(trajectory=trajectory_message(trajectory))


def gripper_goal(width: float, effort: float) -> GripperCommand.Goal:
    """Goal of a gripper controller."""
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = float(width), float(effort)
    return goal


def path_marker(trajectory: Trajectory, robot: RobotModel, stamp: float) -> MarkerArray:
    """The tool's way along a trajectory as a line."""
    times = np.linspace(0.0, trajectory.duration, 25)
    points = []
    for q in trajectory.sample_many(times)[0]:
        x, y, z = robot.forward_kinematics(q)[:3, 3].tolist()
        points.append(Point(x=x, y=y, z=z))
    line = Marker(
        header=Header(stamp=to_time(stamp), frame_id=robot.base_frame),
        ns="planned_path",
        type=Marker.LINE_STRIP,
        scale=Vector3(x=0.004),
        color=ColorRGBA(r=0.1, g=0.8, b=0.9, a=0.9),
        points=points,
    )
    line.pose.orientation.w = 1.0
    return MarkerArray(markers=[line])


def no_path_marker() -> MarkerArray:
    """Takes the line of `path_marker` away."""
    return MarkerArray(markers=[Marker(ns="planned_path", action=Marker.DELETE)])


def fail(result: Any, failure: FailureCode, message: str) -> Any:
    """Fill in code and message of a result that stands for a failure."""
    kind = type(result)
    if not hasattr(kind, failure.value):
        failure = _FALLBACKS.get(failure, FailureCode.EXECUTION_FAILED)
    if not hasattr(kind, failure.value):
        failure = FailureCode.EXECUTION_FAILED
    result.code = getattr(kind, failure.value)
    result.message = message
    return result


def stamped_message(base_T_pose: Array, frame: str, stamp: float) -> PoseStamped:
    """4x4 as a pose in `frame`."""
    return PoseStamped(
        header=Header(stamp=to_time(stamp), frame_id=frame), pose=matrix_to_pose(base_T_pose)
    )
