# SPDX-License-Identifier: Apache-2.0
"""What an entry says that its node commands is known where trees are checked."""

import pytest

from behavior_ros import load_node_models, ros_node_manifests
from behavior_ros.leaves.node_models import NodeModelError
from behavior_tree import BehaviorTreeFactory, LoadError, register_placeholders

ENTRIES = [
    {"node": "Move", "action": "/move_arm", "type": "behavior_msgs/action/MoveArm"},
    {"node": "Grip", "action": "/gripper", "type": "behavior_msgs/action/MoveGripper"},
]
ENTRIES[0]["commands"], ENTRIES[1]["commands"] = ["arm"], ["gripper"]


def load(body):
    factory = BehaviorTreeFactory()
    register_placeholders(factory, ros_node_manifests(load_node_models({"nodes": ENTRIES})))
    xml = f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'
    return factory.create_tree_from_text(xml)


def test_two_leaves_of_ros_that_command_the_same_may_not_run_at_once():
    load('<Parallel><Move name="a"/><Grip name="b"/></Parallel>')
    load('<Sequence><Move name="a"/><Move name="b"/></Sequence>')
    with pytest.raises(LoadError, match="'a' and 'b' may run at once, and both command 'arm'"):
        load('<Parallel><Move name="a"/><Move name="b"/></Parallel>')


def test_what_is_no_list_is_refused():
    with pytest.raises(NodeModelError, match="commands is 'arm', give a list"):
        load_node_models({"nodes": [{**ENTRIES[0], "commands": "arm"}]})


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("left_arm", "right_arm", True),
        ("left_arm", "left_arm", False),
        ("", "", False),
        ("{whose}", "left_arm", True),  # only the run can tell
    ],
)
def test_each_group_of_a_robot_is_commanded_by_itself(first, second, together):
    part = {"namespace_port": "group", "commands": ["{group} arm"]}
    xml = (
        '<root BTCPP_format="4"><BehaviorTree ID="Main"><Parallel>'
        f'<Move name="a" group="{first}"/><Move name="b" group="{second}"/>'
        "</Parallel></BehaviorTree></root>"
    )
    factory = BehaviorTreeFactory()
    models = load_node_models({"nodes": [{**ENTRIES[0], **part}]})
    register_placeholders(factory, ros_node_manifests(models))
    if together:
        factory.create_tree_from_text(xml)
        return
    both = f"{first} arm".strip()
    with pytest.raises(LoadError, match=f"both command '{both}'"):
        factory.create_tree_from_text(xml)


def test_a_namespace_and_a_name_are_not_both_given_by_ports():
    with pytest.raises(NodeModelError, match="name_port and namespace_port are both given"):
        load_node_models({"nodes": [{**ENTRIES[0], "name_port": "a", "namespace_port": "b"}]})
