# SPDX-License-Identifier: Apache-2.0
"""What Nav2's servers say of a failure is what the client of the mission is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from behavior_msgs.msg import FailureCause
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from behavior_executor.client import MissionClient
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_navigation.nav2.tree_nodes.robot import robot_of
from behavior_ros import WorkerActionServer
from behavior_ros.messages.interfaces import load_interface
from behavior_ros.testing import Spinner, until

NAV2 = pytest.mark.skipif(find_spec("nav2_msgs") is None, reason="nav2_msgs is not installed")
TREE = """<root BTCPP_format="4"><BehaviorTree ID="drive">{}</BehaviorTree></root>"""


def executor(spinner: Spinner, folder: Path, tree: str, nodes: str | Path = "") -> BehaviorExecutor:
    """An executor with one mission; nodes: entries of a nodes file, or the file."""
    (folder / "drive.xml").write_text(TREE.format(tree))
    file = nodes if isinstance(nodes, Path) else folder / "nodes.yaml"
    if isinstance(nodes, str):
        file.write_text(f"nodes: [{nodes}]")
    values = {
        "tree_directories": [str(folder)],
        "nodes_file": str(file),
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


NODES = """
  {node: ComputePathToPose, action: /compute_path_to_pose,
   type: nav2_msgs/action/ComputePathToPose},
  {node: FollowPath, action: /follow_path, type: nav2_msgs/action/FollowPath, resend: true},
  {node: NavigateToPose, action: /navigate_to_pose, type: nav2_msgs/action/NavigateToPose},
  {node: ClearLocalCostmap, service: /local_costmap/clear_entirely_local_costmap,
   type: nav2_msgs/srv/ClearEntireCostmap}
"""
OWN_NODES = Path(__file__).parents[1] / "config" / "nav2_nodes.yaml"
"""Nav2's servers by the names and ports that Nav2's own trees use."""
NAVIGATE = """
  <RecoveryNode number_of_retries="1" name="navigate">
    <PipelineSequence>
      <RateController hz="5.0">
        <ComputePathToPose name="plan" goal='{goal}' path="{path}" error_code="{plan_error}"/>
      </RateController>
      <FollowPath name="follow" path="{path}" error_code="{follow_error}"/>
    </PipelineSequence>
    <Sequence>
      <WouldAControllerRecoveryHelp error_code="{follow_error}"/>
      <ClearLocalCostmap name="clear"/>
    </Sequence>
  </RecoveryNode>
"""


def pose_text(x: float, frame: str = "map") -> str:
    """A pose as a port's text."""
    pose = {"header": {"frame_id": frame}, "pose": {"position": {"x": x}}}
    return "json:" + json.dumps(pose)


@pytest.fixture
def nav2(spinner: Spinner) -> Any:
    from nav2_servers import Nav2Servers

    node = spinner.node("nav2")
    return Nav2Servers(node, speed=2.0)


@NAV2
def test_a_mission_drives_by_nav2s_planner_controller_and_costmap(
    spinner: Spinner, tmp_path: Path, nav2: Any
) -> None:
    nav2.wall = 1.0
    executor(spinner, tmp_path, NAVIGATE.replace("{goal}", pose_text(2.0)), NODES)
    with MissionClient() as client:
        assert client.run("drive").succeeded
    assert nav2.at == pytest.approx((2.0, 0.0), abs=1e-6)
    assert nav2.goals.count("clear") == 1
    before = nav2.goals[: nav2.goals.index("clear")]
    assert before.count("plan") >= 2  # the path is renewed while it is followed
    assert before.count("follow") >= 2


@NAV2
def test_what_nav2s_planner_says_is_why_a_drive_fails(
    spinner: Spinner, tmp_path: Path, nav2: Any
) -> None:
    executor(spinner, tmp_path, NAVIGATE.replace("{goal}", pose_text(2.0, "moon")), NODES)
    with MissionClient() as client:
        result = client.run("drive")
    assert nav2.at == (0.0, 0.0)
    failure = result.failure
    assert (failure.node, failure.evidence) == ("plan", "TF_ERROR")
    assert failure.sentence == "the goal is in no known frame"


