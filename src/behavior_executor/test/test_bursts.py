# SPDX-License-Identifier: Apache-2.0
"""Hundreds of requests at once, and hostile ones: each is answered, and none is carried out twice.

The long form with a thousand requests and two hundred clients is benchmarks/executor_bursts.py.
"""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback
from behavior_msgs.srv import ListMissionRecords
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path as Route
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from behavior_executor.missions.mission import Code, Kind, Policy, State
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_executor.running.tree_run import TreeRun
from behavior_ros import QOS_REQUESTS, BurstActionClient
from behavior_ros.testing import Spinner, until

CAPACITY = 20
REQUESTS = 80
TREE = """<!-- {0} -->
<root BTCPP_format="4"><BehaviorTree ID="{0}">{1}</BehaviorTree></root>
"""
FOREVER = "<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>"


class CountingExecutor(BehaviorExecutor):
    """Counts what it runs."""

    def __init__(self, folder: Path, **parameters: object) -> None:
        self.runs: Counter[str] = Counter()
        (folder / "quick.xml").write_text(TREE.format("quick", "<AlwaysSuccess/>"))
        (folder / "forever.xml").write_text(TREE.format("forever", FOREVER))
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": "",
            "managers": [""],
            "queue_capacity": CAPACITY,
            "journal_file": str(folder / "missions.journal"),
            **parameters,
        }
        super().__init__(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])

    def tree_loaded(self, mission: object, run: TreeRun) -> None:
        self.runs[mission.action_id] += 1
        super().tree_loaded(mission, run)


class Outside(Node):
    """A client in another thread, as in another process."""

    def __init__(self) -> None:
        super().__init__("outside")
        self.feedback: list[MissionFeedback] = []
        self.create_subscription(
            MissionFeedback, "/mission/feedback", self.feedback.append, QOS_REQUESTS
        )
        self.topic = self.create_publisher(MissionAction, "/mission/action", QOS_REQUESTS)
        self.action = BurstActionClient(self, ExecuteMission, "/mission/execute")
        self.history = self.create_client(ListMissionRecords, "/mission/history")

    def answers(self, action_id: str) -> list[tuple[State, Code, str]]:
        return [
            (State(m.state), Code(m.code), m.text)
            for m in list(self.feedback)
            if m.action_id == action_id
        ]

    def refusal(self, action_id: str) -> tuple[State, Code, str]:
        return until(
            lambda: next((a for a in self.answers(action_id) if a[1] is not Code.SUCCESS), None),
            what=f"an answer to {action_id!r}",
        )


@pytest.fixture
def outside(spinner: Spinner, tmp_path: Path) -> Iterator[Outside]:
    executor, node, other = CountingExecutor(tmp_path), Outside(), Spinner()
    node.executed, node.spinner = executor, other
    spinner.start(executor)
    other.start(node)
    until(node.action.server_is_ready)
    until(
        lambda: node.topic.get_subscription_count() and node.count_publishers("/mission/feedback")
    )
    until(node.history.service_is_ready)
    # What is in the graph may not be connected yet.
    hello = MissionAction(action_id="hello", type=int(Kind.CANCEL))

    def met() -> bool:
        node.topic.publish(hello)
        time.sleep(0.5)
        return bool(node.answers("hello"))

    until(met, what="an answer on the topic")
    yield node
    other.stop()


def codes(outside: Outside, futures: dict) -> Counter:
    until(lambda: all(f.done() for f in futures.values()), 100.0, "acknowledgements")
    results = {k: outside.spinner.do(f.result().get_result_async) for k, f in futures.items()}
    until(lambda: all(f.done() for f in results.values()), 100.0, "results")
    found = {key: Code(future.result().result.code) for key, future in results.items()}
    done = {key for key, code in found.items() if code is Code.SUCCESS}
    assert outside.executed.runs == Counter(dict.fromkeys(done, 1)), "run once, or not at all"
    return Counter(found.values())


def test_every_goal_of_a_burst_is_answered_and_run_once_at_most(outside: Outside) -> None:
    names = [f"g{number}" for number in range(REQUESTS)]

    def send(name: str) -> object:
        mission = MissionAction(action_id=name, name="quick", policy=int(Policy.QUEUE))
        return outside.action.send_goal_async(ExecuteMission.Goal(mission=mission))

    futures = outside.spinner.do(lambda: {name: send(name) for name in names})
    ends = codes(outside, futures)
    assert ends.total() == REQUESTS
    assert set(ends) <= {Code.SUCCESS, Code.BUSY}
    assert ends[Code.SUCCESS] >= CAPACITY


