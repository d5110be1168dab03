# SPDX-License-Identifier: Apache-2.0
"""Nodes in processes of their own, a client of their actions, a robot that stands."""

import os
import signal
import subprocess
import sys

import numpy as np
from rclpy.action import ActionClient

from behavior_ros.messages.joint_state_wire import WireJointState
from behavior_ros.testing import Bench


class RosRig(Bench):
    """Processes and a client in one ROS domain; always `close` it."""

    def __init__(self, processes, actions):
        """`processes`: node descriptions by process name; `actions`: types by action name."""
        super().__init__()
        self.processes = {}
        for name, nodes in processes.items():
            self.launch(name, nodes)
        self.clients = {name: ActionClient(self.peer, kind, name) for name, kind in actions.items()}
        self.feedback = []

    def launch(self, name, nodes):
        """Start a process with nodes, as `behavior_ros.process.host` takes them."""
        arguments = [part for node in nodes for part in ("--node", node)]
        command = [sys.executable, "-m", "behavior_ros.process.host", *arguments]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self.context.get_domain_id())}
        self.processes[name] = subprocess.Popen(command, env=environment)

    def await_servers(self):
        for client in self.clients.values():
            self.until(client.server_is_ready, timeout=300.0)

    def start(self, name, goal):
        self.feedback = []
        sent = self.clients[name].send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        return self.answer(sent)

    def result(self, handle, timeout=120.0):
        return self.answer(handle.get_result_async(), timeout).result

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
        super().close()


def standing(robot, q, width):
    """A message of joint states: the arm at `q` [rad], the fingers apart by `width` [m]."""
    names = (*robot.joint_names, *robot.gripper.joint_names)
    position = np.array([*q, *robot.gripper.joint_positions(width)], dtype=float)
    nothing = np.zeros(0)
    return WireJointState(0, names, position, nothing, nothing)
