# SPDX-License-Identifier: Apache-2.0
"""Where the tool must be to bring a held object into a slot."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped
from scipy.spatial.transform import Rotation

from behavior_ros import matrix_to_pose, pose_to_matrix
from behavior_tree import (
    InputPort,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    ports_list,
)


class InsertionPose(SyncActionNode):
    """Computes where the tool must be for a held object to be on its way into a slot.

    The object goes in along that of its axes which is nearest to the tool's axis of approach, also
    when the hand holds it leaning.
    """

    ports = ports_list(
        InputPort(
            "target",
            PoseStamped,
            description="where the object's centre shall end; x points into the slot, z up",
        ),
        InputPort("grasp", Pose, description="tool frame in the object's frame, as Pick gives"),
        InputPort("back", float, default=0.0, description="[m] that it is still to go"),
        InputPort("roll", float, default=0.0, description="[rad] of the tool about x; 0: its x up"),
        OutputPort("poses", list[PoseStamped], description="pose of the tool, for MoveArm"),
    )

    def tick(self) -> NodeStatus:
        """Compute."""
        target: PoseStamped = self.get_input("target")
        poses = insertion_pose(
            pose_to_matrix(target.pose),
            pose_to_matrix(self.get_input("grasp")),
            back=self.get_input("back"),
            roll=self.get_input("roll"),
        )
        self.set_output("poses", [PoseStamped(header=target.header, pose=matrix_to_pose(poses))])
        return NodeStatus.SUCCESS


def insertion_pose(
    target: np.ndarray, object_T_tool: np.ndarray, *, back: float, roll: float
) -> np.ndarray:
    """Pose of the tool (4x4) with the object's axis of insertion along the target's x axis.

    Args:
        target: where the object's centre shall end, x into the slot, 4x4 [m].
        object_T_tool: the grasp, 4x4 [m].
        back: [m] against x from the target.
        roll: [rad] of the tool about x; at 0 its x axis points along the target's z, if the object
            is held straight.
    """
    c, s = math.cos(roll), math.sin(roll)
    # Columns: the tool's axes in the target's frame.
    in_target = np.array([[0.0, 0.0, 1.0], [s, -c, 0.0], [c, s, 0.0]])
    pose = np.eye(4)
    tool_T_object = np.linalg.inv(object_T_tool)
    pose[:3, :3] = target[:3, :3] @ in_target @ _lean(tool_T_object[:3, :3]).T
    centre = target[:3, 3] - back * target[:3, 0]
    pose[:3, 3] = centre - pose[:3, :3] @ tool_T_object[:3, 3]
    return pose


def _lean(tool_R_object: np.ndarray) -> np.ndarray:
    """Least rotation (3x3) from the tool's z axis to the object's axis that is nearest to it."""
    nearest = int(np.argmax(np.abs(tool_R_object[2])))
    axis = tool_R_object[:, nearest] * np.sign(tool_R_object[2, nearest])
    turn = np.array([-axis[1], axis[0], 0.0])
    size = float(np.linalg.norm(turn))
    if size < 1e-9:
        return np.eye(3)
    return np.asarray(Rotation.from_rotvec(turn / size * math.acos(min(axis[2], 1.0))).as_matrix())
