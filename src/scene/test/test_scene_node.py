# SPDX-License-Identifier: Apache-2.0
"""The node in its own ROS domain: topics, services, and that bad input never stops it."""

import math
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")
pytest.importorskip("vision_msgs.msg")

from behavior_msgs.msg import SceneObject, SceneObjectArray, SceneQuestion  # noqa: E402
from behavior_msgs.srv import AttachObject, FreezeObjects, QueryScene  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import TransformStamped  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose  # noqa: E402

from behavior_ros import QOS_LATCHED, to_time  # noqa: E402
from behavior_scene.node import SceneNode  # noqa: E402

DOMAIN = 62
LIBRARY = Path(__file__).parents[3] / "config" / "scenes" / "block_stacking.yaml"


class Rig:
    """The scene node and a node that plays detector, robot and client."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        overrides = [Parameter("library", value=str(LIBRARY)), Parameter("idle_period", value=0.1)]
        self.node = SceneNode(context=self.context, parameter_overrides=overrides)
        self.peer = rclpy.create_node("peer", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.executor.add_node(self.peer)
        self.newest = None
        self.diagnostics = {}
        self.peer.create_subscription(SceneObjectArray, "/scene/objects", self._keep, QOS_LATCHED)
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._diagnose, 10)
        self.detections = self.peer.create_publisher(Detection3DArray, "/detections", 10)
        self.tf = self.peer.create_publisher(TFMessage, "/tf", 10)
        self.until(lambda: self.detections.get_subscription_count() > 0)
        self.until(lambda: self.tf.get_subscription_count() > 0)

    def _keep(self, message):
        self.newest = message

    def _diagnose(self, message):
        for status in message.status:
            self.diagnostics.update({item.key: item.value for item in status.values})

    def until(self, condition, timeout=10.0):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "not within the time"
            self.executor.spin_once(timeout_sec=0.05)

    def now(self):
        return self.peer.get_clock().now().nanoseconds * 1e-9

    def see(
        self,
        name="blue_block",
        at=(0.5, 0.0, 0.026),
        *,
        turn=(0, 0, 0, 1.0),
        frame="world",
        stamp=None,
    ):
        message = Detection3DArray()
        message.header.frame_id = frame
        message.header.stamp = to_time(self.now() if stamp is None else stamp)
        entry = Detection3D()
        hypothesis = ObjectHypothesisWithPose()
        hypothesis.hypothesis.class_id, hypothesis.hypothesis.score = name, 0.9
        position, rotation = hypothesis.pose.pose.position, hypothesis.pose.pose.orientation
        position.x, position.y, position.z = (float(value) for value in at)
        rotation.x, rotation.y, rotation.z, rotation.w = (float(value) for value in turn)
        entry.results.append(hypothesis)
        message.detections.append(entry)
        self.detections.publish(message)

    def hand(self, z):
        transform = TransformStamped(child_frame_id="hand")
        transform.header.frame_id = "world"
        transform.header.stamp = to_time(self.now())
        transform.transform.translation.x = 0.5
        transform.transform.translation.z = float(z)
        transform.transform.rotation.w = 1.0
        self.tf.publish(TFMessage(transforms=[transform]))

    def object(self, name="blue_block"):
        objects = self.newest.objects if self.newest else []
        return next((thing for thing in objects if thing.name == name), None)

    def call(self, kind, service, /, **request):
        client = self.peer.create_client(kind, service)
        self.until(client.service_is_ready)
        future = client.call_async(kind.Request(**request))
        self.until(future.done)
        return future.result()

    def close(self):
        self.executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self.peer.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def rig():
    made = Rig()
    yield made
    made.close()


def test_detection_becomes_an_object_with_shape_and_colour(rig):
    rig.see()
    rig.until(lambda: rig.object() is not None)
    thing = rig.object()
    assert rig.newest.header.frame_id == "world"
    assert thing.state == SceneObject.TRACKED
    assert list(thing.shape.dimensions) == pytest.approx([0.0515] * 3)
    assert thing.color.b > 0.5
    assert thing.pose.position.x == pytest.approx(0.5)


def test_bad_input_is_counted_and_never_stops_the_node(rig):
    bad = {
        "not_finite": {"at": (math.nan, 0, 0)},
        "bad_quaternion": {"turn": (0, 0, 0, 0)},
        "unknown_frame": {"frame": "nowhere"},
        "unknown_class": {"name": "cat"},
        "from_the_future": {"stamp": rig.now() + 100.0},
        "from_the_past": {"stamp": rig.now() - 100.0},
    }
    for count, detection in enumerate(bad.values(), start=1):
        rig.see(**detection)
        rig.until(lambda count=count: rig.node.host.scene.defects.total() == count)
    rig.until(lambda: set(bad) <= set(rig.diagnostics))
    rig.see()
    rig.until(lambda: rig.object() is not None)


def test_attach_freeze_and_query(rig):
    rig.hand(0.1)
    rig.see()
    rig.until(lambda: rig.object() is not None)
    assert rig.call(AttachObject, "/scene/attach", name="cat", attach=True, link="hand").code == 101
    bad = rig.call(AttachObject, "/scene/attach", name="blue_block", attach=True, link="foot")
    assert bad.code == 102
    assert "foot" in bad.message
    rig.hand(0.1)
    assert (
        rig.call(AttachObject, "/scene/attach", name="blue_block", attach=True, link="hand").code
        == 0
    )
    rig.until(lambda: rig.object().state == SceneObject.ATTACHED)
    question = SceneQuestion(question=SceneQuestion.HELD, object="blue_block")
    assert rig.call(QueryScene, "/scene/query", question=question).answer.answer
    assert rig.call(AttachObject, "/scene/attach", name="blue_block", attach=False).code == 0
    assert rig.call(FreezeObjects, "/scene/freeze", names=["blue_block"], freeze=True).code == 0
    rig.until(lambda: rig.object().state == SceneObject.FROZEN)
    assert rig.call(FreezeObjects, "/scene/freeze", names=["cat"], freeze=True).code == 101
    refused = rig.call(QueryScene, "/scene/query", question=SceneQuestion(question=99))
    assert refused.code == 102


def test_unseen_object_goes_stale(rig):
    rig.see()
    rig.until(lambda: rig.object() is not None)
    rig.until(lambda: rig.object().state == SceneObject.STALE)
