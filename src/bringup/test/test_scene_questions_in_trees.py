# SPDX-License-Identifier: Apache-2.0
"""Trees ask the real scene: leaves made from `config/nodes.yaml` against its node, and a camera."""

from __future__ import annotations

import array
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2, PointField

from behavior_ros import load_node_models, register_ros_nodes
from behavior_ros.testing import own_domain
from behavior_scene.node.scene_node import SceneNode
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus

ROOT = Path(__file__).parents[3]

GREEN = 0x00FF00


class Rig:
    """The scene, and a node with a tree and a camera that sees ten green points at the origin."""

    def __init__(self) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=own_domain())
        self.scene = SceneNode(context=self.context)
        self.node = Node("tree", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.scene)
        self.executor.add_node(self.node)
        self.camera = self.node.create_publisher(PointCloud2, "/camera/points", 5)
        self.node.create_timer(0.1, self._see)
        self.factory = BehaviorTreeFactory()
        models = load_node_models(ROOT / "config" / "nodes.yaml")
        register_ros_nodes(self.factory, self.node, models)

    def _see(self) -> None:
        points = np.zeros((10, 4), dtype=np.float32)
        points[:, 3] = np.array([GREEN], dtype=np.uint32).view(np.float32)
        message = PointCloud2(
            height=1,
            width=10,
            fields=[
                PointField(name=name, offset=4 * place, datatype=PointField.FLOAT32, count=1)
                for place, name in enumerate(("x", "y", "z", "rgb"))
            ],
            point_step=16,
            row_step=160,
            data=array.array("B", points.tobytes()),
        )
        message.header.frame_id = "world"
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.camera.publish(message)

    def run(self, leaf: str) -> tuple[NodeStatus, Blackboard, str]:
        """Tick a tree of one leaf to its end; returns status, blackboard and reason."""
        blackboard = Blackboard.create()
        tree = self.factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="main">{leaf}</BehaviorTree></root>',
            blackboard,
        )
        status = NodeStatus.RUNNING
        reason = ""

        def ended() -> bool:
            nonlocal status, reason
            status = tree.tick_exactly_once()
            failure = tree.failure_reason()
            reason = "" if failure is None else str(failure)
            return status is not NodeStatus.RUNNING

        self.until(ended)
        return status, blackboard, reason

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 90.0
        while not condition():
            assert time.monotonic() < deadline, "not within the time"
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        self.executor.shutdown(timeout_sec=1.0)
        self.scene.destroy_node()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.close()


def test_points_in_a_shape_are_a_verdict_in_a_tree(rig: Rig) -> None:
    leaf = (
        '<ShapeContainsPoints object="world" kind="BOX" dimensions="0.2;0.2;0.2" minimum="10"'
        ' check_color="true" hue_min="100" hue_max="140" value="{count}" mean_hsv="{mean}"'
        ' feedback_value="{live}"/>'
    )
    status, blackboard, _ = rig.run(leaf)
    assert status is NodeStatus.SUCCESS
    assert blackboard.get("count") == 10.0
    assert blackboard.get("mean")[0] == pytest.approx(120.0)
    status, _, reason = rig.run(leaf.replace('minimum="10"', 'minimum="11"'))
    assert status is NodeStatus.FAILURE
    assert "10 points in the box at world: not within 11..2e+09" in reason
    status, _, reason = rig.run(leaf.replace("140", "110"))
    assert status is NodeStatus.FAILURE
    assert "not within hue 100..110" in reason


def test_waiting_for_proximity_shows_the_distance_and_gives_its_reason(rig: Rig) -> None:
    leaf = '<WaitForProximity object="{}" reference="world" maximum="0.1" timeout="1" {}/>'
    status, _, _ = rig.run(leaf.format("world", ""))
    assert status is NodeStatus.SUCCESS
    status, _, reason = rig.run(leaf.format("mug", ""))
    assert status is NodeStatus.FAILURE
    assert "'mug' is neither an object of the scene nor a known frame" in reason


def test_impossible_questions_fail_at_once_with_what_to_give(rig: Rig) -> None:
    leaf = '<CheckScene question="CONTAINS_POINTS" object="world" kind="BOX" dimensions="1"/>'
    status, _, reason = rig.run(leaf)
    assert status is NodeStatus.FAILURE
    assert "a box takes 3 dimensions" in reason
