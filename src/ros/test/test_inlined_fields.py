# SPDX-License-Identifier: Apache-2.0
"""Ports made from the fields of nested messages."""

import pytest
from behavior_msgs.action import CheckScene
from behavior_msgs.msg import SceneQuestion, SceneShape

from behavior_ros import load_node_models, ros_node_manifests
from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.node_models import NodeModelError
from behavior_ros.messages.interfaces import InterfaceError, inlined, load_interface, with_ports
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus, SyncActionNode

NAMES = ("question", "shape", "answer")
GOAL, RESULT, _ = inlined(load_interface("behavior_msgs/action/CheckScene", "action")[1], NAMES)
INPUTS = InputPorts(GOAL, "goal", {"question": "CONTAINS_POINTS"}, ["object"])
OUTPUTS = OutputPorts(RESULT, "result", INPUTS.names())


class Echo(SyncActionNode):
    """Reads a goal, and writes a result whose value is the goal's minimum."""

    goals = []

    @classmethod
    def provided_ports(cls):
        return INPUTS.infos() | OUTPUTS.infos()

    def tick(self):
        goal = INPUTS.read(self)
        self.goals.append(goal)
        result = CheckScene.Result()
        result.answer.value = goal.question.minimum
        result.answer.text = goal.question.object
        OUTPUTS.write(self, result)
        return NodeStatus.SUCCESS


def test_fields_of_messages_within_messages_are_ports_that_are_read_and_written():
    factory, blackboard = BehaviorTreeFactory(), Blackboard.create()
    factory.register_node_type(Echo, "Echo")
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="main">'
        '<Echo object="cup" minimum="2.5" kind="CAPSULE" dimensions="0.4;0.1" shape_pose="1;2;3"'
        ' once="true" value="{v}" text="{t}"/></BehaviorTree></root>',
        blackboard,
    )
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS
    goal = Echo.goals[-1]
    assert goal.question.question == SceneQuestion.CONTAINS_POINTS
    assert (goal.question.object, goal.question.minimum, goal.once) == ("cup", 2.5, True)
    assert goal.question.shape.kind == SceneShape.CAPSULE
    assert list(goal.question.shape.dimensions) == [0.4, 0.1]
    assert goal.question.shape_pose.position.z == 3.0
    assert blackboard.get("v") == 2.5
    assert blackboard.get("t") == "cup"


def test_descriptions_and_constants_come_along():
    ports = INPUTS.infos()
    assert ports["object"].description == "name of an object or frame"
    assert ports["kind"].type["CYLINDER"] == SceneShape.CYLINDER
    assert ports["object"].required


def test_names_that_hold_no_message_or_come_twice_are_refused():
    sections = load_interface("behavior_msgs/action/CheckScene", "action")[1]
    with pytest.raises(InterfaceError, match="no message in field once"):
        inlined(sections, ["once", "question"])
    with pytest.raises(InterfaceError, match="covariance comes twice"):
        inlined(load_interface("nav_msgs/msg/Odometry", "msg")[1], ["pose", "twist"])
    entry = {"node": "A", "action": "/a", "type": "behavior_msgs/action/CheckScene"}
    models = load_node_models({"nodes": [{**entry, "inline": ["questoin"]}]})
    with pytest.raises(NodeModelError, match="questoin"):
        ros_node_manifests(models)


def test_ports_of_fields_that_no_section_has_are_refused():
    models = load_node_models(
        {
            "nodes": [
                {
                    "node": "Check",
                    "action": "/check",
                    "type": "behavior_msgs/action/CheckScene",
                    "ports": {"questoin": "what"},
                }
            ]
        }
    )
    with pytest.raises(
        NodeModelError, match=r"ports: no field questoin; the fields are .*question"
    ):
        ros_node_manifests(models)


@pytest.mark.parametrize(
    ("kind", "interface"),
    [("action", "behavior_msgs/action/CheckScene"), ("service", "std_srvs/srv/SetBool")],
)
def test_the_port_that_names_the_server_is_no_fields(kind, interface):
    field = "question" if kind == "action" else "data"
    entry = {"node": "Ask", kind: "/ask", "type": interface, "name_port": field}
    with pytest.raises(NodeModelError, match=f"name_port: {field} is a port of a field already"):
        ros_node_manifests(load_node_models({"nodes": [entry]}))


