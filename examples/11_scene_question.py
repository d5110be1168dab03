# SPDX-License-Identifier: Apache-2.0
"""A detection becomes an object of the scene, and a tree waits until two of them are close.

Prints:
    blue_block is near red_block: SUCCESS
    0.10 m
"""

from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from behavior_ros import load_node_models, register_ros_nodes
from behavior_scene.node.scene_node import SceneNode
from behavior_tree import BehaviorTreeFactory, NodeStatus

CONFIG = Path(__file__).resolve().parents[1] / "config"
XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <WaitForProximity object="blue_block" reference="red_block" maximum="0.15" timeout="30"
                      value="{distance}"/>
  </BehaviorTree>
</root>"""


def seen(name: str, x: float) -> Detection3D:
    """What a detector says of a block."""
    hypothesis = ObjectHypothesisWithPose()
    hypothesis.hypothesis.class_id, hypothesis.hypothesis.score = name, 0.9
    hypothesis.pose.pose.position.x, hypothesis.pose.pose.position.z = x, 0.026
    hypothesis.pose.pose.orientation.w = 1.0
    return Detection3D(results=[hypothesis])


def detect() -> None:
    """The detector, which would be another process."""
    picture = Detection3DArray(detections=[seen("blue_block", 0.4), seen("red_block", 0.5)])
    picture.header.frame_id = "world"
    picture.header.stamp = node.get_clock().now().to_msg()
    detections.publish(picture)


rclpy.init()
library = str(CONFIG / "scenes" / "block_stacking.yaml")
scene = SceneNode(parameter_overrides=[Parameter("library", value=library)])
node = rclpy.create_node("tree")
detections = node.create_publisher(Detection3DArray, "/detections", 10)
node.create_timer(0.1, detect)
executor = SingleThreadedExecutor()
executor.add_node(scene)
executor.add_node(node)

factory = BehaviorTreeFactory()
register_ros_nodes(factory, node, load_node_models(CONFIG / "nodes.yaml"))
tree = factory.create_tree_from_text(XML)
while (status := tree.tick_exactly_once()) is NodeStatus.RUNNING:
    executor.spin_once(timeout_sec=0.02)
print(f"blue_block is near red_block: {status.name}")
print(f"{tree.root_blackboard().get('distance'):.2f} m")
executor.shutdown()
rclpy.shutdown()
