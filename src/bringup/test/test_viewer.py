# SPDX-License-Identifier: Apache-2.0
"""The viewer answers on localhost and draws what the stack publishes (fake messages here)."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from behavior_msgs.msg import (
    MissionAction,
    MissionFeedback,
    SceneObject,
    SceneObjectArray,
    TreeStatus,
)
from geometry_msgs.msg import Point
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray

from behavior_bringup.conversion import boxes_of
from behavior_ros import QOS_EVENT_LOG, QOS_LATCHED

pytest.importorskip("viser")

from behavior_bringup.viewer import ViewerNode

DOMAIN = 51
XML = (
    '<root BTCPP_format="4"><BehaviorTree ID="stack_blocks">'
    '<Sequence _uid="1"><Pick _uid="2"/></Sequence></BehaviorTree></root>'
)


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[ViewerNode, Node, SingleThreadedExecutor]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    viewer = ViewerNode(
        context=context, parameter_overrides=[Parameter("port", Parameter.Type.INTEGER, port)]
    )
    faker = Node("faker", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(viewer)
    executor.add_node(faker)
    yield viewer, faker, executor
    executor.shutdown(timeout_sec=2.0)
    viewer.destroy_node()
    faker.destroy_node()
    rclpy.shutdown(context=context)


def spin_until(executor: SingleThreadedExecutor, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        executor.spin_once(timeout_sec=0.05)


def sender(faker: Node, kind: Any, topic: str, qos: Any) -> Callable[[Any], None]:
    publisher = faker.create_publisher(kind, topic, qos)
    return lambda message: publisher.publish(message)


def a_block() -> SceneObject:
    block = SceneObject(name="blue_block", state=SceneObject.TRACKED)
    block.pose.position.x = 0.4
    block.pose.orientation.w = 1.0
    block.shape = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.05, 0.05, 0.05])
    block.color = ColorRGBA(r=0.0, g=0.0, b=1.0, a=1.0)
    return block


def test_the_page_is_served_on_localhost_only(world: Any) -> None:
    viewer, _, _ = world
    with urllib.request.urlopen(f"http://127.0.0.1:{viewer.page.port}", timeout=20) as page:
        assert page.status == 200
        assert b"<html" in page.read().lower()
    addresses = {
        info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    }
    for address in addresses - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(1.0)
            assert probe.connect_ex((address, viewer.page.port)) != 0


def test_messages_become_a_scene(world: Any) -> None:
    viewer, faker, executor = world
    publish_objects = sender(faker, SceneObjectArray, "/scene/objects", QOS_LATCHED)
    publish_path = sender(faker, MarkerArray, "/motion/planned_path", QOS_LATCHED)
    publish_xml = sender(faker, String, "/behavior/tree_xml", QOS_LATCHED)
    publish_status = sender(faker, TreeStatus, "/behavior/tree_status", QOS_EVENT_LOG)
    publish_feedback = sender(faker, MissionFeedback, "/mission/feedback", QOS_EVENT_LOG)
    publish_joints = sender(faker, JointState, "/joint_states", 1)
    publish_objects(SceneObjectArray(objects=[a_block()]))
    line = Marker(type=Marker.LINE_STRIP, points=[Point(x=0.1 * i) for i in range(3)])
    publish_path(MarkerArray(markers=[line]))
    publish_xml(String(data=XML))
    spin_until(executor, lambda: bool(viewer.page.boxes) and "Sequence" in viewer.page.tree)
    assert viewer.page.boxes["blue_block"].colour == (0, 0, 255)

    def joints_arrived() -> bool:
        publish_joints(JointState(name=["panda_joint1", "other"], position=[0.5, 1.0]))
        publish_status(TreeStatus(tick=2, uids=[1, 2], statuses=[1, 3]))
        publish_feedback(
            MissionFeedback(name="stack_blocks", state=MissionFeedback.RUNNING, skill="Pick")
        )
        return viewer.page.joints["panda_joint1"] == 0.5 and "✘ Pick" in viewer.page.tree

    spin_until(executor, joints_arrived)
    assert "other" not in viewer.page.joints
    spin_until(executor, lambda: "running" in viewer.page.status)
    publish_objects(SceneObjectArray())
    spin_until(executor, lambda: not viewer.page.boxes)


def test_the_start_button_publishes_a_mission(world: Any) -> None:
    viewer, faker, executor = world
    missions: list[MissionAction] = []
    faker.create_subscription(MissionAction, "/mission/action", missions.append, QOS_EVENT_LOG)
    spin_until(executor, lambda: faker.count_publishers("/mission/action") > 0)

    def arrived() -> bool:
        viewer._on_start("stack_blocks")
        return bool(missions)

    spin_until(executor, arrived)
    assert missions[0].name == "stack_blocks"


def test_state_shows_in_colour_and_label() -> None:
    block = a_block()
    block.color = ColorRGBA(b=1.0, a=1.0)
    tracked = boxes_of(SceneObjectArray(objects=[block]))["blue_block"]
    assert (tracked.colour, tracked.label) == ((0, 0, 255), "blue_block (tracked)")
    block.state = SceneObject.FROZEN
    frozen = boxes_of(SceneObjectArray(objects=[block]))["blue_block"]
    assert frozen.colour != tracked.colour
    assert frozen.label == "blue_block (frozen)"
