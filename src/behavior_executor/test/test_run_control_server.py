# SPDX-License-Identifier: Apache-2.0
"""Runs are controlled over ROS: the service, and the topic that keeps the newest state."""

import threading
from pathlib import Path

import pytest
from behavior_msgs.msg import RunControlState
from rclpy.node import Node
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient, MissionClientError, MissionOutcome
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_executor.node.run_control_server import LONGEST_COMMAND
from behavior_ros import QOS_LATCHED
from behavior_ros.testing import Spinner, until

TREE = """<!-- Steps -->
<root BTCPP_format="4"><BehaviorTree ID="steps"><Sequence name="all">
  <Script name="one" code="a := 1"/>
  <ScriptCondition name="look" code="a == 2"/>
</Sequence></BehaviorTree></root>"""


@pytest.fixture
def outside(spinner: Spinner, tmp_path: Path) -> Node:
    """Another node beside an executor."""
    (tmp_path / "steps.xml").write_text(TREE)
    values = {"tree_directories": [str(tmp_path)], "nodes_file": "", "managers": [""]}
    made = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    other = Node("outside")
    spinner.start(made, other)
    return other


@pytest.mark.timeout(90)
def test_a_mission_is_stepped_to_its_end(spinner: Spinner, outside: Node) -> None:
    outcomes: list[MissionOutcome] = []
    details: set[str] = set()

    def run() -> None:
        with MissionClient(node_name="runner") as client:
            outcomes.append(
                client.run("steps", on_feedback=lambda told: details.add(told.detail), timeout=60.0)
            )

    with MissionClient() as operator:
        assert not operator.control_run().state.controlled
        operator.control_run("stop")
        runner = threading.Thread(target=run)
        runner.start()
        until(lambda: list(operator.control_run().state.held) == ["one"])
        assert operator.control_run("step").message == "begins: one"
        until(lambda: list(operator.control_run().state.held) == ["look"])
        heard: list[RunControlState] = []
        spinner.do(
            outside.create_subscription,
            RunControlState,
            "behavior/run_control",
            heard.append,
            QOS_LATCHED,
        )
        until(lambda: heard and list(heard[-1].held) == ["look"])
        operator.control_run("step")
        until(lambda: list(operator.control_run().state.failed) == ["look"])
        until(lambda: heard[-1].stands and list(heard[-1].failed) == ["look"])
        assert operator.control_run("skip").message == "skipped: look"
        runner.join(60.0)
        assert outcomes[0].succeeded
        assert any(each.startswith("waits for a step: one") for each in details)
        operator.control_run("release")
        until(lambda: not heard[-1].controlled)
        assert operator.run("steps").message.endswith("(look)")


@pytest.mark.timeout(90)
def test_wrong_commands_are_answered(outside: Node) -> None:
    with MissionClient() as operator:
        for command, words in (
            ("dance\x1b[2J", "no command 'dance.*there are step, go, .*, release, queue"),
            ("step", "no tree runs"),
            ("x" * (LONGEST_COMMAND + 1), "at most"),
        ):
            with pytest.raises(MissionClientError, match=words) as error:
                operator.control_run(command)
            assert "\x1b" not in str(error.value)
        assert not operator.control_run().state.controlled
