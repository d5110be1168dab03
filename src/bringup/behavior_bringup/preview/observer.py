# SPDX-License-Identifier: Apache-2.0
"""Reads what a running stack believes."""

from __future__ import annotations

from behavior_msgs.msg import SceneObjectArray
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from behavior_bringup.client import SERVICE_TIMEOUT, StackClient
from behavior_bringup.conversion import believed_objects
from behavior_bringup.errors import BringupError
from behavior_bringup.preview.live_state import BelievedObject, LiveState
from behavior_ros import QOS_LATCHED


class Observer:
    """Listens to joints and scene through a client, whenever that works."""

    def __init__(self, client: StackClient) -> None:
        """Listen from now on."""
        self._client = client
        self._joints: JointState | None = None
        self._scene: SceneObjectArray | None = None
        client.listen(JointState, "joint_states", self._take_joints, QoSProfile(depth=1))
        client.listen(SceneObjectArray, "scene/objects", self._take_scene, QOS_LATCHED)

    @property
    def objects(self) -> dict[str, BelievedObject]:
        """The newest objects of the scene by name, none before the first message."""
        return {} if self._scene is None else believed_objects(self._scene)

    def state(self) -> LiveState:
        """What the stack believes from now on: joint states that are older do not count.

        Raises:
            BringupError: joints or objects are not told.
        """
        self._joints = None
        if not self._client.wait(lambda: self._joints is not None, SERVICE_TIMEOUT):
            raise self._silent("joint_states")
        if not self._client.wait(lambda: self._scene is not None, SERVICE_TIMEOUT):
            raise self._silent("scene/objects")
        assert self._joints is not None
        assert self._scene is not None
        return LiveState(
            joints=dict(zip(self._joints.name, map(float, self._joints.position), strict=False)),
            objects=self.objects,
            frame=self._scene.header.frame_id,
            speed=max(map(abs, self._joints.velocity), default=0.0),
        )

    def _silent(self, topic: str) -> BringupError:
        return BringupError(
            f"Nothing is told on {topic} in ROS domain {self._client.domain}: is the stack up?"
            " 'behavior status' tells"
        )

    def _take_joints(self, message: JointState) -> None:
        self._joints = message

    def _take_scene(self, message: SceneObjectArray) -> None:
        self._scene = message
