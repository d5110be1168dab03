# SPDX-License-Identifier: Apache-2.0
"""Who listens is told all that trees do, in records without a gap, and who asked for what."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from behavior_msgs.msg import OperatorCommand, TreeRecord
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient, MissionClientError
from behavior_executor.missions.mission import Kind, MissionRequest
from behavior_executor.monitoring.record_publisher import Gathering, message_values
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner, until
from behavior_ros.topics.qos import QOS_KEPT_EVENTS, QOS_REQUESTS
from behavior_tree.errors import ConversionError

TREES = {
    "count": """<!-- Counts -->
<root BTCPP_format="4"><BehaviorTree ID="count"><Sequence name="all">
  <Script name="one" code="a := 1"/>
  <Repeat num_cycles="5"><Sequence><Script code="a += 1"/><Sleep msec="20"/></Sequence></Repeat>
</Sequence></BehaviorTree></root>""",
    "forever": """<!-- Never ends -->
<root BTCPP_format="4"><BehaviorTree ID="forever">
  <KeepRunningUntilFailure><Sleep msec="20"/></KeepRunningUntilFailure>
</BehaviorTree></root>""",
}


@pytest.fixture
def executor(spinner: Spinner, tmp_path: Path) -> BehaviorExecutor:
    for name, text in TREES.items():
        (tmp_path / f"{name}.xml").write_text(text)
    values = {"tree_directories": [str(tmp_path)], "nodes_file": "", "managers": [""]}
    made = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    spinner.start(made)
    return made


def test_records_of_20_hz_go_after_their_tick_and_those_of_many_ticks_are_gathered() -> None:
    rest = pytest.approx(0.003)
    gathering = Gathering()
    assert [gathering.pause(0.05 * tick, more=False) for tick in range(5)] == [rest] * 5
    gathering = Gathering()
    assert gathering.pause(7.0, more=False) == rest
    assert gathering.pause(7.004, more=False) == pytest.approx(0.029)
    assert [gathering.pause(7.033, more=True) for _ in range(25)] == [0.0] * 25
    assert gathering.pause(7.034, more=False) == pytest.approx(0.029)
    assert gathering.pause(8.0, more=False) == rest


def test_numbers_of_numpy_are_recorded_as_numbers() -> None:
    values = [np.float32(0.5), np.int64(3), np.bool_(True), np.array(2.0)]
    assert message_values(values) == [0.5, 3, True, 2.0]
    assert [type(each) for each in message_values(values)] == [float, int, bool, float]


def listen(spinner: Spinner, kind: Any, topic: str, qos: Any) -> list[Any]:
    heard: list[Any] = []
    node: Node = spinner.node(f"ear_{time.monotonic_ns()}")
    spinner.do(node.create_subscription, kind, topic, heard.append, qos)
    return heard


def begin_forever(spinner: Spinner, executor: BehaviorExecutor) -> None:
    request = MissionRequest("endless", Kind.RUN_BEHAVIOR, "forever")
    spinner.do(executor.core.submit, request)


@pytest.mark.timeout(200)
def test_a_mission_is_told_from_its_beginning_to_its_end(
    spinner: Spinner, executor: BehaviorExecutor
) -> None:
    heard = listen(spinner, TreeRecord, "behavior/tree_record", QOS_REQUESTS)
    until(lambda: executor.records.listeners == 1)
    with MissionClient() as client:
        assert client.run("count", timeout=90.0).succeeded
        assert client.run("count", timeout=90.0).succeeded
    until(lambda: [each.kind for each in heard].count(TreeRecord.END) == 2)
    records = [each for each in heard if each.kind != TreeRecord.STATE]
    assert [each.sequence for each in records] == list(range(1, len(records) + 1))
    assert len({each.life for each in heard}) == 1
    first = records[: [each.kind for each in records].index(TreeRecord.END) + 1]
    assert first[0].kind == TreeRecord.BEGIN
    assert "_uid" in first[0].xml
    ticks = [each for each in first if each.kind == TreeRecord.TICK]
    assert [each.tick for each in ticks] == list(range(1, len(ticks) + 1))
    assert ticks[-1].status == 2
    assert all(len(each.uids) == len(each.statuses) == len(each.times) for each in ticks)
    values = [e.value for each in first for e in each.blackboard if e.key == "a"]
    assert values[-1] == "6"
    assert len({each.action_id for each in records}) == 2


@pytest.mark.timeout(200)
def test_who_comes_in_the_middle_is_told_the_whole_state_first(
    spinner: Spinner, executor: BehaviorExecutor
) -> None:
    with MissionClient() as client:
        begin_forever(spinner, executor)
        until(lambda: executor.core.queue.running is not None)
        heard = listen(spinner, TreeRecord, "behavior/tree_record", QOS_REQUESTS)
        until(lambda: [each.kind for each in heard].count(TreeRecord.TICK) > 3)
        states = [each for each in heard if each.kind == TreeRecord.STATE]
        assert states
        assert "_uid" in states[0].xml
        assert len(states[0].statuses) == len(states[0].uids) == 2
        client.cancel()
        until(lambda: heard[-1].kind == TreeRecord.END)
        after = [each for each in heard if each.sequence > states[0].sequence]
        numbers = [each.sequence for each in after if each.kind != TreeRecord.STATE]
        assert numbers == list(range(states[0].sequence + 1, numbers[-1] + 1))
        halted = [each for each in after if each.kind == TreeRecord.BETWEEN][-1]
        assert set(halted.statuses) == {0}


@pytest.mark.timeout(200)
def test_while_nobody_listens_nothing_is_written_down(
    spinner: Spinner, executor: BehaviorExecutor
) -> None:
    with MissionClient() as client:
        begin_forever(spinner, executor)
        until(lambda: executor.core.queue.running is not None)
        until(lambda: executor.core._run is not None and executor.core._run.ticks > 2)
        assert executor.core._run is not None
        assert executor.core._run.records is None
        client.cancel()


@pytest.mark.timeout(200)
def test_commands_are_told_with_their_answers_also_to_who_comes_late(
    spinner: Spinner, executor: BehaviorExecutor
) -> None:
    with MissionClient() as client:
        client.run("count", timeout=90.0)
        with pytest.raises(MissionClientError):
            client.control_run("step")
        client.control_run("stop")
        client.run("gone", timeout=90.0)
    heard = listen(spinner, OperatorCommand, "behavior/commands", QOS_KEPT_EVENTS)
    until(lambda: len(heard) == 4)
    assert [each.sequence for each in heard] == [1, 2, 3, 4]
    assert [each.accepted for each in heard] == [True, False, True, False]
    assert heard[0].command.startswith("RUN_BEHAVIOR count (")
    assert heard[0].channel == "/mission/execute"
    assert "no tree runs" in heard[1].answer
    assert "gone" in heard[3].answer


def test_messages_on_the_blackboard_become_plain_values() -> None:
    pose = PoseStamped()
    pose.pose.position.x = 2.0
    values = message_values(pose)
    assert values["__type"] == "geometry_msgs/PoseStamped"
    assert values["pose"]["position"]["x"] == 2.0
    with pytest.raises(ConversionError):
        message_values(object())
    assert message_values([1.0] * 5_000) == {"__omitted": "5000 items"}
