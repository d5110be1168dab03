# SPDX-License-Identifier: Apache-2.0
"""The node of the cameras in a ROS domain of its own, fed with states by hand."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection2DArray

from behavior_ros import transform_to_matrix
from behavior_ros.testing import Bench
from behavior_ros.topics.qos import QOS_STATIC_TRANSFORMS
from behavior_sim.cameras.camera_process import CameraError, CameraProcess
from behavior_sim.node.camera_node import CameraNode
from behavior_sim.worlds.config import WorldConfig
from behavior_sim.worlds.model import coordinate_names
from behavior_sim.worlds.world import World

WAIT = 90.0
KINDS = {
    "color": Image,
    "depth": Image,
    "mask": Image,
    "detections": Detection2DArray,
    "points": PointCloud2,
    "camera_info": CameraInfo,
}


@pytest.fixture(scope="module", autouse=True)
def opengl(config: WorldConfig) -> None:
    try:
        CameraProcess(config).close()
    except CameraError as error:
        pytest.skip(f"no OpenGL here: {error}")


class Rig(Bench):
    """The node, and a client that plays the simulation and looks at the pictures."""

    def __init__(self, config: WorldConfig) -> None:
        super().__init__()
        self.node = self.make(CameraNode, world="block_stacking", noise="{depth: 0.0}")
        self.world = World(config)
        self.names = coordinate_names(self.world.model)
        self.states = self.peer.create_publisher(JointState, "/simulation/state", 1)
        self.got: dict[str, list[Any]] = {}
        self.health = ""
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._on_health, 10)

    def _on_health(self, message: DiagnosticArray) -> None:
        self.health = message.status[0].message

    def listen(self, topic: str) -> Any:
        self.got[topic] = []
        kind = KINDS[topic.rsplit("/", maxsplit=1)[-1]]
        return self.peer.create_subscription(kind, topic, self.got[topic].append, 10)

    def state(self, t: float, names: list[str] | None = None) -> None:
        self.until(lambda: self.states.get_subscription_count() > 0)
        message = JointState(name=names or self.names, position=self.world.data.qpos.tolist())
        message.header.stamp.sec, nanoseconds = divmod(round(t * 1e9), 10**9)
        message.header.stamp.nanosec = nanoseconds
        self.states.publish(message)

    def picture(self, t: float, *topics: str) -> list[Any]:
        """What the topics bring for a state; it is sent again with a later time until they do."""
        for topic in topics:
            self.got[topic].clear()
        sent = time.monotonic() - 1.0
        while not all(self.got[topic] for topic in topics):
            assert time.monotonic() - sent < WAIT
            if time.monotonic() - sent > 0.5:
                self.state(t)
                t, sent = t + 1.0, time.monotonic()
            self.executor.spin_once(timeout_sec=0.05)
        return [self.got[topic][-1] for topic in topics]

    def set(self, name: str, value: Any) -> Any:
        return self.set_parameter(self.node, name, value)


@pytest.fixture(scope="module")
def rig(config: WorldConfig) -> Iterator[Rig]:
    made = Rig(config)
    yield made
    made.close()


def test_nothing_is_drawn_while_nobody_looks(rig: Rig) -> None:
    rig.until(lambda: rig.health == "nobody looks")
    assert rig.states.get_subscription_count() == 0
    subscription = rig.listen("/camera/depth")
    (depth,) = rig.picture(1.0, "/camera/depth")
    assert depth.encoding == "32FC1"
    assert not rig.node._cameras[1].watched
    rig.peer.destroy_subscription(subscription)
    rig.until(lambda: rig.states.get_subscription_count() == 0)


def test_all_of_a_camera_belongs_together(rig: Rig) -> None:
    topics = [f"/wrist_camera/{what}" for what in KINDS]
    subscriptions = [rig.listen(topic) for topic in topics]
    color, depth, mask, detections, cloud, info = rig.picture(100.0, *topics)
    heads = {(m.header.frame_id, m.header.stamp.sec) for m in (color, depth, mask, cloud, info)}
    assert len(heads) == 1
    assert heads.pop()[0] == "wrist_camera_optical_frame"
    labels = np.frombuffer(mask.data, np.uint16).reshape(mask.height, mask.width)
    metres = np.frombuffer(depth.data, np.float32).reshape(depth.height, depth.width)
    assert (mask.encoding, color.encoding, color.step) == ("16UC1", "rgb8", 960)
    assert {str(label) for label in np.unique(labels)} - {"0"} == {
        found.id for found in detections.detections
    }
    points = np.frombuffer(cloud.data, np.float32).reshape(240, 320, 4)
    row, column = (int(v) for v in np.argwhere(labels > 0)[50])
    f, cx, cy = info.k[0], info.k[2], info.k[5]
    ray = [(column - cx) / f, (row - cy) / f, 1.0]
    assert points[row, column, :3] == pytest.approx(np.array(ray) * metres[row, column], rel=1e-5)
    packed = int(points[row, column, 3:].view(np.uint32)[0])
    pixel = np.frombuffer(color.data, np.uint8).reshape(240, 320, 3)[row, column]
    assert [packed >> 16 & 255, packed >> 8 & 255, packed & 255] == pixel.tolist()
    for subscription in subscriptions:
        rig.peer.destroy_subscription(subscription)


def test_frames_of_the_cameras(rig: Rig) -> None:
    frames: dict[str, Any] = {}

    def keep(message: TFMessage) -> None:
        frames.update({t.child_frame_id: t for t in message.transforms})

    rig.peer.create_subscription(TFMessage, "/tf_static", keep, QOS_STATIC_TRANSFORMS)
    rig.until(lambda: len(frames) == 2)
    mounted = frames["wrist_camera_optical_frame"]
    assert mounted.header.frame_id == "gripper"
    pose = transform_to_matrix(mounted.transform)
    assert pose == pytest.approx(rig.world.config.cameras["wrist_camera"].parent_T_optical)


def test_latency_and_refused_noise(rig: Rig) -> None:
    assert not rig.set("noise", "{depth: -1}").successful
    refused = rig.set("noise", "{fog: 1}")
    assert "unknown fog" in refused.reason
    assert rig.set("noise", "{latency: 0.5}").successful
    subscription = rig.listen("/camera/detections")
    (late,) = rig.picture(200.0, "/camera/detections")
    # Sent a second apart: what arrives with a state was taken at the one before.
    assert rig.node._cameras[0].pending
    assert late.header.stamp.sec < rig.node._cameras[0].pending[0][1].nanoseconds / 1e9
    assert rig.set("noise", "{}").successful
    rig.peer.destroy_subscription(subscription)


def test_another_world_is_told(rig: Rig) -> None:
    subscription = rig.listen("/camera/depth")
    rig.state(300.0, ["nose"] * len(rig.names))
    rig.until(lambda: "another world" in rig.health)
    rig.peer.destroy_subscription(subscription)
