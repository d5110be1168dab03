# SPDX-License-Identifier: Apache-2.0
"""Two robots in one ROS graph: each in its namespace, each with its own missions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from behavior_msgs.msg import MissionAction, MissionFeedback
from diagnostic_msgs.msg import DiagnosticArray
from robots_in_namespaces import Robot, names_elsewhere
from sensor_msgs.msg import JointState

from behavior_bringup.cli import main
from behavior_bringup.stacks.description import stack_file
from behavior_executor.client import MissionClient
from behavior_ros.testing import Spinner, ros, spinner, until
from behavior_ros.topics.qos import QOS_EVENT_LOG

__all__ = ["ros", "spinner"]  # fixtures


ROBOTS = ("left", "right")

TREE = """<root BTCPP_format="4"><BehaviorTree ID="{name}">
  <Sequence><Wait duration="0.2"/><Script code="@mission_detail := '{name} is done'"/></Sequence>
</BehaviorTree></root>
"""

STACK = """
description: What a robot needs for missions, without an arm.
arguments:
  missions: {default: "", help: folder}
processes:
  executor:
    nodes:
      behavior_executor:
        node: behavior_executor.node.executor_node:BehaviorExecutor
        parameters: {tree_directories: ["${missions}"], groot2_port: 0, server_lost_grace: 0.0}
      scene:
        node: behavior_scene.node.scene_node:SceneNode
  skills:
    nodes:
      wait:
        node: behavior_skills.node.wait_node:WaitNode
"""

Team = Callable[..., list[Robot]]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Makes robots, and stops them after the test."""
    with ExitStack() as stops:

        def make(
            stack: Path, arguments: dict[str, dict[str, str | bool]], **remaps: dict[str, str]
        ) -> list[Robot]:
            made = []
            for name, values in arguments.items():
                robot = Robot(
                    f"/{name}", stack, tmp_path, arguments=values, remaps=remaps.get(name)
                )
                stops.callback(robot.stop)
                made.append(robot)
            return made

        yield make


def all_up(spinner: Spinner, *robots: Robot) -> None:
    observer = spinner.node("observer")
    wanted = {node for robot in robots for node in robot.nodes}

    def there() -> bool:
        pairs = observer.get_node_names_and_namespaces()
        return wanted <= {f"{where.rstrip('/')}/{name}" for name, where in pairs}

    try:
        until(there, what="all nodes are there")
    except AssertionError as error:
        raise AssertionError("\n".join(robot.told() for robot in robots)) from error


def told_by(spinner: Spinner, topic: str) -> list[MissionFeedback]:
    heard: list[MissionFeedback] = []
    node = spinner.node(f"listener_{topic.strip('/').replace('/', '_')}")
    node.create_subscription(MissionFeedback, topic, heard.append, QOS_EVENT_LOG)
    return heard


