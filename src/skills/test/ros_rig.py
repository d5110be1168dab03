# SPDX-License-Identifier: Apache-2.0
"""Nodes in processes of their own, a client of their actions, a robot that stands."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

from behavior_ros.messages.joint_state_wire import WireJointState
from behavior_ros.node.closing import destroy_node
from behavior_ros.testing import own_domain


class RosRig:
    """Processes and a client in one ROS domain; always `close` it."""

    def __init__(self, processes, actions):
        """`processes`: node descriptions by process name; `actions`: types by action name."""
        self.domain, self.processes = own_domain(), {}
        for name, nodes in processes.items():
            self.launch(name, nodes)
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.clients = {name: ActionClient(self.node, kind, name) for name, kind in actions.items()}
        self.feedback = []

    def launch(self, name, nodes):
        """Start a process with nodes, as `behavior_ros.process.host` takes them."""
        arguments = [part for node in nodes for part in ("--node", node)]
        command = [sys.executable, "-m", "behavior_ros.process.host", *arguments]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self.domain)}
        self.processes[name] = subprocess.Popen(command, env=environment)

    def await_servers(self):
        for client in self.clients.values():
            self.until(client.server_is_ready, 300.0)

    def until(self, condition, timeout=90.0):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, "not within the time"
            self.executor.spin_once(timeout_sec=0.05)

    def start(self, name, goal):
        self.feedback = []
        sent = self.clients[name].send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        self.until(sent.done)
        return sent.result()

    def result(self, handle, timeout=120.0):
        future = handle.get_result_async()
        self.until(future.done, timeout)
        return future.result().result

    def run(self, name, goal):
        handle = self.start(name, goal)
        assert handle.accepted
        return self.result(handle)

    def close(self):
        """Stop the processes and the client."""
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        for process in self.processes.values():
            try:
                process.wait(240.0)
            except subprocess.TimeoutExpired:
                process.kill()
        self.executor.shutdown(timeout_sec=1.0)
        destroy_node(self.node)
        rclpy.shutdown(context=self.context)


def standing(robot, q, width):
    """A message of joint states: the arm at `q` [rad], the fingers apart by `width` [m]."""
    names = (*robot.joint_names, *robot.gripper.joint_names)
    position = np.array([*q, *robot.gripper.joint_positions(width)], dtype=float)
    nothing = np.zeros(0)
    return WireJointState(0, names, position, nothing, nothing)
