# SPDX-License-Identifier: Apache-2.0
"""An executor with one mission of its own, and a client that asks for it and waits for its end.

Prints:
    greet: Says hello to somebody
    done: True
    done: False
    did you mean 'greet'?
"""

import tempfile
import threading
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient
from behavior_executor.node.executor_node import BehaviorExecutor

GREET = """<!-- Says hello to somebody -->
<root BTCPP_format="4"><BehaviorTree ID="greet">
  <Script code="said := 'hello'"/>
</BehaviorTree></root>
"""

rclpy.init()
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "greet.xml").write_text(GREET)
    parameters = {"tree_directories": [folder], "nodes_file": ""}
    node = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()]
    )
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    with MissionClient() as client:
        for mission in client.list():
            print(f"{mission.name}: {mission.description}")
        print("done:", client.run("greet").succeeded)
        refused = client.run("greeet")
        print("done:", refused.succeeded)
        print(refused.message.split("; ")[1])
    executor.shutdown()
    spinning.join()
rclpy.shutdown()
