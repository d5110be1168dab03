# SPDX-License-Identifier: Apache-2.0
"""Fake servers, with the leaves that talk to them."""

import pytest

from behavior_ros import load_node_models, register_ros_nodes
from behavior_ros.fake_servers import FakeServers
from behavior_ros.testing import until
from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus

PATIENT = {"server_timeout": 80.0}
"""[s] A busy machine finds servers late."""
MODELS = [
    {"node": "Pick", "action": "/pick", "type": "behavior_msgs/action/Pick"} | PATIENT,
    {"node": "Lamp", "service": "/lamp", "type": "std_srvs/srv/SetBool"} | PATIENT,
    {
        "node": "DoorOpen",
        "subscriber": "/door",
        "type": "std_msgs/msg/Bool",
        "condition": {"data": True},
    },
]
CASES = """
servers:
  /pick:
    action: behavior_msgs/action/Pick
    outcomes: [{reason: the grasp slipped}, {after: 0.1, outputs: {message: done}}]
  /lamp: {service: std_srvs/srv/SetBool, outcomes: [FAILURE, SUCCESS]}
  /door: {topic: std_msgs/msg/Bool, values: {data: true}, every: 0.02}
"""


class Rig:
    def __init__(self, spinner):
        self.spinner = spinner
        self.node = spinner.node("fake_servers")
        self.servers = FakeServers(self.node)
        self.factory = BehaviorTreeFactory()
        models = load_node_models({"nodes": MODELS})
        spinner.do(register_ros_nodes, self.factory, self.node, models)

    def leaf(self, xml):
        text = f'<root BTCPP_format="4"><BehaviorTree ID="T">{xml}</BehaviorTree></root>'
        self.tree = self.spinner.do(self.factory.create_tree_from_text, text)
        return self.tree

    def run(self, xml):
        """The result, and why."""
        tree = self.leaf(xml)
        ends = lambda: (  # noqa: E731
            (status := self.spinner.do(tree.tick_once)) is not NodeStatus.RUNNING and status.name
        )
        return until(ends), str(tree.failure_reason())


@pytest.fixture
def rig(spinner):
    return Rig(spinner)


def test_what_a_yaml_file_says_is_what_leaves_meet(rig, tmp_path):
    (tmp_path / "bring.test.yaml").write_text(CASES)
    rig.spinner.do(rig.servers.read, tmp_path / "bring.test.yaml")
    status, reason = rig.run('<Pick object_name="cup"/>')
    assert status == "FAILURE"
    assert "the grasp slipped" in reason
    assert rig.run('<Pick object_name="jug" message="{told}"/>')[0] == "SUCCESS"
    assert rig.tree.root_blackboard().get("told") == "done"
    pick = rig.servers.by_name["/pick"]
    assert [each.object_name for each in pick.requests] == ["cup", "jug"]
    assert rig.run('<Lamp data="true"/>')[0] == "FAILURE"
    assert rig.run('<Lamp data="true"/>')[0] == "SUCCESS"
    assert until(lambda: rig.run("<DoorOpen/>")[0] == "SUCCESS")


def test_an_action_that_never_ends_ends_when_it_is_halted(rig):
    pick = rig.spinner.do(rig.servers.action, "/pick", "behavior_msgs/action/Pick", "RUNNING")
    tree = rig.leaf('<Pick object_name="cup"/>')
    until(lambda: rig.spinner.do(tree.tick_once) and pick.requests)
    rig.spinner.do(tree.halt_tree)
    until(lambda: pick.cancels == 1)


def test_outcomes_can_be_others_from_now_on(rig):
    lamp = rig.spinner.do(rig.servers.service, "/lamp", "std_srvs/srv/SetBool", "FAILURE")
    assert rig.run('<Lamp data="true"/>')[0] == "FAILURE"
    lamp.outcomes = {"outputs": {"message": "on"}}
    assert rig.run('<Lamp data="true" message="{told}"/>')[0] == "SUCCESS"
    assert rig.tree.root_blackboard().get("told") == "on"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers: {/a: {outcomes: SUCCESS}}", "says 0 types"),
        ("servers: {/a: {action: behavior_msgs/action/Pikc}}", "Pikc"),
        ("servers: {/a: {topic: std_msgs/msg/Bool, values: {dat: 1}}}", "no field"),
        ("servers: {/a: {service: std_srvs/srv/SetBool, outcomes: SKIPPED}}", "neither skips"),
        ("servers: {/a: {service: std_srvs/srv/SetBool, outcmes: 1}}", "unknown key 'outcmes'"),
        ("cases: {}", "has no servers"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(rig, tmp_path, text, message):
    (tmp_path / "bring.test.yaml").write_text(text)
    with pytest.raises(LoadError, match=message) as error:
        rig.spinner.do(rig.servers.read, tmp_path / "bring.test.yaml")
    assert "bring.test.yaml:1" in str(error.value)