@pytest.mark.parametrize("kind", ["action", "service", "cancel"])
def test_ports_that_nobody_reads_are_taken_and_are_no_fields(kind):
    interface = "std_srvs/srv/SetBool" if kind == "service" else "behavior_msgs/action/CheckScene"
    entry = {"node": "Ask", kind: "/ask", "type": interface, "unused": ["patience"]}
    (manifest,) = ros_node_manifests(load_node_models({"nodes": [entry]}))
    assert not manifest.ports["patience"].required
    field = "data" if kind == "service" else "question"
    models = load_node_models({"nodes": [{**entry, "unused": [field]}]})
    if kind == "cancel":  # its goal's fields are no ports
        assert ros_node_manifests(models)
        return
    with pytest.raises(NodeModelError, match=f"unused: {field} is a port of a field already"):
        ros_node_manifests(models)


def test_fields_of_one_name_get_ports_of_two_names():
    _, sections = load_interface("behavior_msgs/action/CheckScene", "action")
    goal, result, _ = sections
    asked, answered = goal.fields[0].name, result.fields[0].name
    named = with_ports(sections, {f"goal.{asked}": "asked", f"result.{answered}": "answer"})
    assert (named[0].fields[0].port, named[1].fields[0].port) == ("asked", "answer")
    assert not any(entry.port for section in named for entry in section.fields[1:])
    with pytest.raises(InterfaceError, match=r"no field result\.nothing"):
        with_ports(sections, {"result.nothing": "answer"})


def test_types_that_are_not_installed_are_left_out_where_that_is_said():
    there = {"node": "Empty", "service": "/empty", "type": "std_srvs/srv/Empty"}
    package = {"node": "Fly", "action": "/fly", "type": "drone_msgs/action/Fly"}
    lacking = {"node": "Old", "service": "/old", "type": "std_srvs/srv/Removed"}
    entries = [there, *({**each, "if_installed": True} for each in (package, lacking))]
    found = ros_node_manifests(load_node_models({"nodes": entries}))
    assert [manifest.registration_id for manifest in found] == ["Empty"]
    for entry in (package, lacking):
        with pytest.raises(NodeModelError, match=entry["node"]):
            ros_node_manifests(load_node_models({"nodes": [entry]}))


def test_a_condition_is_of_fields_that_there_are():
    entry = {"node": "Ask", "service": "/ask", "type": "std_srvs/srv/SetBool"}
    models = load_node_models({"nodes": [{**entry, "condition": {"done": True}}]})
    with pytest.raises(NodeModelError, match="condition: no field done; the fields are success"):
        ros_node_manifests(models)


@pytest.mark.parametrize(
    ("kind", "interface", "path", "text"),
    [
        ("subscriber", "std_msgs/msg/Bool", "dat", "no field dat; the fields are data"),
        ("subscriber", "std_msgs/msg/Bool", "data.on", "no field data.on; the fields are none"),
        (
            "subscriber",
            "geometry_msgs/msg/PointStamped",
            "point.w",
            "no field point.w; the fields are x, y, z",
        ),
        (
            "service",
            "rcl_interfaces/srv/SetParametersAtomically",
            "result.done",
            "no field result.done; the fields are successful, reason",
        ),
    ],
)
def test_a_condition_on_fields_that_are_not_there_is_refused(kind, interface, path, text):
    entry = {"node": "A", kind: "/a", "type": interface, "condition": {path: True}}
    with pytest.raises(NodeModelError, match=f"node A: condition: {text}"):
        ros_node_manifests(load_node_models({"nodes": [entry]}))


def test_a_condition_names_the_fields_of_the_message_inlined_or_not():
    entry = {
        "node": "A",
        "service": "/a",
        "type": "rcl_interfaces/srv/SetParametersAtomically",
        "inline": ["result"],
        "condition": {"result.successful": True},
    }
    (manifest,) = ros_node_manifests(load_node_models({"nodes": [entry]}))
    assert "successful" in manifest.ports
    entry["condition"] = {"successful": True}
    with pytest.raises(NodeModelError, match="no field successful"):
        ros_node_manifests(load_node_models({"nodes": [entry]}))
