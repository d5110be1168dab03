# SPDX-License-Identifier: Apache-2.0
"""The executor's process, its managers and its client; jobs are run in behavior_jobs' tests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from behavior_msgs.msg import MissionAction, MissionFeedback

from behavior_executor.client import MissionClient, MissionClientError
from behavior_executor.managers.manager import ManagerError, load_manager_class
from behavior_executor.missions.mission import Code, Kind, Policy, State
from behavior_executor.node.executor_parameters import EXECUTOR_PARAMETERS

FOREVER = """<!-- Never ends -->
<root BTCPP_format="4"><BehaviorTree ID="forever">
  <KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>
</BehaviorTree></root>
"""


def test_client_without_executor_says_so(ros: None) -> None:
    with (
        MissionClient() as client,
        pytest.raises(MissionClientError, match=r"no executor.*behavior up"),
    ):
        client.wait_for_executor(timeout=0.2)


def test_executor_process_stops_cleanly_in_mid_mission(ros: None, tmp_path: Path) -> None:
    (tmp_path / "forever.xml").write_text(FOREVER)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "behavior_executor.node.executor_node", "--ros-args"),
            *("-p", f"tree_directories:=['{tmp_path}']", "-p", "nodes_file:=''"),
        ],
        env=os.environ,
    )
    try:
        with MissionClient() as client:
            client.wait_for_executor(240.0)
            states: list[int] = []

            def stop_when_running(message: MissionFeedback) -> None:
                if message.state == State.RUNNING and State.RUNNING not in states:
                    process.send_signal(signal.SIGINT)
                states.append(message.state)

            outcome = client.run("forever", on_feedback=stop_when_running)
        assert outcome.code == Code.SHUTDOWN
        assert process.wait(240.0) == 0
    finally:
        process.kill()


def test_managers_are_found_by_path_and_refused_with_reasons() -> None:
    name = "behavior_executor.scene.scene_manager:SceneManager"
    assert load_manager_class(name).name == "scene"
    for wrong, words in (
        ("nowhere", "no manager 'nowhere'"),
        ("behavior_executor.nowhere:X", "cannot be imported"),
        ("behavior_executor.core:ExecutorCore", "no subclass"),
    ):
        with pytest.raises(ManagerError, match=words):
            load_manager_class(wrong)


def test_constants_agree_with_the_messages() -> None:
    for code in Code:
        assert getattr(MissionFeedback, code.name) == code
    for state in State:
        assert getattr(MissionFeedback, state.name) == state
    for kind in Kind:
        assert getattr(MissionAction, kind.name) == kind
    for policy in Policy:
        assert getattr(MissionAction, f"POLICY_{policy.name}") == policy


def test_defaults_are_the_stated_ones() -> None:
    defaults = {spec.name: spec.default for spec in EXECUTOR_PARAMETERS}
    assert defaults["tick_rate"] == 2.0
    assert defaults["use_tile_loader"] is False
    assert defaults["save_tree_nodes"] is False
    assert "feedback_collector" in defaults
