# SPDX-License-Identifier: Apache-2.0
"""Tests of what is left of destroyed nodes."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from behavior_msgs.action import MoveArm
from rcl_interfaces.msg import Log
from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile

from behavior_ros.node.closing import destroy_node
from behavior_ros.testing import Spinner, until

NAME = "worker"


class Worker(LifecycleNode):
    """A node that is destroyed and not yet collected: it refers to itself."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self.itself = self
        self.client = ActionClient(self, MoveArm, "count")
        self.server = ActionServer(self, MoveArm, "count", lambda goal: MoveArm.Result())


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_node_is_heard_on_rosout_although_another_of_its_name_is_collected(
    uncollected: None, spinner: Spinner
) -> None:
    destroy_node(Worker())
    log: list[Log] = []
    worker, listener = spinner.do(Worker), spinner.node("listener")
    kept = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listener.create_subscription(Log, "/rosout", log.append, kept)
    spinner.nodes.append(worker)
    gc.collect()
    worker.get_logger().info("here I am")
    until(lambda: any(said.msg == "here I am" for said in log), 90.0, "a line on /rosout")
