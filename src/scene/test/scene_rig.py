# SPDX-License-Identifier: Apache-2.0
"""The scene node in a ROS domain of its own, and a node that plays all others."""

from pathlib import Path

from behavior_msgs.action import ManageScene
from behavior_msgs.msg import SceneObjectArray
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from rclpy.action import ActionClient
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from behavior_ros import QOS_LATCHED, to_time
from behavior_ros.testing import Bench
from behavior_scene.node.scene_node import SceneNode

LIBRARY = Path(__file__).parents[3] / "config" / "scenes" / "block_stacking.yaml"


class Rig(Bench):
    """The scene node and a node that plays detector, robot and client."""

    def __init__(self, **parameters):
        super().__init__()
        values = {"library": str(LIBRARY), "idle_period": 0.1, **parameters}
        self.node = self.make(SceneNode, **values)
        self.newest = None
        self.diagnostics = {}
        self.peer.create_subscription(SceneObjectArray, "/scene/objects", self._keep, QOS_LATCHED)
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._diagnose, 10)
        self.detections = self.peer.create_publisher(Detection3DArray, "/detections", 10)
        self.tf = self.peer.create_publisher(TFMessage, "/tf", 10)
        self.manager = ActionClient(self.peer, ManageScene, "/scene/manage")
        self.until(self.manager.server_is_ready)
        self.until(lambda: self.detections.get_subscription_count() > 0)
        self.until(lambda: self.tf.get_subscription_count() > 0)

    def _keep(self, message):
        self.newest = message

    def _diagnose(self, message):
        for status in message.status:
            self.diagnostics.update({item.key: item.value for item in status.values})

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
        return next((obj for obj in objects if obj.name == name), None)

    def start(self, operation, **fields):
        """Send a goal of /scene/manage; returns its handle and a list that gets its feedback."""
        feedback = []
        goal = ManageScene.Goal(operation=operation, **{"timeout": 20.0, **fields})
        sent = self.manager.send_goal_async(
            goal, feedback_callback=lambda message: feedback.append(message.feedback)
        )
        return self.answer(sent), feedback

    def result(self, handle):
        return self.answer(handle.get_result_async()).result

    def manage(self, operation, **fields):
        return self.result(self.start(operation, **fields)[0])
