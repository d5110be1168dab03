# SPDX-License-Identifier: Apache-2.0
"""Poses as 4x4 matrices: how near two are to each other, and one as the target of a goal."""

from __future__ import annotations

import math

from geometry_msgs.msg import PoseStamped

from behavior_executor.scene_view import Matrix
from behavior_ros import matrix_to_pose


def rotation_gap(first: Matrix, second: Matrix) -> float:
    """Frobenius norm of the difference of two rotations (3x3), divided by 3: 0 to 0.94.

    0.005 is 0.6 degrees.
    """
    change = (first - second).ravel()
    return math.sqrt(float(change @ change)) / 3.0


def is_near(first: Matrix, second: Matrix, position: float, rotation: float = math.inf) -> bool:
    """Whether two poses (4x4) are within [m] and `rotation_gap` of each other."""
    if math.dist(first[:3, 3].tolist(), second[:3, 3].tolist()) > position:
        return False
    return rotation_gap(first[:3, :3], second[:3, :3]) <= rotation


def stamped(frame: str, pose: Matrix, *, digits: int) -> PoseStamped:
    """A pose (4x4) as the target of a goal, rounded: what stays the same compares equal.

    Args:
        frame: of the pose.
        pose: 4x4 [m].
        digits: of the position; the orientation has 5.
    """
    message = PoseStamped(pose=matrix_to_pose(pose))
    message.header.frame_id = frame
    position, q = message.pose.position, message.pose.orientation
    sign = math.copysign(1.0, q.w if abs(q.w) > 1e-4 else q.x if abs(q.x) > 1e-4 else q.y)
    position.x, position.y, position.z = (
        round(v, digits) for v in (position.x, position.y, position.z)
    )
    q.x, q.y, q.z, q.w = (round(sign * v, 5) + 0.0 for v in (q.x, q.y, q.z, q.w))
    return message
