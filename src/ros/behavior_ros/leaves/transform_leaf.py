# SPDX-License-Identifier: Apache-2.0
"""Tree leaf that looks up where a frame is."""

from __future__ import annotations

from geometry_msgs.msg import PoseStamped

from behavior_ros.messages.conversions import matrix_to_pose, transform_to_matrix
from behavior_ros.transforms.buffers import TransformBuffer
from behavior_ros.transforms.transform_tree import TransformError
from behavior_tree import (
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    ports_list,
)


class LookUpFrame(SyncActionNode):
    """Writes the latest pose of a frame; FAILURE with the reason if it is not known."""

    ports = ports_list(
        InputPort("frame", str, description="frame that is looked for, like an object's name"),
        InputPort("reference", str, "world", "frame in which the pose is given"),
        OutputPort("pose", PoseStamped, description="[m] pose of the frame in the reference"),
    )

    def __init__(self, name: str, config: NodeConfig, buffer: TransformBuffer) -> None:
        super().__init__(name, config)
        self._buffer = buffer

    def tick(self) -> NodeStatus:
        """Look up."""
        self.set_failure_reason("")
        try:
            found = self._buffer.lookup_transform(
                self.get_input("reference"), self.get_input("frame")
            )
        except TransformError as error:
            self.set_failure_reason(str(error))
            return NodeStatus.FAILURE
        pose = PoseStamped(header=found.header)
        pose.pose = matrix_to_pose(transform_to_matrix(found.transform))
        self.set_output("pose", pose)
        return NodeStatus.SUCCESS
