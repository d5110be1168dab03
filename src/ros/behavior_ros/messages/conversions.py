# SPDX-License-Identifier: Apache-2.0
"""Messages to matrices and numbers, and back.

Matrices are 4x4 homogeneous, float64, [m]; ``target_T_source`` maps points from source to target.
Quaternions are ``(x, y, z, w)``; those of messages need not be normalised exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Pose, PoseStamped, Transform, TransformStamped

from behavior_ros.messages.rotations import Matrix, pose_numbers, quaternion_to_rotation

_SECONDS = 2**31
_NANOSECONDS = 1_000_000_000


def _matrix(position: Any, orientation: Any) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3] = quaternion_to_rotation(
        orientation.x, orientation.y, orientation.z, orientation.w
    )
    matrix[:3, 3] = (position.x, position.y, position.z)
    return matrix


def _fill(position: Any, orientation: Any, matrix: Matrix) -> None:
    x, y, z, *turn = pose_numbers(matrix)
    position.x, position.y, position.z = x, y, z
    orientation.x, orientation.y, orientation.z, orientation.w = turn


def pose_to_matrix(pose: Pose) -> Matrix:
    """Return ``frame_T_body`` of a pose of `body` given in `frame`."""
    return _matrix(pose.position, pose.orientation)


def matrix_to_pose(matrix: Matrix) -> Pose:
    """Return the pose of ``frame_T_body``."""
    # Messages make all their parts anew, also those that are given to them: so they are filled.
    pose = Pose()
    fill_pose(pose, matrix)
    return pose


def fill_pose(pose: Pose, matrix: Matrix) -> None:
    """Make a pose message that of ``frame_T_body``."""
    _fill(pose.position, pose.orientation, matrix)


def upright_pose(
    frame: str, x: float, y: float, yaw: float = 0.0, *, z: float = 0.0
) -> PoseStamped:
    """Return a pose turned by `yaw` [rad] about the vertical; stamp 0: "now" to its receiver."""
    stamped = PoseStamped()
    stamped.header.frame_id = frame
    place, turn = stamped.pose.position, stamped.pose.orientation
    place.x, place.y, place.z = x, y, z
    turn.z, turn.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)
    return stamped


def transform_to_matrix(transform: Transform) -> Matrix:
    """Return ``parent_T_child`` of a transform message."""
    return _matrix(transform.translation, transform.rotation)


def matrix_to_transform(matrix: Matrix) -> Transform:
    """Return the transform message of ``parent_T_child``."""
    transform = Transform()
    _fill(transform.translation, transform.rotation, matrix)
    return transform


def transform_messages(
    stamp: int, frames: Iterable[tuple[str, str]], poses: Iterable[Sequence[float]]
) -> list[TransformStamped]:
    """Return the messages of poses of one time.

    Args:
        stamp: of all [ns]
        frames: parent and child of each
        poses: x, y, z [m] and unit quaternion x, y, z, w of each child in its parent
    """
    messages = []
    for (parent, child), (x, y, z, *turn) in zip(frames, poses, strict=True):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, _NANOSECONDS)
        place, rotation = message.transform.translation, message.transform.rotation
        place.x, place.y, place.z = x, y, z
        rotation.x, rotation.y, rotation.z, rotation.w = turn
        messages.append(message)
    return messages


def seconds(stamp: TimeMsg | DurationMsg | Any) -> float:
    """Return a time or duration, message or rclpy object, in seconds."""
    return to_nanoseconds(stamp) / _NANOSECONDS


def to_nanoseconds(stamp: TimeMsg | DurationMsg | Any) -> int:
    """Return a time or duration, message or rclpy object, in nanoseconds."""
    if hasattr(stamp, "nanoseconds"):
        return int(stamp.nanoseconds)
    return int(stamp.sec) * _NANOSECONDS + int(stamp.nanosec)


def _split(value: float) -> tuple[int, int]:
    if not math.isfinite(value):
        raise ValueError(f"{value} s is no time: give a finite number of seconds")
    if not -_SECONDS <= value < _SECONDS:
        raise ValueError(f"{value:g} s is no time: messages hold less than {_SECONDS} s")
    return divmod(round(value * _NANOSECONDS), _NANOSECONDS)


def to_time(value: float) -> TimeMsg:
    """Return seconds as a time message."""
    sec, nanosec = _split(value)
    return TimeMsg(sec=sec, nanosec=nanosec)


def to_duration(value: float) -> DurationMsg:
    """Return seconds as a duration message."""
    sec, nanosec = _split(value)
    return DurationMsg(sec=sec, nanosec=nanosec)
