# SPDX-License-Identifier: Apache-2.0
"""Nodes of a node spin and end with it."""

import os
import subprocess
import sys

from behavior_ros.testing import own_domain

PROGRAM = """
from rclpy.node import Node
from std_msgs.msg import Empty
from behavior_ros import register_companion, run

class Inner(Node):
    def __init__(self):
        super().__init__("inner")
        self.create_timer(0.01, self.tell)
    def tell(self):
        print("inner spins", flush=True)
    def destroy_node(self):
        print("inner ends", flush=True)
        super().destroy_node()

class Outer(Node):
    def __init__(self):
        super().__init__("outer")
        register_companion(self, Inner())

raise SystemExit(run([Outer]))
"""


def test_a_companion_spins_and_ends_with_its_node():
    env = os.environ | {"ROS_DOMAIN_ID": str(own_domain())}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "inner spins\n"
        process.terminate()
        rest, _ = process.communicate(timeout=240)
    assert rest.rstrip().endswith("inner ends")
    assert process.returncode == 0
