# SPDX-License-Identifier: Apache-2.0
"""What a user of ROS 2 expects of missions: they wait for servers, say what is missing, end
CANCELED, and their topics tell whoever comes late the newest value."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from behavior_msgs.action import ExecuteMission, Wait
from behavior_msgs.msg import FailureCause, MissionAction, MissionFeedback, TreeStatus
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from behavior_executor.client import MissionClient
from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.missions.mission import Code, State
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import Need, WorkerActionServer, service_need
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import Spinner, until
from behavior_tree import BehaviorTreeFactory, NodeStatus

NODES = """nodes:
- {node: Brew, action: brew, type: behavior_msgs/action/Wait, offered_by: kitchen}
- {node: Cups, service: /cups, type: std_srvs/srv/Trigger}
- {node: Smell, subscriber: /smell, type: std_msgs/msg/String}
- {node: Music, subscriber: /music, type: std_msgs/msg/String, optional: true}
- {node: Say, publisher: /speech, type: std_msgs/msg/String}
"""
COFFEE = """<!-- Makes coffee -->
<root BTCPP_format="4" main_tree_to_execute="coffee">
  <BehaviorTree ID="coffee">
    <SubTree ID="brewing"/>
  </BehaviorTree>
  <BehaviorTree ID="brewing">
    <Sequence>
      <Brew name="first" duration="0.0"/>
      <ForceSuccess><Music/></ForceSuccess>
      <Brew name="second" duration="0.0"/>
    </Sequence>
  </BehaviorTree>
</root>
"""
LUNCH = """<!-- Needs everything -->
<root BTCPP_format="4"><BehaviorTree ID="lunch">
  <Sequence>
    <Cups/>
    <Smell/>
    <Say data="hello"/>
    <Stove/>
  </Sequence>
