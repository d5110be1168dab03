# SPDX-License-Identifier: Apache-2.0
"""One line names a ROS service, and is a tree node: its ports are the fields of the interface.

Prints:
    ports: data, message, success
    lamp is on
    SUCCESS
"""

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import SetBool

from behavior_ros import load_node_models, register_ros_nodes
from behavior_tree import BehaviorTreeFactory, NodeStatus

NODES = {"nodes": [{"node": "SwitchLamp", "service": "/lamp", "type": "std_srvs/srv/SetBool"}]}
XML = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <SwitchLamp data="true" message="{said}"/>
  </BehaviorTree>
</root>"""


def lamp(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
    """The server, which would be another process."""
    response.success, response.message = True, f"lamp is {'on' if request.data else 'off'}"
    return response


rclpy.init()
server, client = rclpy.create_node("lamp"), rclpy.create_node("tree")
server.create_service(SetBool, "/lamp", lamp)
executor = SingleThreadedExecutor()
for node in (server, client):
    executor.add_node(node)

factory = BehaviorTreeFactory()
register_ros_nodes(factory, client, load_node_models(NODES))
print("ports:", ", ".join(sorted(factory.manifests()["SwitchLamp"].ports)))
tree = factory.create_tree_from_text(XML)
while (status := tree.tick_exactly_once()) is NodeStatus.RUNNING:
    executor.spin_once(timeout_sec=0.02)
print(tree.root_blackboard().get("said"))
print(status.name)
executor.shutdown()
rclpy.shutdown()
