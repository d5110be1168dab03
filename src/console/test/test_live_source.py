# SPDX-License-Identifier: Apache-2.0
"""What a running stack says arrives in the channels: streams, what is kept, and what is up."""

from __future__ import annotations

import threading

import pytest
from behavior_msgs.msg import AutonomyLevel, SceneObject, SceneObjectArray, TreeRecord
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from behavior_console.live_source import LiveSource
from behavior_ros import QOS_LATCHED
from behavior_ros.testing import Spinner, until


def test_streams_go_with_a_record_of_the_tree_as_one_change(spinner: Spinner) -> None:
    node = Node("console")
    live = LiveSource(node, world="")
    spinner.start(node)
    seen: list[object] = []

    def look() -> None:
        with live.channels.lock:  # as a page does
            tree = live.channels.value("tree")
            seen.append((live.channels.value("joints"), tree and tree["tree_id"]))

    other = threading.Thread(target=look)
    live.channels.on_change = lambda: None if other.ident else other.start()
    document = (
        '<root BTCPP_format="4"><BehaviorTree ID="main"><Sleep _uid="1"/></BehaviorTree></root>'
    )
    record = TreeRecord(kind=TreeRecord.BEGIN, tree_id="main", xml=document)
    joints = serialize_message(JointState(name=["elbow"], position=[1.25]))

    def hear() -> None:
        live._taken = float("-inf")  # they were looked at a while ago
        live._newest["/joint_states"].append(joints)
        live._take_record(record)

    spinner.do(hear)
    other.join(60.0)
    assert seen == [({"elbow": 1.25}, "main")]


@pytest.mark.timeout(120)
def test_what_one_robot_says_is_in_its_channels(spinner: Spinner) -> None:
    robot = Node("robot", namespace="/left")
    frame = TransformStamped(child_frame_id="hand")
    frame.header.frame_id = "world"
    frame.transform.translation.x = 0.5
    frame.transform.rotation.w = 1.0
    latched = {
        "scene/objects": SceneObjectArray(objects=[SceneObject(name="cup", kind="detected")]),
        "autonomy/level": AutonomyLevel(selected=AutonomyLevel.MANUAL),
        "/tf_static": TFMessage(transforms=[frame]),
    }
    for topic, message in latched.items():
        robot.create_publisher(type(message), topic, QOS_LATCHED).publish(message)
    joints = robot.create_publisher(JointState, "joint_states", 10)
    robot.create_timer(0.05, lambda: joints.publish(JointState(name=["elbow"], position=[1.25])))
    node = Node("console", namespace="/left")
    live = LiveSource(node, world="kitchen")
    spinner.start(node, robot)
    channels = live.channels
    until(lambda: channels.value("joints") == {"elbow": 1.25})
    until(lambda: "cup" in channels.value("objects"))
    until(lambda: channels.value("transforms").get("hand", [""])[0] == "world")
    until(lambda: (channels.value("mode") or {}).get("selected") == "manual")
    until(lambda: channels.value("stack")["up"]["robot"])
    stack = channels.value("stack")
    assert (stack["namespace"], stack["world"]) == ("/left", "kitchen")
    assert stack["empty"] == {"text": "no executor is up", "remedy": "start a stack: behavior up"}
