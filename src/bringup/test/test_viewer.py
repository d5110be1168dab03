# SPDX-License-Identifier: Apache-2.0
"""The viewer draws what the stack publishes (fake messages here) and publishes what is clicked."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from behavior_msgs.msg import (
    LocalizationResult,
    MissionAction,
    MissionFeedback,
    Route,
    SceneObject,
    SceneObjectArray,
    TreeStatus,
)
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import OccupancyGrid
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray

from behavior_bringup.conversion import shown_objects
from behavior_bringup.errors import UsageError
from behavior_bringup.viewer_access import kept_token
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED

pytest.importorskip("viser")

from behavior_bringup.viewer import ViewerNode, _containers
from behavior_bringup.viewer_controls import parse_parameters
from behavior_ros.testing import own_domain

XML = (
    '<root BTCPP_format="4"><BehaviorTree ID="stack_blocks">'
    '<Sequence _uid="1"><Pick _uid="2"/></Sequence></BehaviorTree></root>'
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ViewerNode, Node, SingleThreadedExecutor]]:
    context = Context()
    rclpy.init(context=context, domain_id=own_domain())
    values = {
        "robot": str(ROOT / "config" / "robots" / "panda.yaml"),
        "address_file": str(tmp_path_factory.mktemp("viewer") / "viewer.url"),
        "rate": 60.0,
    }
    viewer = ViewerNode(
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
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
    end = time.monotonic() + 60.0
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


def a_line() -> MarkerArray:
    return MarkerArray(
        markers=[Marker(type=Marker.LINE_STRIP, points=[Point(x=0.1 * i) for i in range(3)])]
    )


def test_the_address_is_the_users_alone(world: Any) -> None:
    viewer, _, _ = world
    file = Path(viewer.get_parameter("address_file").value)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    address = file.read_text(encoding="utf-8").strip()
    assert address == f"http://localhost:{viewer.page.port}/token={kept_token(file)}/"
    file.chmod(0o640)  # somebody else may have read it
    assert kept_token(file) == ""
    file.chmod(0o600)


def test_messages_become_a_scene(world: Any) -> None:
    viewer, faker, executor = world
    publish_objects = sender(faker, SceneObjectArray, "/scene/objects", QOS_LATCHED)
    publish_path = sender(faker, MarkerArray, "/motion/planned_path", QOS_LATCHED)
    publish_joints = sender(faker, JointState, "/joint_states", 1)
    publish_objects(SceneObjectArray(objects=[a_block()]))
    publish_path(a_line())
    spin_until(executor, lambda: bool(viewer.page.objects) and bool(viewer.page.paths))
    assert viewer.page.objects["blue_block"].colour == (0, 0, 255)

    def joints_arrived() -> bool:
        publish_joints(JointState(name=["panda_joint1", "other"], position=[0.5, 1.0]))
        return bool(viewer.page.joints["panda_joint1"] == 0.5)

    spin_until(executor, joints_arrived)
    assert "other" not in viewer.page.joints
    publish_path(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
    spin_until(executor, lambda: not viewer.page.paths)
    publish_objects(SceneObjectArray())
    spin_until(executor, lambda: not viewer.page.objects)


def test_a_cancelled_tree_does_not_run_and_leaves_no_path(world: Any) -> None:
    viewer, faker, executor = world
    publish_path = sender(faker, MarkerArray, "/motion/planned_path", QOS_LATCHED)
    publish_xml = sender(faker, String, "/behavior/tree_xml", QOS_LATCHED)
    publish_status = sender(faker, TreeStatus, "/behavior/tree_status", QOS_EVENT_LOG)
    publish_feedback = sender(faker, MissionFeedback, "/mission/feedback", QOS_EVENT_LOG)
    publish_path(a_line())
    publish_xml(String(data=XML))
    spin_until(executor, lambda: "Sequence" in viewer.page.tree and bool(viewer.page.paths))
    feedback = MissionFeedback(
        action_id="one", name="stack_blocks", state=MissionFeedback.RUNNING, skill="Pick {1+1}"
    )

    def runs() -> bool:
        publish_status(TreeStatus(action_id="one", tick=2, uids=[1, 2], statuses=[1, 1]))
        publish_feedback(feedback)
        return "▶ Pick" in viewer.page.tree and "running" in viewer.page.status

    spin_until(executor, runs)
    feedback.state = MissionFeedback.CANCELED
    publish_feedback(feedback)
    spin_until(executor, lambda: "canceled" in viewer.page.status)
    spin_until(executor, lambda: "■ Pick" in viewer.page.tree)
    assert "▶" not in viewer.page.tree
    assert not viewer.page.paths
    feedback.state = MissionFeedback.RUNNING

    def runs_again() -> bool:
        publish_status(TreeStatus(action_id="two", tick=1, uids=[1], statuses=[1]))
        return "▶ Sequence" in viewer.page.tree

    spin_until(executor, runs_again)


def test_the_navigation_world_is_drawn(world: Any) -> None:
    viewer, faker, executor = world
    grid = OccupancyGrid()
    grid.info.width, grid.info.height, grid.info.resolution = 4, 2, 0.5
    grid.data = [0, 100, -1, 0, 0, 0, 0, 0]
    sender(faker, OccupancyGrid, "/map", QOS_LATCHED)(grid)
    route = Route()
    route.path.poses = [PoseStamped(), PoseStamped()]
    publish_route = sender(faker, Route, "/route", QOS_COMMAND)
    publish_place = sender(faker, LocalizationResult, "/localization/result", QOS_COMMAND)
    found = LocalizationResult()
    found.pose.pose.position.x = 1.5

    def drawn() -> bool:
        publish_route(route)
        publish_place(found)
        page = viewer.page
        return bool(page.has_map and "route" in page.paths and page.base)

    spin_until(executor, drawn)
    assert viewer.page.base[0] == 1.5


def test_clicks_become_mission_actions(world: Any) -> None:
    viewer, faker, executor = world
    actions: list[MissionAction] = []
    faker.create_subscription(MissionAction, "/mission/action", actions.append, QOS_EVENT_LOG)
    spin_until(executor, lambda: viewer._actions.get_subscription_count() > 0)
    commands = viewer.page._commands
    commands.start("stack_blocks", {"blocks": "red;blue"})
    commands.pause()
    commands.resume()
    commands.cancel()
    commands.drive(3.0, 4.0)
    spin_until(executor, lambda: len(actions) == 5)
    assert actions[0].name == "stack_blocks"
    assert [(each.key, each.value) for each in actions[0].parameters] == [("blocks", "red;blue")]
    kinds = [MissionAction.PAUSE, MissionAction.RESUME, MissionAction.CANCEL]
    assert [action.type for action in actions[1:4]] == kinds
    assert actions[4].type == MissionAction.NAVIGATE_TO_POSE
    assert (actions[4].goal.pose.position.x, actions[4].goal.pose.position.y) == (3.0, 4.0)


def test_only_missions_of_this_world_are_offered(world: Any) -> None:
    viewer, _, _ = world
    names = ["open_door", "stack_blocks"]
    viewer._world, viewer._known = "door", []
    viewer._offer(names)
    assert set(viewer.page._missions) == {"open_door"}
    viewer._world, viewer._known = "", []
    viewer._offer(names)
    assert set(viewer.page._missions) == set(names)


def test_parameters_are_read_from_one_line() -> None:
    assert parse_parameters("") == {}
    assert parse_parameters(" a = 1 ;b=x=y; ") == {"a": "1", "b": "x=y"}
    for wrong in ("a", "=1", "a=1; b"):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            parse_parameters(wrong)


def drawn(item: SceneObject, **containers: tuple[float, float]) -> Any:
    return shown_objects(SceneObjectArray(objects=[item]), containers)[item.name]


def test_state_shows_in_colour_and_label() -> None:
    block = a_block()
    tracked = drawn(block)
    assert (tracked.colour, tracked.label) == ((0, 0, 255), "blue_block")
    block.state = SceneObject.FROZEN
    frozen = drawn(block)
    assert frozen.colour != tracked.colour
    assert frozen.label == "blue_block (frozen)"


@pytest.mark.parametrize(
    ("kind", "dimensions", "part", "size"),
    [
        (SolidPrimitive.BOX, [0.1, 0.2, 0.3], "box", (0.1, 0.2, 0.3)),
        (SolidPrimitive.SPHERE, [0.1], "sphere", (0.2, 0.2, 0.2)),
        (SolidPrimitive.CYLINDER, [0.3, 0.1], "cylinder", (0.2, 0.2, 0.3)),
        (SolidPrimitive.CONE, [0.3, 0.1], "cone", (0.2, 0.2, 0.3)),
    ],
)
def test_shapes_are_drawn_as_they_are(
    kind: int, dimensions: list[float], part: str, size: tuple[float, float, float]
) -> None:
    shown = a_block()
    shown.shape = SolidPrimitive(type=kind, dimensions=dimensions)
    (only,) = drawn(shown).parts
    assert (only.kind, only.size) == (part, size)


def test_a_container_is_a_floor_with_walls_and_room_between() -> None:
    tray = a_block()
    tray.shape.dimensions = [0.26, 0.18, 0.05]
    parts = drawn(tray, blue_block=(0.01, 0.005)).parts
    assert len(parts) == 5
    for part in parts:  # a ball that lies in the middle is seen
        assert not (
            abs(part.offset[0]) < part.size[0] / 2 + 0.02
            and abs(part.offset[1]) < part.size[1] / 2 + 0.02
            and part.offset[2] + part.size[2] / 2 > -0.019
        )
    for axis in range(3):  # and together they are as large as the tray
        reach = max(part.offset[axis] + part.size[axis] / 2 for part in parts)
        assert reach == pytest.approx(tray.shape.dimensions[axis] / 2)


def test_the_scenes_library_tells_containers() -> None:
    library = ROOT / "config" / "scenes" / "sorting.yaml"
    assert set(_containers(str(library))) == {"red_tray", "blue_tray"}


def test_a_derived_room_is_seen_through() -> None:
    room = a_block()
    assert drawn(room).solid
    room.kind = "interior"
    assert not drawn(room).solid