def test_every_message_of_a_burst_is_answered(outside: Outside) -> None:
    names = [f"m{number}" for number in range(REQUESTS)]
    outside.topic.publish(MissionAction(action_id="first", name="forever"))
    until(lambda: any(state is State.RUNNING for state, _, _ in outside.answers("first")))

    def publish() -> None:
        for name in names:
            outside.topic.publish(
                MissionAction(action_id=name, name="quick", policy=int(Policy.QUEUE))
            )

    outside.spinner.do(publish)

    def ended() -> dict[str, int]:
        told = [m for m in list(outside.feedback) if m.action_id in names]
        return {m.action_id: m.code for m in told if m.state >= State.FINISHED}

    until(
        lambda: len(ended()) == REQUESTS - CAPACITY, 100.0, "a refusal of all but those that wait"
    )
    outside.topic.publish(MissionAction(action_id="first", type=int(Kind.CANCEL)))
    until(lambda: len(ended()) == REQUESTS, 100.0, "an end of each")
    done = [name for name, code in ended().items() if code == Code.SUCCESS]
    assert len(done) == CAPACITY
    assert outside.executed.runs == Counter(["first", *done])
    assert set(ended().values()) <= {Code.SUCCESS, Code.BUSY}
    busy = next(m for m in outside.feedback if m.code == Code.BUSY)
    assert f"{CAPACITY} missions wait" in busy.text


def test_refused_requests_on_the_topic_are_answered(outside: Outside) -> None:
    def publish(action_id: str, kind: Kind, name: str = "", **fields: object) -> None:
        outside.topic.publish(MissionAction(action_id=action_id, type=kind, name=name, **fields))

    for kind in (Kind.PAUSE, Kind.RESUME, Kind.CANCEL):
        publish(f"unknown {kind.name}", kind)
        state, code, text = outside.refusal(f"unknown {kind.name}")
        assert (state, code) == (State.FAILED, Code.INVALID_REQUEST)
        assert f"no mission 'unknown {kind.name}' waits or runs" in text
    publish("", Kind.CANCEL)
    assert "no mission runs" in outside.refusal("")[2]
    publish("a", Kind.RUN_BEHAVIOR, "forever")
    until(lambda: outside.answers("a") and outside.answers("a")[-1][0] is State.RUNNING)
    publish("a", Kind.RUN_BEHAVIOR, "quick", policy=int(Policy.QUEUE))
    state, code, text = outside.refusal("a")
    assert (state, code) == (State.RUNNING, Code.INVALID_REQUEST), "the running one goes on"
    assert "belongs to a mission" in text
    publish("a", Kind.RESUME)
    until(lambda: any("not PAUSED" in text for _, _, text in outside.answers("a")))
    publish("b", Kind.RUN_BEHAVIOR, "", policy=9)
    assert "policy 9" in outside.refusal("b")[2]
    assert outside.executed.core.queue.running.action_id == "a"


def test_hostile_requests_are_answered_shortly_and_do_no_harm(
    outside: Outside, capfd: pytest.CaptureFixture[str]
) -> None:
    huge = "x" * 1_200_000
    poses = [PoseStamped()] * 5_000
    for action_id, fields, words in (
        ("name", {"name": huge}, "bytes: at most"),
        ("text", {"parameters": [KeyValue(key="k", value=huge * 8)]}, "bytes: at most"),
        ("poses", {"route": Route(poses=poses), "type": 2}, "bytes: at most"),
        ("many", {"parameters": [KeyValue(key="k")] * 5_000}, "5000 parameters: at most 256"),
        ("bell", {"name": "a\x07\x1b[31mb"}, "control characters: 'a\\x07\\x1b[31mb'"),
    ):
        outside.topic.publish(MissionAction(action_id=action_id, **fields))
        state, code, text = outside.refusal(action_id)
        assert (state, code) == (State.FAILED, Code.INVALID_REQUEST)
        assert words in text
    outside.topic.publish(MissionAction(action_id=huge))
    until(lambda: any(m.action_id.startswith("xxx") for m in outside.feedback))
    outside.topic.publish(serialize_message(MissionAction(action_id="cut", name="quick"))[:-20])
    assert "cannot be read" in outside.refusal("cut")[2]
    outside.topic.publish(b"\0\1\0\0\xff")
    until(lambda: any("cannot be read" in text for _, _, text in outside.answers("")))
    future = outside.spinner.do(
        outside.action.send_goal_async,
        ExecuteMission.Goal(mission=MissionAction(name=huge, action_id="evil\n")),
    )
    assert codes(outside, {"evil": future}) == {Code.INVALID_REQUEST: 1}
    assert max(len(m.action_id) + len(m.name) + len(m.text) for m in outside.feedback) < 2_000
    log = capfd.readouterr().err.splitlines()
    assert sum("refused" in line for line in log) >= 8
    assert max(map(len, log)) < 3_000
    assert not any("a\x07" in line for line in log)
    outside.topic.publish(MissionAction(action_id="after", name="quick"))
    until(lambda: (State.FINISHED, Code.SUCCESS, "done") in outside.answers("after"))


def test_history_is_bounded(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("behavior_executor.node.executor_node.MOST_RECORDS", 3)
    for name in "abcde":
        outside.topic.publish(MissionAction(action_id=name, name="quick"))
        until(lambda name=name: any(a[0] is State.FINISHED for a in outside.answers(name)))
    for limit, names, words in (
        (2**32 - 1, "edc", "the newest 3"),
        (0, "edc", "the newest 3"),
        (2, "ed", ""),
    ):
        request = ListMissionRecords.Request(limit=limit)
        future = outside.spinner.do(outside.history.call_async, request)
        until(future.done)
        assert [record.action_id for record in future.result().records] == list(names)
        assert words in future.result().message
        assert bool(words) == bool(future.result().message)
