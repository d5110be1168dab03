# SPDX-License-Identifier: Apache-2.0
"""Trees ask the real scene: leaves made from `config/nodes.yaml` against its node, and a camera."""

from __future__ import annotations

import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import PointCloud2, PointField

from behavior_ros import load_node_models, register_ros_nodes
from behavior_ros.testing import Bench
from behavior_scene.node.scene_node import SceneNode
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus

ROOT = Path(__file__).parents[3]

GREEN = 0x00FF00


class Rig(Bench):
    """The scene, and a node with a tree and a camera that sees ten green points at the origin."""

    def __init__(self) -> None:
        super().__init__()
        self.make(SceneNode)
        self.camera = self.peer.create_publisher(PointCloud2, "/camera/points", 5)
        self.peer.create_timer(0.1, self._see)
        self.factory = BehaviorTreeFactory()
        models = load_node_models(ROOT / "config" / "nodes.yaml")
        register_ros_nodes(self.factory, self.peer, models)

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
        message.header.stamp = self.peer.get_clock().now().to_msg()
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
