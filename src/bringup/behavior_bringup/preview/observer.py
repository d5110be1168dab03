# SPDX-License-Identifier: Apache-2.0
"""Reads what a running stack believes."""

from __future__ import annotations

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from behavior_bringup.client import SERVICE_TIMEOUT, StackClient
from behavior_bringup.conversion import believed_objects
from behavior_bringup.errors import BringupError
from behavior_bringup.preview.live_state import BelievedObject, LiveState


class Observer:
    """Listens to joints and scene through a client, whenever that works."""

    def __init__(self, client: StackClient) -> None:
        """Listen from now on."""
        self._client = client
        self._joints = b""
        client.listen(JointState, "joint_states", self._take_joints, QoSProfile(depth=1), raw=True)

    @property
    def objects(self) -> dict[str, BelievedObject]:
        """The newest objects of the scene by name, none before the first message."""
        scene = self._client.scene_message
        return {} if scene is None else believed_objects(scene)

    def state(self) -> LiveState:
        """What the stack believes from now on: joint states that are older do not count.

        Raises:
            BringupError: joints or objects are not told.
        """
        self._joints, client = b"", self._client
        if not client.wait(lambda: bool(self._joints), SERVICE_TIMEOUT):
            raise self._silent("joint_states")
        if not client.wait(lambda: client.scene_message is not None, SERVICE_TIMEOUT):
            raise self._silent("scene/objects")
        joints = deserialize_message(self._joints, JointState)
        assert client.scene_message is not None
        return LiveState(
            joints=dict(zip(joints.name, map(float, joints.position), strict=False)),
            objects=self.objects,
            frame=client.scene_message.header.frame_id,
            speed=max(map(abs, joints.velocity), default=0.0),
        )

    def _silent(self, topic: str) -> BringupError:
        return BringupError(
            f"Nothing is told on {topic} in ROS domain {self._client.domain}: is the stack up?"
            " 'behavior status' tells"
        )

    def _take_joints(self, data: bytes) -> None:
        self._joints = data