</BehaviorTree></root>
"""
FOREVER = """<!-- Never ends -->
<root BTCPP_format="4"><BehaviorTree ID="forever"><Sleep msec="3600000"/></BehaviorTree></root>
"""


class Kitchen(BehaviorManager):
    """Brings a node that needs a service."""

    name = "kitchen"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        from std_srvs.srv import SetBool

        self.client = node.create_client(SetBool, "stove")

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        factory.register_simple_action("Stove", lambda node: NodeStatus.SUCCESS)

    def needs(self) -> dict[str, list[Need]]:
        return {"Stove": [service_need(self.node, self.client, offered_by="oven")]}


class House:
    """An executor whose servers are not there yet, and those who ask it."""

    def __init__(self, spinner: Spinner, folder: Path, **parameters: object) -> None:
        for name, text in (("coffee", COFFEE), ("lunch", LUNCH), ("forever", FOREVER)):
            (folder / f"{name}.xml").write_text(text)
        (folder / "nodes.yaml").write_text(NODES)
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": str(folder / "nodes.yaml"),
            "managers": [f"{__name__}:Kitchen"],
            "tick_rate": 20.0,
            **parameters,
        }
        self.folder = folder
        self.spinner = spinner
        self.executor = BehaviorExecutor(
            namespace="/house",
            cli_args=["--ros-args", "-r", "/cups:=/cupboard/cups"],
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self.outside = Node("outside")
        self.action = ActionClient(self.outside, ExecuteMission, "/house/mission/execute")
        spinner.start(self.executor, self.outside)
        until(self.action.server_is_ready, what="the executor")

    def send(self, name: str, on_feedback=None):
        mission = MissionAction(name=name)
        goal = ExecuteMission.Goal(mission=mission)
        told = on_feedback or (lambda message: None)
        sent = self.spinner.do(
            lambda: self.action.send_goal_async(
                goal, lambda message: told(message.feedback.feedback)
            )
        )
        until(sent.done, what="the acknowledgement")
        return sent.result()

    def end(self, handle) -> ExecuteMission.Impl.GetResultService.Response:
        result = self.spinner.do(handle.get_result_async)
        until(result.done, what="the result")
        return result.result()


@pytest.fixture
def lean(ros: None) -> Iterator[Spinner]:
    made = Spinner(LeanExecutor())
    yield made
    made.stop()


def test_a_mission_sent_before_its_server_is_up_waits_for_it(lean: Spinner, tmp_path: Path) -> None:
    house = House(lean, tmp_path, preflight_patience=3600.0)
    texts: list[tuple[int, str]] = []
    handle = house.send("coffee", lambda told: texts.append((told.state, told.text)))
    wanted = "action /house/brew (behavior_msgs/action/Wait)"
    until(lambda: texts and wanted in texts[-1][1], what="the feedback says what is missing")
    assert texts[-1][0] == State.INITIALIZING
    kitchen = lean.node("kitchen")
    lean.do(WorkerActionServer, kitchen, Wait, "/house/brew", lambda context: Wait.Result())
    assert house.end(handle).status == GoalStatus.STATUS_SUCCEEDED


def test_a_mission_says_before_it_starts_what_is_missing(lean: Spinner, tmp_path: Path) -> None:
    house = House(lean, tmp_path, preflight_patience=0.0)
    end = house.end(house.send("lunch"))
    assert end.status == GoalStatus.STATUS_ABORTED
    why = end.result.failure
    assert end.result.code == Code.SERVER_LOST
    assert why.kind == FailureCause.SERVER_LOST
    assert why.node.startswith("Cups")
    file = tmp_path / "lunch.xml"
    for text in (
        f"service /cupboard/cups (std_srvs/srv/Trigger) for {why.node} ({file}:4)",
        "topic /smell (std_msgs/msg/String) for Smell",
        "service /house/stove (std_srvs/srv/SetBool) for Stove",
    ):
        assert text in why.sentence
    assert "speech" not in why.sentence, "who publishes needs nobody"
    assert "start the node 'oven' and who offers the rest" in why.remedy
    assert end.result.message == f"{why.sentence}: {why.remedy}"


def test_the_question_whether_a_mission_could_start(lean: Spinner, tmp_path: Path) -> None:
    House(lean, tmp_path)
    with MissionClient(namespace="/house") as client:
        missing = client.preflight(MissionAction(name="coffee"))
        assert missing.code == Code.SERVER_LOST
        first = "coffee/brewing" if "coffee/" in missing.failure.node else "brewing"
        assert missing.failure.node.startswith(first)
        assert missing.failure.evidence == "action /house/brew"
        assert f"({tmp_path / 'coffee.xml'}:8) and 1 more node" in missing.message
        assert "start the node 'kitchen'" in missing.message
        assert "music" not in missing.message, "the tree copes without"
        assert client.preflight(MissionAction(name="cofee")).code == Code.UNKNOWN_MISSION
        pause = MissionAction(type=MissionAction.PAUSE)
        assert client.preflight(pause).code == Code.INVALID_REQUEST
        kitchen = lean.node("kitchen")
        lean.do(WorkerActionServer, kitchen, Wait, "/house/brew", lambda context: Wait.Result())
        until(lambda: client.preflight(MissionAction(name="coffee")).succeeded)
        assert client.history() == ()


def test_a_name_that_is_there_with_another_type_is_told(lean: Spinner, tmp_path: Path) -> None:
    House(lean, tmp_path)
    elsewhere = rclpy.Context()
    rclpy.init(context=elsewhere)
    kitchen = Node("kitchen", context=elsewhere)
    server = ActionServer(kitchen, ExecuteMission, "/house/brew", lambda handle: None)
    with MissionClient(namespace="/house") as client:
        other = "which is there with another type, behavior_msgs/action/ExecuteMission,"
        until(lambda: other in client.preflight(MissionAction(name="coffee")).message)
    server.destroy()
    kitchen.destroy_node()
    rclpy.shutdown(context=elsewhere)


def test_a_cancelled_mission_ends_canceled(lean: Spinner, tmp_path: Path) -> None:
    house = House(lean, tmp_path)
    states: list[int] = []
    handle = house.send("forever", lambda told: states.append(told.state))
    until(lambda: State.RUNNING in states)
    answer = lean.do(handle.cancel_goal_async)
    until(answer.done)
    assert [bytes(each.goal_id.uuid) for each in answer.result().goals_canceling] == [
        bytes(handle.goal_id.uuid)
    ]
    end = house.end(handle)
    assert end.status == GoalStatus.STATUS_CANCELED
    assert end.result.code == Code.CANCELED_BY_CLIENT
    assert end.result.failure.kind == FailureCause.CANCELED


SEND_GOAL = """
import signal

