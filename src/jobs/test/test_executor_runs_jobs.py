# SPDX-License-Identifier: Apache-2.0
"""The executor node with real actions, topics and services, and jobs that it runs."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import Metrics, MissionAction, MissionFeedback, TreeStatus
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from fake_robot import FakeScene, FakeSkills
from kinematic_world import ORDER, World
from rcl_interfaces.msg import Log
from rclpy.action import ActionClient
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger

from behavior_executor.client import MissionClient, MissionClientError
from behavior_executor.missions.mission import Code, Kind, Policy, State
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED
from behavior_ros.testing import Spinner, until

BROKEN = """<!-- Broken -->
<root BTCPP_format="4"><BehaviorTree ID="broken">
  <Pikc/>
</BehaviorTree></root>
"""
FOREVER = """<!-- Never ends -->
<root BTCPP_format="4"><BehaviorTree ID="forever">
  <KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>
</BehaviorTree></root>
"""
PICK = """<!-- Picks one block -->
<root BTCPP_format="4"><BehaviorTree ID="pick_one">
  <RetryUntilSuccessful num_attempts="2">
    <Pick object_name="blue_block" phase="{@mission_phase}"/>
  </RetryUntilSuccessful>
</BehaviorTree></root>
"""


def make_executor(folder: Path, **parameters: object) -> BehaviorExecutor:
    for name, text in (("broken", BROKEN), ("forever", FOREVER), ("pick_one", PICK)):
        (folder / f"{name}.xml").write_text(text)
    values = {
        "tree_directories": ["*", str(folder)],
        "tick_rate": 20.0,
        **parameters,
    }
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    return BehaviorExecutor(parameter_overrides=overrides)


class Observer(Node):
    """Keeps everything that the executor publishes."""

    def __init__(self) -> None:
        super().__init__("observer")
        self.feedback: list[MissionFeedback] = []
        self.statuses: list[TreeStatus] = []
        self.xml: list[str] = []
        self.metrics: list[Metrics] = []
        self.health: list[DiagnosticArray] = []
        self.log: list[Log] = []
        log = QOS_EVENT_LOG
        # Loggers keep what they said for who comes late.
        kept = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(Log, "/rosout", self.log.append, kept)
        self.create_subscription(MissionFeedback, "/mission/feedback", self.feedback.append, log)
        self.create_subscription(TreeStatus, "/behavior/tree_status", self.statuses.append, log)
        self.create_subscription(
            String, "/behavior/tree_xml", lambda m: self.xml.append(m.data), QOS_LATCHED
        )
        self.create_subscription(Metrics, "/behavior/metrics", self.metrics.append, log)
        self.create_subscription(DiagnosticArray, "/diagnostics", self.health.append, 10)
        self.missions = self.create_publisher(MissionAction, "/mission/action", QOS_COMMAND)
        self.action = ActionClient(self, ExecuteMission, "/mission/execute")
        self.cancel = self.create_client(Trigger, "/mission/cancel")

    def states(self, action_id: str) -> list[State]:
        seen = [State(m.state) for m in self.feedback if m.action_id == action_id]
        return [state for i, state in enumerate(seen) if i == 0 or state != seen[i - 1]]

    def last(self, action_id: str) -> MissionFeedback | None:
        return next((m for m in reversed(self.feedback) if m.action_id == action_id), None)

    def ended(self, action_id: str) -> MissionFeedback | None:
        last = self.last(action_id)
        return last if last is not None and last.state >= State.FINISHED else None


class Stack:
    """Executor, fakes and observer in one thread."""

    def __init__(self, spinner: Spinner, executor: BehaviorExecutor, duration: float) -> None:
        self.world = World()
        self.executor = executor
        self.scene = FakeScene(self.world)
        self.skills = FakeSkills(self.world, duration)
        self.observer = Observer()
        self.spinner = spinner
        spinner.start(executor, self.scene, self.skills, self.observer)
        until(lambda: self.observer.action.server_is_ready(), what="server")
        until(lambda: self.observer.missions.get_subscription_count() > 0, what="subscription")
        observed = {each.topic_name for each in self.observer.subscriptions}
        told = [each for each in executor.publishers if each.topic_name in observed]
        until(lambda: all(each.get_subscription_count() for each in told), what="publishers")

    def publish(self, name: str, action_id: str, **fields: object) -> None:
        self.observer.missions.publish(MissionAction(name=name, action_id=action_id, **fields))

    def send(self, name: str, **fields: object) -> object:
        """Send a goal; returns its accepted handle."""
        goal = ExecuteMission.Goal(mission=MissionAction(name=name, **fields))
        future = self.spinner.do(self.observer.action.send_goal_async, goal)
        until(future.done, what="acknowledgement")
        assert future.result().accepted
        return future.result()

    def result(self, handle: object, timeout: float = 20.0) -> tuple[int, ExecuteMission.Result]:
        future = self.spinner.do(handle.get_result_async)
        until(future.done, timeout, "result")
        return future.result().status, future.result().result


@pytest.fixture
def stack(spinner: Spinner, tmp_path: Path) -> Stack:
    return Stack(spinner, make_executor(tmp_path), 0.15)


@pytest.fixture
def slow_stack(spinner: Spinner, tmp_path: Path) -> Stack:
    return Stack(spinner, make_executor(tmp_path), 30.0)


def test_client_runs_the_mission_and_everything_is_reported(stack: Stack) -> None:
    feedback: list[MissionFeedback] = []
    with MissionClient() as client:
        listed = {info.name: info.description for info in client.list()}
        assert set(listed) >= {"broken", "forever", "pick_one", "stack_blocks"}
        assert listed["stack_blocks"].startswith("Stack the blocks")
        outcome = client.run("stack_blocks", on_feedback=feedback.append, timeout=240)
    assert outcome.succeeded, outcome.message
    assert outcome.message == " ".join(ORDER)
    assert outcome.duration > 1.0
    assert stack.world.tower() == list(ORDER)
    assert stack.skills.goals[-2:] == ["home", "close"]
    assert len(stack.skills.goals) == 10
    assert stack.skills.cancelled == []
    progress = [m.progress for m in feedback]
    assert progress == sorted(progress, key=lambda p: (p > -1, p))
    assert {m.skill for m in feedback} >= {"Pick", "Place", "MoveArm"}
    assert "reach" in {m.phase for m in feedback}
    assert any("pick" in m.active_path for m in feedback)
    observer = stack.observer
    until(lambda: observer.feedback and observer.feedback[-1].state == State.FINISHED)
    assert observer.feedback[-1].progress == 1.0
    ticks = [m.tick for m in observer.statuses]
    assert ticks == list(range(1, len(ticks) + 1))
    assert all(m.uids and len(m.uids) == len(m.statuses) for m in observer.statuses)
    assert observer.statuses[0].tree_id == "stack_blocks"
    assert "ObserveTower" in observer.xml[-1]

    def measured() -> object:
        names = {m.name: m for m in (observer.metrics[-1].metrics if observer.metrics else [])}
        return names.get("execution_time") if "missions_success" in names else None

    histogram = until(measured)
    assert histogram.samples >= len(ticks) - 1
    assert 0.0 < histogram.median < 0.05
    executor_health = [
        status
        for array in observer.health
        for status in array.status
        if status.name == "behavior_executor: executor"
    ]
    assert any("runs 'stack_blocks'" in status.message for status in executor_health)


def test_doubtful_trees_run_and_are_told_of(stack: Stack, tmp_path: Path) -> None:
    unused = '<BehaviorTree ID="spare"><AlwaysSuccess/></BehaviorTree></root>'
    text = FOREVER.replace("</root>", unused).replace("KeepRunningUntilFailure", "Inverter")
    text = text.replace("<root", '<root main_tree_to_execute="forever"')
    (tmp_path / "forever.xml").write_text(text)
    stack.result(stack.send(name="forever"))

    def told() -> list[Log]:
        return [each for each in stack.observer.log if "forever.xml" in each.msg]

    until(told, what="warning")
    (warning,) = told()
    assert warning.level == LoggingSeverity.WARN
    assert "spare" in warning.msg


def test_wrong_inputs_are_answered_and_the_executor_goes_on(stack: Stack) -> None:
    for fields, code, words in (
        ({"name": "stack_blox"}, Code.UNKNOWN_MISSION, "'stack_blocks'"),
        ({"name": ""}, Code.INVALID_REQUEST, "name is empty"),
        ({"name": "forever", "type": 77}, Code.INVALID_REQUEST, "type 77"),
        ({"name": "forever", "policy": 9}, Code.INVALID_REQUEST, "policy 9"),
        ({"name": "", "type": int(Kind.LOAD_MAP)}, Code.INVALID_REQUEST, "map_id is empty"),
        (
            {"name": "stack_blocks", "parameters": [KeyValue(key="colour", value="1")]},
            Code.INVALID_REQUEST,
            "no parameter 'colour'",
        ),
        (
            {"name": "stack_blocks", "parameters": [KeyValue(key="order", value="1")] * 2},
            Code.INVALID_REQUEST,
            "given twice",
        ),
        ({"name": "broken"}, Code.INVALID_TREE, "broken.xml:3"),
    ):
        status, result = stack.result(stack.send(**fields))
        assert status == GoalStatus.STATUS_ABORTED
        assert result.code == code
        assert words in result.message
        stack.publish(action_id=f"topic {words}", **fields)
        last = until(lambda words=words: stack.observer.ended(f"topic {words}"))
        assert (last.state, last.code) == (State.FAILED, code)
        assert words in last.text
    stack.publish("forever", "survivor")
    until(lambda: stack.observer.states("survivor")[-1:] == [State.RUNNING])


def test_second_mission_under_each_policy(stack: Stack) -> None:
    first = stack.send("forever", action_id="first")
    until(lambda: stack.observer.states("first")[-1:] == [State.RUNNING])
    _, refused = stack.result(stack.send("forever", action_id="second"))
    assert refused.code == Code.BUSY
    _, duplicate = stack.result(stack.send("forever", action_id="first", policy=Policy.QUEUE))
    assert duplicate.code == Code.INVALID_REQUEST
    stack.publish("forever", "queued", policy=int(Policy.QUEUE))
    until(lambda: stack.observer.states("queued") == [State.WAITING])
    stack.publish("forever", "urgent", policy=int(Policy.QUEUE), priority=5)
    until(lambda: stack.observer.states("urgent") == [State.WAITING])
    replacing = stack.send("forever", action_id="replacing", policy=int(Policy.REPLACE))
    status, result = stack.result(first)
    assert (status, result.code) == (GoalStatus.STATUS_ABORTED, Code.REPLACED)
    until(lambda: stack.observer.states("replacing")[-1:] == [State.RUNNING])
    assert stack.observer.states("urgent") == [State.WAITING]
    stack.publish("", "replacing", type=int(Kind.CANCEL))
    assert stack.result(replacing)[1].code == Code.CANCELED_BY_CLIENT
    until(lambda: stack.observer.states("urgent")[-1:] == [State.RUNNING])
    assert stack.observer.states("queued") == [State.WAITING]


def test_cancel_stops_the_skill_however_it_is_asked_for(slow_stack: Stack) -> None:
    stack = slow_stack
    for way in ("goal", "topic", "service"):
        before = len(stack.skills.cancelled)
        handle = stack.send("stack_blocks", action_id=way)
        until(lambda n=before: len(stack.skills.goals) > n, what="pick")
        if way == "goal":
            stack.spinner.do(handle.cancel_goal_async)
        elif way == "topic":
            stack.publish("", "", type=int(Kind.CANCEL))
        else:
            future = stack.spinner.do(stack.observer.cancel.call_async, Trigger.Request())
            until(future.done)
            assert future.result().success
        status, result = stack.result(handle)
        assert result.code == Code.CANCELED_BY_CLIENT
        wanted = GoalStatus.STATUS_CANCELED if way == "goal" else GoalStatus.STATUS_ABORTED
        assert status == wanted
        until(lambda n=before: len(stack.skills.cancelled) == n + 1, what="the skill's end")
    future = stack.spinner.do(stack.observer.cancel.call_async, Trigger.Request())
    until(future.done)
    assert not future.result().success
    assert "no mission runs" in future.result().message


def test_goal_cancelled_at_once_ends_cancelled(stack: Stack) -> None:
    for delay in (0.0, 0.02, 0.06, 0.1):
        handle = stack.send("forever")
        time.sleep(delay)
        stack.spinner.do(handle.cancel_goal_async)
        status, result = stack.result(handle)
        assert (status, result.code) == (GoalStatus.STATUS_CANCELED, Code.CANCELED_BY_CLIENT)


def test_pause_stops_the_arm_and_resume_goes_on(slow_stack: Stack) -> None:
    stack = slow_stack
    stack.publish("stack_blocks", "p")
    until(lambda: stack.skills.goals, what="pick")
    stack.publish("", "p", type=int(Kind.PAUSE))
    until(lambda: stack.skills.cancelled, what="cancellation")
    until(lambda: stack.observer.states("p")[-1] is State.PAUSED, what="pause")
    stack.skills.duration = 0.1
    stack.publish("", "", type=int(Kind.RESUME))
    last = until(lambda: stack.observer.ended("p"))
    assert last.state == State.FINISHED


def test_client_timeout_cancels(stack: Stack) -> None:
    with MissionClient() as client:
        outcome = client.run("forever", timeout=0.5)
        assert outcome.code == Code.TIMED_OUT
        with pytest.raises(MissionClientError, match="no mission runs"):
            client.cancel()
        runner = threading.Thread(target=lambda: client.run("forever"))
        runner.start()
        until(lambda: stack.executor.core.queue.running)
        with MissionClient(node_name="other_client") as other:
            assert "forever" in other.cancel()
        runner.join(60.0)
        assert not runner.is_alive()


@pytest.fixture
def lonely(spinner: Spinner, tmp_path: Path) -> tuple[BehaviorExecutor, Observer]:
    """An executor whose skills live in another process."""
    executor, observer = make_executor(tmp_path), Observer()
    spinner.start(executor, observer)
    until(lambda: observer.missions.get_subscription_count() > 0)
    return executor, observer


class SkillsProcess:
    def __init__(self, duration: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "fake_robot.py"), str(duration)],
            env=os.environ,
        )

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(240.0)


@pytest.fixture
def processes() -> Iterator[list[SkillsProcess]]:
    made: list[SkillsProcess] = []
    yield made
    for process in made:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_skills_end_the_mission_in_time(
    lonely: tuple[BehaviorExecutor, Observer],
    processes: list[SkillsProcess],
    number: int,
) -> None:
    _, observer = lonely
    processes.append(SkillsProcess(duration=30.0))
    until(lambda: observer.count_publishers("/pick/_action/status") > 0)
    observer.missions.publish(MissionAction(name="pick_one", action_id="m"))
    until(lambda: (m := observer.last("m")) and m.phase == "reach", 60.0, "pick")
    killed = time.monotonic()
    processes[-1].kill(number)
    last = until(lambda: observer.ended("m"))
    took = time.monotonic() - killed
    print(f"mission ended {took:.2f} s after signal {number}: {last.text}")
    if number == signal.SIGKILL:
        assert last.code == Code.SERVER_LOST
        assert "server lost" in last.text
    assert last.state == State.FAILED
    assert took < 15.0, "the graph forgets a killed process after 20 s"
    # The executor lives on: the next mission succeeds with the next process.
    # A killed process haunts the graph until its lease ends, one that was told to stop does not.
    ghosts = 1 if number == signal.SIGKILL else 0
    processes.append(SkillsProcess(duration=0.1))
    until(lambda: observer.count_publishers("/pick/_action/status") > ghosts)
    observer.missions.publish(MissionAction(name="pick_one", action_id="n"))
    assert until(lambda: observer.ended("n"), 60.0).code == Code.SUCCESS


def test_skills_that_come_back_go_on(
    spinner: Spinner, tmp_path: Path, processes: list[SkillsProcess]
) -> None:
    executor, observer = make_executor(tmp_path, server_lost_grace=20.0), Observer()
    spinner.start(executor, observer)
    processes.append(SkillsProcess(duration=30.0))
    until(lambda: observer.missions.get_subscription_count() > 0)
    until(lambda: observer.count_publishers("/pick/_action/status") > 0)
    observer.missions.publish(MissionAction(name="pick_one", action_id="m"))
    until(lambda: (m := observer.last("m")) and m.phase == "reach", 60.0, "pick")
    processes[-1].kill()
    processes.append(SkillsProcess(duration=0.1))
    last = until(lambda: observer.ended("m"))
    assert last.code == Code.SUCCESS
    assert any("waiting for a server" in m.text for m in observer.feedback)
