# SPDX-License-Identifier: Apache-2.0
"""What follows a scene action in a tree never sees the scene of before.

The result of an action and the message on ``/scene/objects`` that shows its effect travel apart.
Here the message is held back on purpose, so that the race is lost every time.
"""

import pytest
from behavior_msgs.action import ManageScene
from behavior_msgs.msg import SceneObject, SceneObjectArray
from rclpy.action import ActionServer
from rclpy.node import Node

from behavior_executor.scene.scene_manager import SceneManager
from behavior_ros import QOS_LATCHED, load_node_models, register_ros_nodes
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus

TREE = """
<root BTCPP_format="4">
  <BehaviorTree ID="Main">
    <Sequence>
      <FreezeObject names="cup" revision="{revision}"/>
      <WhereIs object_name="cup" reference="table" x="{x}" y="{y}" z="{z}"/>
    </Sequence>
  </BehaviorTree>
</root>
"""
MODEL = {
    "node": "FreezeObject",
    "action": "/scene/manage",
    "type": "behavior_msgs/action/ManageScene",
    "defaults": {"operation": "FREEZE"},
    "server_timeout": 20.0,
    "barrier": "scene",
}


class SceneStub(Node):
    """Answers every goal at once; shows its scene only when told to."""

    def __init__(self):
        super().__init__("scene_stub")
        self.answered = 0
        self.objects = self.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self.server = ActionServer(self, ManageScene, "/scene/manage", self._answer)

    def show(self, revision, x):
        message = SceneObjectArray(revision=revision)
        message.header.frame_id = "world"
        message.objects = [SceneObject(name="cup"), SceneObject(name="table")]
        message.objects[0].pose.position.x = x
        self.objects.publish(message)

    def _answer(self, handle):
        self.answered += 1
        handle.succeed()
        return ManageScene.Result(revision=7)


class Bench:
    """A tree that is ticked by hand, each tick with one snapshot."""

    def __init__(self, spinner, model):
        self.spinner, self.stub = spinner, SceneStub()
        self.node = Node("executor")
        self.manager = SceneManager(self.node)
        factory = BehaviorTreeFactory()
        self.manager.register_nodes(factory)
        register_ros_nodes(
            factory,
            self.node,
            load_node_models({"nodes": [model]}),
            barriers=self.manager.barriers(),
        )
        self.blackboard = Blackboard.create()
        self.tree = factory.create_tree_from_text(TREE, self.blackboard)
        spinner.start(self.node, self.stub)

    def tick(self):
        def once():
            self.manager.pre_tick(self.node.get_clock().now().nanoseconds * 1e-9)
            return self.tree.tick_exactly_once()

        return self.spinner.do(once)

    def sees(self, revision):
        """Whether the message with a revision has arrived."""
        self.spinner.do(self.manager.pre_tick, 0.0)
        snapshot = self.manager.snapshot
        return snapshot is not None and snapshot.revision == revision

    def action_ended(self):
        """Tick until the leaf has the result, which it tells on its output port."""
        assert self.tick() is not NodeStatus.FAILURE, self.tree.failure_reason()
        return self.blackboard.get("revision", None) == 7


@pytest.fixture
def bench(spinner):
    made = Bench(spinner, MODEL)
    made.stub.show(6, 0.1)
    until(lambda: made.sees(6))
    return made


def test_tree_waits_behind_a_scene_action_for_the_scene_of_after(bench):
    until(bench.action_ended)
    assert [bench.tick() for _ in range(5)] == [NodeStatus.RUNNING] * 5
    assert bench.blackboard.get("x", None) is None
    bench.stub.show(7, 0.2)
    until(lambda: bench.sees(7))
    assert bench.tick() is NodeStatus.SUCCESS
    assert bench.blackboard.get("x") == 0.2


def test_scene_of_an_older_revision_does_not_let_it_pass(bench):
    until(bench.action_ended)
    bench.stub.show(6, 0.15)
    until(lambda: bench.manager.snapshot.objects["cup"].x != 0.1 or bench.tick() is None)
    assert bench.tick() is NodeStatus.RUNNING


def test_without_the_barrier_the_race_is_lost(spinner):
    """The bench shows the defect: it is the barrier that mends it."""
    bench = Bench(spinner, {key: value for key, value in MODEL.items() if key != "barrier"})
    bench.stub.show(6, 0.1)
    until(lambda: bench.sees(6))
    until(lambda: bench.tick() is NodeStatus.SUCCESS)
    assert bench.blackboard.get("x") == 0.1


def test_leaf_that_is_halted_behind_the_barrier_starts_anew(bench):
    until(bench.action_ended)
    bench.spinner.do(bench.tree.halt_tree)
    bench.blackboard.set("revision", 0)
    until(bench.action_ended)
    assert bench.stub.answered == 2


def test_scene_that_never_shows_it_is_a_failure_that_says_so(spinner):
    bench = Bench(spinner, {**MODEL, "server_timeout": 0.5})
    bench.stub.show(6, 0.1)
    until(lambda: bench.sees(6))
    until(lambda: bench.tick() is NodeStatus.FAILURE)
    assert "succeeded, but the scene does not show it" in bench.tree.failure_reason().text
