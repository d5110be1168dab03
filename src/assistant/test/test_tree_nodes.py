# SPDX-License-Identifier: Apache-2.0
"""What the executor gets of this package."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.node import Node

from behavior_assistant import tree_nodes
from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_nodes import UnseenScene
from behavior_executor.scene_view import SceneBody, SceneSnapshot
from behavior_ros.testing import ros
from behavior_tree import BehaviorTreeFactory, NodeStatus

__all__ = ["ros"]

TREE = (
    '<root BTCPP_format="4"><BehaviorTree ID="T"><AskLanguageModel question="Is it so?"/>'
    "</BehaviorTree></root>"
)


def test_without_a_node_its_ports_are_known():
    factory = BehaviorTreeFactory()
    tree_nodes.register(factory, NodeContext(node=None, scene=None))
    assert "question" in factory.manifests()["AskLanguageModel"].ports


def test_it_is_off_and_names_its_parameter(ros, monkeypatch):
    for name in (tree_nodes.URL, tree_nodes.SCRIPT):
        monkeypatch.delenv(name, raising=False)
    node = Node("executor")
    factory = BehaviorTreeFactory()
    tree_nodes.register(factory, NodeContext(node=node, scene=UnseenScene()))
    tree = factory.create_tree_from_text(TREE)
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert "the executor's parameter language_model.url" in tree.failure_reason().text
    node.destroy_node()


def test_a_script_named_by_the_parameter_answers_also_after_a_reload(ros, tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text('- {when: ".", answers: [{answer: "yes", reason: scripted}]}\n')
    node = Node("executor", cli_args=["--ros-args", "-p", f"language_model.script:={script}"])
    for _ in range(2):
        factory = BehaviorTreeFactory()
        tree_nodes.register(factory, NodeContext(node=node, scene=UnseenScene()))
        tree = factory.create_tree_from_text(TREE)
        assert tree.tick_while_running() is NodeStatus.SUCCESS
    node.destroy_node()


@pytest.mark.parametrize("scene", [None, UnseenScene()])
def test_no_scene_shows_no_objects(scene):
    assert tree_nodes.objects_of(scene)() is None


def test_objects_are_shown_with_place_and_state():
    pose = np.eye(4)
    pose[:3, 3] = 0.12345, 0.0, 1.0
    body = SceneBody("cup", pose, None, 0.0, attached_link="hand", lost=False)
    scene = SimpleNamespace(snapshot=SceneSnapshot(bodies={"cup": body}))
    shown = {"cup": {"position": [0.123, 0.0, 1.0], "held": True, "lost": False}}
    assert tree_nodes.objects_of(scene)() == shown
