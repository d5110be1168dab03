# SPDX-License-Identifier: Apache-2.0
"""A server of one's own meets a hostile client, and is told in a sentence what it breaks.

Prints:
    double identifier: kept
    cancel unknown: kept
    result of unknown: kept
    cancel: kept
    cancel after the end: kept
    result twice: kept
    two clients: kept
    burst: kept
    disconnect: kept
    cancel: ... but its services are not there within 0.5 s
"""

import threading

import rclpy
from behavior_msgs.action import Wait
from rclpy.node import Node

from behavior_ros import WorkerActionServer
from behavior_ros.conformance import SERVER_RULES, ServerUnderTest
from behavior_ros.process.lean_executor import LeanExecutor


def wait(context):
    """Wait as long as the goal says, or until it is cancelled."""
    context.wait_until(lambda: False, context.goal.duration)
    return Wait.Result()


def spin():
    """Serve."""
    while not stopped.is_set():
        executor.spin_once(timeout_sec=0.1)


rclpy.init()
node = Node("server")
server = WorkerActionServer(node, Wait, "/my_wait", wait)
executor = LeanExecutor()
executor.add_node(node)
stopped = threading.Event()
thread = threading.Thread(target=spin)
thread.start()
with ServerUnderTest(Wait, "/my_wait", lambda: Wait.Goal(duration=60.0)) as subject:
    for rule in SERVER_RULES:
        print(f"{rule}: {rule.broken(subject) or 'kept'}")
with ServerUnderTest(Wait, "/nobody", Wait.Goal, limit=0.5) as subject:
    text = SERVER_RULES[3].broken(subject).partition(" but ")
    print(f"{SERVER_RULES[3]}: ... but {text[2]}")
stopped.set()
thread.join()
server.destroy()
executor.shutdown()
node.destroy_node()
rclpy.shutdown()