@NAV2
def test_navigate_to_pose_ends_with_the_mission(
    spinner: Spinner, tmp_path: Path, nav2: Any
) -> None:
    tree = f"<Timeout msec='300'><NavigateToPose name='go' pose='{pose_text(100.0)}'/></Timeout>"
    executor(spinner, tmp_path, tree, NODES)
    with MissionClient() as client:
        result = client.run("drive")
    assert "timeout of 300 ms" in result.message
    until(lambda: not nav2.driving)
    assert 0.0 < nav2.at[0] < 100.0


AS_NAV2_WRITES = """
  <RecoveryNode number_of_retries="2" name="NavigateRecovery">
    <PipelineSequence>
      <ControllerSelector selected_controller="{controller}" default_controller="FollowPath"
                          topic_name="controller_selector"/>
      <PlannerSelector selected_planner="{planner}" default_planner="GridBased"/>
      <RateController hz="5.0">
        <ComputePathToPose goal="{goal}" path="{path}" planner_id="{planner}"
                           error_code_id="{plan_error}" error_msg="{plan_message}"/>
      </RateController>
      <FollowPath path="{path}" controller_id="{controller}" error_code_id="{follow_error}"/>
    </PipelineSequence>
    <Sequence>
      <Fallback>
        <WouldAControllerRecoveryHelp error_code="{follow_error}"/>
        <WouldAPlannerRecoveryHelp error_code="{plan_error}"/>
      </Fallback>
      <ReactiveFallback>
        <GoalUpdated/>
        <RoundRobin>
          <BackUp backup_dist="0.30" backup_speed="0.15" error_code_id="{backup_error}"/>
          <ClearEntireCostmap service_name="local_costmap/clear_entirely_local_costmap"/>
        </RoundRobin>
      </ReactiveFallback>
    </Sequence>
  </RecoveryNode>
"""


@NAV2
def test_a_tree_as_nav2_writes_it_drives_to_the_missions_goal(
    spinner: Spinner, tmp_path: Path, nav2: Any
) -> None:
    nav2.wall = 1.0
    executor(spinner, tmp_path, AS_NAV2_WRITES, OWN_NODES)
    with MissionClient() as client:
        assert client.run("drive", parameters={"goal": "map;2.0;0;0"}).succeeded
    assert nav2.at == pytest.approx((2.0, 0.0), abs=1e-6)
    recoveries = [goal for goal in nav2.goals if goal in ("back up", "clear")]
    assert recoveries == ["back up", "clear"]
    assert nav2.chosen == {("GridBased", "FollowPath")}


@NAV2
@pytest.mark.parametrize(
    "name",
    [
        "navigate_to_pose_w_replanning_and_recovery",
        *(f"navigate_w_replanning_{by}" for by in ("time", "speed", "distance")),
        "navigate_w_replanning_only_if_goal_is_updated",
    ],
)
def test_nav2s_own_trees_are_missions(
    spinner: Spinner, tmp_path: Path, nav2: Any, name: str
) -> None:
    try:
        folder = Path(get_package_share_directory("nav2_bt_navigator")) / "behavior_trees"
    except PackageNotFoundError:
        pytest.skip("nav2_bt_navigator is not installed")
    tree = (folder / f"{name}.xml").read_text(encoding="utf-8")
    if "<IsGoalNearby" in tree:
        pytest.skip("a tree of Lyrical's, which asks IsGoalNearby, TruncatePathLocal, ValidatePath")
    made = executor(spinner, tmp_path, "<AlwaysSuccess/>", OWN_NODES)
    (tmp_path / f"{name}.xml").write_text(tree)
    if name.endswith("distance"):  # it needs to know where the robot is
        spinner.do(lambda: robot_of(made).position("map", "base_link"))
        until(lambda: spinner.do(lambda: robot_of(made).position("map", "base_link")))
    with MissionClient() as client:
        result = client.run(name, parameters={"goal": "map;2.0;0;0"})
    assert result.succeeded, result.message
    assert nav2.at == pytest.approx((2.0, 0.0), abs=1e-6)