import rclpy
from action_msgs.msg import GoalStatus
from behavior_msgs.action import ExecuteMission
from rclpy.action import ActionClient, ActionServer
from rclpy.signals import SignalHandlerOptions

interrupted = []
signal.signal(signal.SIGINT, lambda *_: interrupted.append(True))


def spin_until(future):
    while not (future.done() or interrupted):
        rclpy.spin_once(node, timeout_sec=0.1)
    if interrupted:
        raise KeyboardInterrupt


rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
node = rclpy.create_node("send_goal")
client = ActionClient(node, ExecuteMission, "/house/mission/execute")
goal = ExecuteMission.Goal()
goal.mission.name = "forever"
handle = None
try:
    client.wait_for_server()
    tell = lambda message: print("state", message.feedback.feedback.state, flush=True)
    sent = client.send_goal_async(goal, tell)
    spin_until(sent)
    handle = sent.result()
    result = handle.get_result_async()
    spin_until(result)
except KeyboardInterrupt:
    pass
finally:
    open_states = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
    if handle is not None and handle.status in open_states:
        cancelled = handle.cancel_goal_async()
        rclpy.spin_until_future_complete(node, cancelled)
        (info,) = cancelled.result().goals_canceling
        assert info.goal_id == handle.goal_id
        print("Goal canceled.", flush=True)
    client.destroy()
    node.destroy_node()
    rclpy.shutdown()
"""
"""As `ros2 action send_goal` does when Ctrl-C comes between two callbacks.

In the middle of one, rclpy's executor keeps the client's entity busy for ever (1 run in 4).
"""


def test_ctrl_c_in_send_goal_ends_cleanly(lean: Spinner, tmp_path: Path) -> None:
    House(lean, tmp_path)
    sender = subprocess.Popen(
        [sys.executable, "-c", SEND_GOAL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert sender.stdout is not None
        for line in sender.stdout:
            if line.strip() == f"state {int(State.RUNNING)}":
                break
        sender.send_signal(signal.SIGINT)
        out, errors = sender.communicate(timeout=90.0)
    finally:
        sender.kill()
    assert (sender.returncode, errors) == (0, "")
    assert "Goal canceled." in out
    with MissionClient(namespace="/house") as client:
        until(lambda: client.history()[0].state == State.CANCELED)


def test_ctrl_c_in_the_midst_of_feedback_cancels_the_mission(lean: Spinner, tmp_path: Path) -> None:
    House(lean, tmp_path)

    def interrupt(told: MissionFeedback) -> None:
        if told.state == State.RUNNING:
            signal.raise_signal(signal.SIGINT)

    with MissionClient(namespace="/house") as client:
        with pytest.raises(KeyboardInterrupt):
            client.execute(MissionAction(name="forever"), on_feedback=interrupt)
        # The answer to its cancellation reached the client before it gave up waiting.
        assert client.history()[0].state == State.CANCELED
        assert client.preflight(MissionAction(name="forever")).succeeded


def test_whoever_comes_late_hears_the_newest_value(lean: Spinner, tmp_path: Path) -> None:
    house = House(lean, tmp_path)
    states: list[int] = []
    handle = house.send("forever", lambda told: states.append(told.state))
    until(lambda: State.RUNNING in states)
    until(lean.do(handle.cancel_goal_async).done)
    house.end(handle)
    heard: dict[str, list] = {}
    for kind, topic in (
        (MissionFeedback, "/house/mission/feedback"),
        (TreeStatus, "/house/behavior/tree_status"),
        (String, "/house/behavior/tree_xml"),
    ):
        heard[topic] = []
        # The default quality of service, as any program takes it.
        lean.do(house.outside.create_subscription, kind, topic, heard[topic].append, 10)
    until(lambda: all(heard.values()), what="one message on each topic")
    assert heard["/house/mission/feedback"][-1].state == State.CANCELED
    assert heard["/house/behavior/tree_status"][-1].tree_id == "forever"
    assert heard["/house/behavior/tree_status"][-1].tick >= 1
    assert 'ID="forever"' in heard["/house/behavior/tree_xml"][-1].data
