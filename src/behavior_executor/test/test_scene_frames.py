# SPDX-License-Identifier: Apache-2.0
"""The first question about a frame is not asked before the first transforms have come."""

import pytest
from behavior_msgs.msg import SceneObject, SceneObjectArray
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node

from behavior_executor.scene.scene_manager import FIRST_FRAMES, SceneManager
from behavior_ros import QOS_LATCHED, create_transform_broadcaster
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory

TREE = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <ShapeContainsFrame object_name="{which}" frame="robot"/>
  </BehaviorTree>
</root>
"""


class Bench:
    """A manager whose wall clock is turned by hand, and a node that tells scene and frames."""

    def __init__(self, spinner):
        self.spinner, self.node, self.robot = spinner, Node("executor"), Node("robot")
        self.wall = 100.0
        self.manager = SceneManager(self.node, wall=lambda: self.wall)
        self.factory = BehaviorTreeFactory()
        self.manager.register_nodes(self.factory)
        self.scene = self.robot.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self.frames = create_transform_broadcaster(self.robot)
        spinner.start(self.node, self.robot)

    def show(self):
        message = SceneObjectArray(objects=[SceneObject(name="door")])
        message.header.frame_id = "world"
        self.scene.publish(message)

    def move(self):
        transform = TransformStamped(child_frame_id="robot")
        transform.header.frame_id = "world"
        transform.header.stamp = self.robot.get_clock().now().to_msg()
        transform.transform.rotation.w = 1.0
        self.frames.send([transform])

    def load(self):
        self.spinner.do(self.factory.create_tree_from_text, TREE)

    def settled(self):
        def look():
            self.manager.pre_tick(0.0)
            return self.manager.settled()

        return self.spinner.do(look)


@pytest.fixture
def bench(spinner):
    return Bench(spinner)


def test_nobody_waits_for_frames_that_no_tree_asks_for(bench):
    assert bench.settled()


def test_a_tree_that_asks_for_a_frame_waits_until_it_is_known(bench):
    bench.load()
    assert not bench.settled()
    bench.show()

    def comes():
        bench.move()
        return bench.settled()

    until(comes)
    assert bench.wall < 100.0 + FIRST_FRAMES, "it was known before the wait was over"


def test_it_waits_no_longer_than_first_frames_take_and_only_once(bench):
    bench.show()
    bench.load()
    bench.wall += 0.9 * FIRST_FRAMES
    assert not bench.settled()
    bench.wall += 0.2 * FIRST_FRAMES
    assert bench.settled()
    bench.load()
    assert bench.settled()
