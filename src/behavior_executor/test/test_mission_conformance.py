# SPDX-License-Identifier: Apache-2.0
"""The mission server and its client by the book, see `behavior_ros.conformance`."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient, MissionClientError
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.conformance import (
    CLIENT_RULES,
    SERVER_RULES,
    ClientsUnderTest,
    ServerUnderTest,
    broken_rules,
)
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import Spinner

FOREVER = """<!-- Never ends -->
<root BTCPP_format="4"><BehaviorTree ID="forever"><Sleep msec="3600000"/></BehaviorTree></root>
"""


@pytest.fixture
def lean(ros: None) -> Iterator[Spinner]:
    made = Spinner(LeanExecutor())
    yield made
    made.stop()


@pytest.mark.parametrize("action", ["/mission/execute", "/mission/preflight"])
def test_the_mission_server(lean: Spinner, tmp_path: Path, action: str) -> None:
    (tmp_path / "forever.xml").write_text(FOREVER)
    values = {
        "tree_directories": [str(tmp_path)],
        "nodes_file": "",
        "managers": [""],
        "second_mission_policy": "queue",
    }
    lean.start(
        BehaviorExecutor(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])
    )

    def goal() -> ExecuteMission.Goal:
        return ExecuteMission.Goal(mission=MissionAction(name="forever"))

    with ServerUnderTest(ExecuteMission, action, goal) as subject:
        assert broken_rules(SERVER_RULES, subject) == []


class Sender:
    """Runs a mission in a thread of its own; it cannot be told to stop but by Ctrl-C."""

    def __init__(self) -> None:
        self.how = ""

    def start(self) -> None:
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        with MissionClient(silence_limit=0.8) as client:
            try:
                self.how = "succeeded" if client.run("x").succeeded else "failed"
            except MissionClientError:
                self.how = "failed"

    def cancel(self) -> None:
        pass

    def ended(self) -> str:
        return self.how


def test_the_mission_client(ros: None) -> None:
    """What the command line and programs wait with: a goal of the client that all have."""
    chosen = [rule for rule in CLIENT_RULES if rule.name in ("aborted", "acceptance lost")]
    with ClientsUnderTest(ExecuteMission, "/mission/execute", Sender, patience=0.8) as subject:
        assert broken_rules(chosen, subject) == []