def test_each_robot_hears_its_own_orders_only(spinner: Spinner, team: Team, tmp_path: Path) -> None:
    """The right one's feedback goes by another name, and its skills come up late."""
    stack = tmp_path / "small.yaml"
    stack.write_text(STACK)
    folders: dict[str, dict[str, str | bool]] = {}
    for name in ROBOTS:
        folder = tmp_path / f"missions_{name}"
        folder.mkdir()
        (folder / f"{name}_waits.xml").write_text(TREE.format(name=f"{name}_waits"))
        folders[name] = {"missions": str(folder)}
    left, right = team(stack, folders, right={"mission/feedback": "reports"})
    spinner.start()
    reports = {
        "left": told_by(spinner, "/left/mission/feedback"),
        "right": told_by(spinner, "/right/reports"),
        "nobody": told_by(spinner, "/mission/feedback"),
        "remapped": told_by(spinner, "/right/mission/feedback"),
    }
    components: set[str] = set()
    spinner.node("health").create_subscription(
        DiagnosticArray,
        "/diagnostics",
        lambda message: components.update(status.name for status in message.status),
        10,
    )
    left.start()
    right.start("executor")
    all_up(spinner, left, right)
    observer = spinner.node("graph")
    with MissionClient(namespace="/left") as at_left, MissionClient(namespace="/right") as at_right:
        for client in (at_left, at_right):
            client.wait_for_executor(240.0)
        assert [mission.name for mission in at_left.list()] == ["left_waits"]
        assert [mission.name for mission in at_right.list()] == ["right_waits"]

        order = MissionAction(type=MissionAction.RUN_BEHAVIOR, name="right_waits")
        refused = at_right.preflight(order, timeout=240)
        assert not refused.succeeded
        assert "action /right/wait (behavior_msgs/action/Wait)" in refused.message

        assert at_left.run("left_waits", action_id="of-left", timeout=240).succeeded
        right.start("skills")
        all_up(spinner, right)
        outcome = at_right.run("right_waits", action_id="of-right", timeout=60.0)
        assert outcome.succeeded, outcome.message
        assert [record.action_id for record in at_left.history()] == ["of-left"]
        assert [record.action_id for record in at_right.history()] == ["of-right"]

        # An order by topic reaches the robot in whose namespace it is published.
        orders = spinner.node("operator", namespace="/left").create_publisher(
            MissionAction, "mission/action", QOS_EVENT_LOG
        )
        until(lambda: orders.get_subscription_count() == 1)
        orders.publish(
            MissionAction(type=MissionAction.RUN_BEHAVIOR, name="left_waits", action_id="by-topic")
        )
        until(lambda: {"of-left", "by-topic"} <= {each.action_id for each in reports["left"]})
        until(lambda: len(at_left.history()) == 2)
        assert [record.action_id for record in at_right.history()] == ["of-right"]
    until(lambda: reports["right"])
    assert {each.action_id for each in reports["left"]} == {"of-left", "by-topic"}
    assert {each.action_id for each in reports["right"]} == {"of-right"}
    assert reports["nobody"] == reports["remapped"] == []
    for robot in (left, right):
        assert names_elsewhere(observer, robot.namespace) == {}
    until(lambda: {f"{n}/behavior_executor: executor" for n in ROBOTS} <= components)
    assert left.stop() == right.stop() == {"executor": 0, "skills": 0}


def test_two_simulated_arms_in_one_graph(
    spinner: Spinner, team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two whole stacks: what moves one arm by `behavior` leaves the other where it stands."""
    clock = {"/clock": "clock"}
    values: dict[str, str | bool] = {"headless": True, "groot2_port": "0"}
    robots = team(
        stack_file("block_stacking"), dict.fromkeys(ROBOTS, values), left=clock, right=clock
    )
    spinner.start()
    joints: dict[str, JointState] = {}
    for name, robot in zip(ROBOTS, robots, strict=True):
        robot.start()
        spinner.node(f"joints_of_{name}").create_subscription(
            JointState, f"/{name}/joint_states", lambda m, name=name: joints.update({name: m}), 1
        )
    all_up(spinner, *robots)
    until(lambda: len(joints) == 2, what="joint states")
    before = {name: list(message.position) for name, message in joints.items()}

    graph = spinner.node("graph")
    for robot in robots:
        assert names_elsewhere(graph, robot.namespace) == {}

    def seen() -> list[str]:
        assert main(["scene", "list", "--json", "--namespace", "right"]) == 0
        return [row["name"] for row in json.loads(capsys.readouterr().out)]

    until(lambda: "red_block" in seen(), what="blocks")
    assert main(["robot", "close", "--namespace", "left"]) == 0, robots[0].told()
    until(lambda: largest(before["left"], joints["left"]) > 1e-3, what="the left one moved")
    assert largest(before["right"], joints["right"]) < 1e-3
    for robot in robots:
        assert set(robot.stop().values()) == {0}


def largest(before: list[float], now: JointState) -> float:
    """Greatest change of a joint [rad or m]."""
    return max(abs(a - b) for a, b in zip(before, now.position, strict=True))


def test_a_robot_drives_in_its_namespace_and_nothing_leaves_it(
    spinner: Spinner, team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    (robot,) = team(
        stack_file("navigation"),
        {"rover": {"headless": True, "groot2_port": "0", "speed": "4"}},
        rover={"/clock": "clock"},
    )
    spinner.start()
    robot.start()
    all_up(spinner, robot)
    observer = spinner.node("graph")
    until(lambda: observer.count_services("/rover/mission/list"), what="the executor")
    assert names_elsewhere(observer, "/rover") == {}
    ended = main(["mission", "navigate", "4.0", "1.5", "--namespace", "rover"])
    assert ended == 0, f"{capsys.readouterr().out}\n{robot.told()}"
    assert names_elsewhere(observer, "/rover") == {}
