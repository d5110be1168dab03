# SPDX-License-Identifier: Apache-2.0
"""py_trees_ros' watchers on the executor; skipped where py_trees_ros is not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("py_trees_ros", reason="py_trees_ros is not installed")

from py_trees_ros.utilities import qos_profile_latched
from py_trees_ros_interfaces.msg import Behaviour, BehaviourTree
from py_trees_ros_interfaces.srv import (
    CloseSnapshotStream,
    GetBlackboardVariables,
    OpenBlackboardStream,
    OpenSnapshotStream,
)
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from behavior_executor.client import MissionClient
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner, until

TREE = """<root BTCPP_format="4"><BehaviorTree ID="job"><Sequence name="job">
  <Script name="count" code="done := 3"/><Sleep name="wait" msec="300"/>{last}
</Sequence></BehaviorTree></root>"""


class Watcher:
    """Does what py-trees-tree-watcher and py-trees-blackboard-watcher do."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.snapshots: list[BehaviourTree] = []
        self.boards: list[str] = []

    def call(self, kind: Any, name: str, request: Any) -> Any:
        client = self.node.create_client(kind, f"/behavior_executor/{name}")
        assert client.wait_for_service(30.0)
        future = client.call_async(request)
        until(future.done)
        return future.result()

    def open(self) -> str:
        """Follow the tree."""
        request = OpenSnapshotStream.Request()
        request.parameters.blackboard_data = True
        request.parameters.snapshot_period = float("inf")
        topic: str = self.call(OpenSnapshotStream, "snapshot_streams/open", request).topic_name
        self._follow(BehaviourTree, topic, self.snapshots.append)
        return topic

    def open_blackboard(self) -> None:
        """Follow all entries."""
        request = OpenBlackboardStream.Request()
        topic = self.call(OpenBlackboardStream, "blackboard_streams/open", request).topic
        self._follow(String, topic, lambda message: self.boards.append(message.data))

    def _follow(self, kind: Any, topic: str, take: Callable[[Any], Any]) -> None:
        self.node.create_subscription(kind, topic, take, qos_profile_latched())

    def newest(self) -> dict[str, int]:
        """Statuses by name."""
        if not self.snapshots:
            return {}
        return {each.name: each.status for each in self.snapshots[-1].behaviours}


@pytest.fixture
def executor(spinner: Spinner, tmp_path: Path) -> BehaviorExecutor:
    (tmp_path / "good.xml").write_text(TREE.format(last=""))
    (tmp_path / "bad.xml").write_text(TREE.format(last="<AlwaysFailure name='last'/>"))
    values = {
        "tree_directories": [str(tmp_path)],
        "nodes_file": "",
        "managers": [""],
        "tick_rate": 50.0,
    }
    made = BehaviorExecutor(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])
    made.problems = []
    made.problem = made.problems.append
    spinner.start(made)
    return made


@pytest.fixture
def watcher(spinner: Spinner, executor: BehaviorExecutor) -> Watcher:
    return Watcher(spinner.node("watcher"))


@pytest.fixture
def client(ros: None) -> Iterator[MissionClient]:
    with MissionClient() as made:
        yield made


def test_a_watcher_sees_a_mission_from_before_its_begin_to_its_end(
    executor: BehaviorExecutor, watcher: Watcher, client: MissionClient
) -> None:
    watcher.open()
    until(lambda: watcher.newest() == {"no mission yet": Behaviour.INVALID})
    assert client.run("good").succeeded
    until(lambda: watcher.newest().get("job") == Behaviour.SUCCESS)
    seen = [
        {each.name: each.status for each in snapshot.behaviours} for snapshot in watcher.snapshots
    ]
    assert {"job": Behaviour.RUNNING, "count": Behaviour.SUCCESS, "wait": Behaviour.RUNNING} in seen
    kinds = {each.name: each.type for each in watcher.snapshots[-1].behaviours}
    assert kinds["job"] == Behaviour.SEQUENCE
    assert not client.run("bad").succeeded
    until(lambda: watcher.newest().get("last") == Behaviour.FAILURE)
    assert watcher.newest()["job"] == Behaviour.FAILURE
    assert executor.problems == []


def test_the_lifecycle_keeps_the_streams(
    spinner: Spinner, executor: BehaviorExecutor, watcher: Watcher, client: MissionClient
) -> None:
    topic = watcher.open()
    for step in ("deactivate", "cleanup", "configure", "activate"):
        spinner.do(getattr(executor, f"trigger_{step}"))
    assert client.run("good").succeeded
    until(lambda: watcher.newest().get("job") == Behaviour.SUCCESS)
    request = CloseSnapshotStream.Request(topic_name=topic)
    assert watcher.call(CloseSnapshotStream, "snapshot_streams/close", request).result
    assert executor.problems == []


def test_a_watcher_of_the_blackboard_sees_entries(
    executor: BehaviorExecutor, watcher: Watcher, client: MissionClient
) -> None:
    assert client.run("good").succeeded
    request, name = GetBlackboardVariables.Request(), "blackboard_streams/get_variables"
    until(lambda: "/done" in watcher.call(GetBlackboardVariables, name, request).variables)
    watcher.open_blackboard()
    until(lambda: watcher.boards)  # what is there, between missions
    assert "/done" in watcher.boards[0]
    assert "3" in watcher.boards[0]


def test_a_stream_carries_the_entries_that_nodes_use(
    executor: BehaviorExecutor, watcher: Watcher, client: MissionClient
) -> None:
    (Path(executor.core.catalogue.directories[0]) / "uses.xml").write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="uses"><Sequence>'
        "<SetBlackboard value='200' output_key='pause'/><Sleep msec='{pause}'/>"
        "</Sequence></BehaviorTree></root>"
    )
    watcher.open()
    assert client.run("uses").succeeded
    until(
        lambda: any(
            (each.key, each.value) == ("/pause", "200")
            for snapshot in watcher.snapshots
            for each in snapshot.blackboard_on_visited_path
        )
    )
