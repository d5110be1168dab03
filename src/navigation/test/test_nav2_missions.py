# SPDX-License-Identifier: Apache-2.0
"""What Nav2's servers say of a failure is what the client of the mission is told."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

from behavior_msgs.msg import FailureCause
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from behavior_executor.client import MissionClient
from behavior_executor.node import BehaviorExecutor
from behavior_ros import WorkerActionServer
from behavior_ros.interfaces import load_interface
from behavior_ros.testing import Spinner, until

NAV2 = pytest.mark.skipif(find_spec("nav2_msgs") is None, reason="nav2_msgs is not installed")
TREE = """<root BTCPP_format="4"><BehaviorTree ID="drive">{}</BehaviorTree></root>"""


def executor(spinner: Spinner, folder: Path, tree: str, nodes: str = "") -> BehaviorExecutor:
    (folder / "drive.xml").write_text(TREE.format(tree))
    (folder / "nodes.yaml").write_text(f"nodes: [{nodes}]")
    values = {
        "tree_directories": [str(folder)],
        "nodes_file": str(folder / "nodes.yaml"),
        "managers": [""],
        "tick_rate": 50.0,
    }
    made = BehaviorExecutor(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])
    spinner.start(made)
    return made


def serve(spinner: Spinner, kind: str, name: str, work: Callable[[Any, Any], Any]) -> None:
    """An action server that makes a result of each goal."""
    action, _ = load_interface(kind, "action")
    node = spinner.node("server")

    def run(context: Any) -> Any:
        return work(context, action.Result())

    spinner.do(lambda: WorkerActionServer(node, action, name, run))


@pytest.mark.parametrize(
    ("kind", "field", "code", "told"),
    [
        ("control_msgs/action/FollowJointTrajectory", "error_string", -4, "REPORTED"),
        pytest.param("nav2_msgs/action/FollowPath", "error_msg", 105, "REPORTED", marks=NAV2),
        pytest.param("nav2_msgs/action/FollowPath", "error_msg", 107, "TIMED_OUT", marks=NAV2),
    ],
)
def test_a_servers_error_is_the_missions_failure(
    spinner: Spinner, tmp_path: Path, kind: str, field: str, code: int, told: str
) -> None:
    package = kind.split("/", maxsplit=1)[0]
    pytest.importorskip(f"{package}.action", reason=f"{package} is not installed")

    def work(context: Any, result: Any) -> Any:
        result.error_code = code
        setattr(result, field, "the way is blocked by a cart")
        return result

    nodes = f"{{node: Follow, action: /follow, type: {kind}}}"
    executor(spinner, tmp_path, "<Follow name='follow' error_code='{code}'/>", nodes)
    serve(spinner, kind, "/follow", work)
    with MissionClient() as client:
        result = client.run("drive")
    failure = result.failure
    assert failure.kind == getattr(FailureCause, told)
    assert (failure.node, failure.sentence) == ("follow", "the way is blocked by a cart")
    constants = vars(load_interface(kind, "action")[0].Result)
    assert constants[failure.evidence] == code
    assert "the way is blocked by a cart (follow)" in result.message


def test_services_pause_and_resume_a_tree_of_nav2s(spinner: Spinner, tmp_path: Path) -> None:
    branches = "".join(
        f"<Sequence name='{name}'><Script code=\"mission_detail := '{name}'\"/>{rest}</Sequence>"
        for name, rest in (
            ("drives", "<Sleep msec='600000'/>"),
            ("stands", "<Sleep msec='600000'/>"),
            ("brakes", ""),
            ("starts", "<AlwaysSuccess/>"),
        )
    )
    ports = "pause_service_name='/pause' resume_service_name='/resume'"
    executor(
        spinner, tmp_path, f"<PauseResumeController {ports}>{branches}</PauseResumeController>"
    )
    asking = spinner.node("asking")
    clients = {verb: asking.create_client(Trigger, f"/{verb}") for verb in ("pause", "resume")}

    def ask(verb: str) -> Any:
        assert clients[verb].wait_for_service(30.0)
        future = clients[verb].call_async(Trigger.Request())
        until(future.done)
        return future.result()

    details: list[str] = []
    answers = []

    def watch(feedback: Any) -> None:
        if feedback.detail and feedback.detail not in details[-1:]:
            details.append(feedback.detail)

    with MissionClient() as client, ThreadPoolExecutor(1) as pool:
        mission = pool.submit(client.run, "drive", on_feedback=watch)
        until(lambda: details == ["drives"])
        answers += [ask("resume"), ask("pause")]
        until(lambda: details[-1] == "stands")
        answers += [ask("pause"), ask("resume")]
        until(lambda: details[-1] == "drives")
        with MissionClient() as other:
            other.cancel()
        assert not mission.result(60.0).succeeded
        answers.append(ask("pause"))
    assert [each.success for each in answers] == [False, True, False, True, False]
    assert "is not paused" in answers[0].message
    assert "is paused already" in answers[2].message
