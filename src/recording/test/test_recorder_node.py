# SPDX-License-Identifier: Apache-2.0
"""The recorder hears a running graph: what there is, what comes later, and what it leaves out."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import rclpy
from behavior_msgs.msg import MissionFeedback, RecordingState, TreeRecord
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import Trigger

from behavior_recording import Recording, RecordingError
from behavior_recording import recorder_node as module
from behavior_recording.black_box import BlackBox
from behavior_recording.recorder_node import RecorderNode
from behavior_ros import QOS_LATCHED, QOS_REQUESTS
from behavior_ros.testing import Spinner, until


def recorder(**values: Any) -> RecorderNode:
    given = [Parameter(name, value=value) for name, value in values.items()]
    return RecorderNode(parameter_overrides=given)


class Talker:
    """Publishes on some topics."""

    def __init__(self, spinner: Spinner) -> None:
        self.node = spinner.node("talker")
        self._publishers: dict[str, Any] = {}

    def say(self, topic: str, message: Any, qos: Any = QOS_REQUESTS) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(type(message), topic, qos)
        self._publishers[topic].publish(message)


def safe_messages(node: RecorderNode) -> int:
    return node._recorder.standing.safe.messages


@pytest.mark.timeout(200)
def test_what_is_said_is_in_the_file(spinner: Spinner, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    talker = Talker(spinner)
    talker.say("/robot_description", String(data="a robot"), QOS_LATCHED)
    talker.say("/picture", Image())
    talker.say("/note", String(data="too early"))
    node = recorder(output=str(path))
    heard: list[RecordingState] = []
    node.create_subscription(RecordingState, "behavior/recording", heard.append, QOS_LATCHED)
    spinner.start(node)
    until(lambda: node.count_subscribers("/note") and node.count_subscribers("/robot_description"))
    until(lambda: talker._publishers["/note"].get_subscription_count())
    for number in range(5):
        talker.say("/note", String(data=str(number)))
    talker.say("/behavior/tree_record", TreeRecord(life=3, sequence=1, kind=TreeRecord.TICK))
    until(lambda: heard and heard[-1].sequence == 1 and heard[-1].safe_messages >= 7)
    assert heard[-1].file == str(path)
    assert heard[-1].lost == 0
    # What was told to be safe is there, though the recorder still writes.
    with Recording(path) as read:
        assert not read.complete
        assert [m.value.data for m in read.messages("/note")][-5:] == list("01234")
        assert "/picture" not in read.topics
    spinner.do(node._target.finish)
    with Recording(path) as read:
        assert read.complete
        assert read.last("/robot_description", read.end).value.data == "a robot"
        assert all(m.publish_time <= m.time for m in read.messages("/note"))


@pytest.mark.timeout(200)
def test_a_black_box_is_kept_when_a_mission_fails_and_on_request(
    spinner: Spinner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AFTERMATH", 0.0)
    node = recorder(folder=str(tmp_path), black_box=1.0)
    talker = Talker(spinner)
    spinner.start(node)
    failed = MissionFeedback(name="stack it!", state=MissionFeedback.FAILED)
    talker.say("/mission/feedback", MissionFeedback(state=MissionFeedback.RUNNING))
    until(lambda: talker._publishers["/mission/feedback"].get_subscription_count())
    talker.say("/mission/feedback", failed)
    kept = node.path / "kept"
    until(lambda: list(kept.glob("*-stack_it_.mcap")))
    (file,) = kept.glob("*.mcap")
    with Recording(file) as read:
        assert list(read.missions())[-1].value.name == "stack it!"
    talker.say("/mission/feedback", MissionFeedback(state=MissionFeedback.RUNNING))
    until(lambda: safe_messages(node) >= 2)

    def asked() -> str:
        """The file; empty while the first one is still being kept."""
        answer = spinner.do(node._on_keep, Trigger.Request(), Trigger.Response())
        assert answer.success or "ask again" in answer.message
        return str(answer.message) if answer.success else ""

    file = Path(until(asked))
    until(file.exists)


@pytest.mark.timeout(200)
def test_a_disk_that_is_full_ends_the_recording_and_nothing_else(
    spinner: Spinner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talker = Talker(spinner)
    talker.say("/robot_description", String(data="a robot"), QOS_LATCHED)
    node = recorder(output=str(tmp_path / "run.mcap"))
    spinner.start(node)
    until(lambda: safe_messages(node) == 1)

    def full() -> None:
        raise RecordingError("run.mcap cannot be written: No space left on device")

    monkeypatch.setattr(node._recorder, "secure", full)
    heard: list[RecordingState] = []
    spinner.do(
        node.create_subscription, RecordingState, "behavior/recording", heard.append, QOS_LATCHED
    )
    until(lambda: heard and heard[-1].problem)
    assert "No space left" in heard[-1].problem
    assert "No space left" in node.problem
    assert heard[-1].safe_messages == heard[0].safe_messages == 1


def test_a_file_that_is_there_is_refused_in_a_sentence(ros: None, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    path.write_text("precious")
    with pytest.raises(OSError, match="is there already"):
        recorder(output=str(path))
    assert path.read_text() == "precious"


@pytest.mark.timeout(200)
def test_a_publisher_that_offers_less_is_heard_though_it_came_later(
    spinner: Spinner, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    talker = Talker(spinner)
    talker.say("/note", String(data="kept for who comes late"), QOS_LATCHED)
    node = recorder(output=str(path))
    spinner.start(node)
    until(lambda: talker._publishers["/note"].get_subscription_count())
    other = Talker(spinner)
    other.say("/note", String(data="nobody listens"), qos_profile_sensor_data)
    until(lambda: other._publishers["/note"].get_subscription_count())
    until(lambda: talker._publishers["/note"].get_subscription_count())
    other.say("/note", String(data="fleeting"))
    talker.say("/note", String(data="again"))

    def heard() -> set[str]:
        with Recording(path) as read:
            return {m.value.data for m in read.messages("/note")}

    until(lambda: safe_messages(node) >= 3 and heard() >= {"fleeting", "again"})


@pytest.mark.timeout(200)
def test_what_subscribers_take_a_topic_for_does_not_matter(
    spinner: Spinner, tmp_path: Path
) -> None:
    talker = Talker(spinner)
    talker.say("/note", String(data="hello"), QOS_LATCHED)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=talker.node.context.get_domain_id())
    other = rclpy.create_node("other", context=context)
    other.create_subscription(Image, "/note", print, 1)
    until(lambda: len(dict(talker.node.get_topic_names_and_types())["/note"]) == 2)
    node = recorder(output=str(tmp_path / "run.mcap"))
    spinner.start(node)
    until(lambda: safe_messages(node) == 1)
    other.destroy_node()
    context.try_shutdown()


@pytest.mark.parametrize("kinds", [["Plain"], ["a/b/c/D"], ["no_msgs/msg/None"], ["a/msg/A", "b"]])
def test_a_topic_that_is_not_ours_is_left_out(ros: None, tmp_path: Path, kinds: list[str]) -> None:
    node = recorder(output=str(tmp_path / "run.mcap"))
    assert node._message_class("/strange", kinds) is None
    node.destroy_node()


@pytest.mark.timeout(200)
def test_a_failure_is_kept_though_another_one_is_being_kept_or_the_stack_ends(
    spinner: Spinner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AFTERMATH", 0.0)
    node = recorder(folder=str(tmp_path), black_box=1.0)
    go = threading.Event()
    merged = BlackBox._merge
    monkeypatch.setattr(BlackBox, "_merge", lambda *given: (go.wait(60.0), merged(*given)))
    failed = MissionFeedback(name="second", state=MissionFeedback.FAILED)
    node._take(
        "/note", "std_msgs/msg/String", False, b"\0\1\0\0\1\0\0\0\0", {"source_timestamp": 1}
    )
    node._keep("first")
    node._watch(failed)
    node._secure()  # the first one is being kept still
    assert node._keep_at
    go.set()
    node._box.wait()
    node._secure()
    node._box.wait()
    monkeypatch.setattr(module, "AFTERMATH", 60.0)
    failed.name = "third"
    node._watch(failed)
    node.destroy_node()
    names = [each.stem.partition("-")[2] for each in sorted(node.path.glob("kept/*.mcap"))]
    assert names == ["first", "second", "third"]


@pytest.mark.timeout(200)
def test_what_has_arrived_when_the_recorder_is_stopped_is_kept(
    spinner: Spinner, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    talker = Talker(spinner)
    talker.say("/note", String(data="too early"))
    note = talker._publishers["/note"]
    node = recorder(output=str(path))  # nobody spins it: it comes to nothing in time

    def is_heard() -> bool:
        node._look()
        return bool(note.get_subscription_count())

    until(is_heard)
    for number in range(50):
        talker.say("/note", String(data=str(number)))
    assert note.wait_for_all_acked(Duration(seconds=60.0))
    node.destroy_node()
    with Recording(path) as read:
        assert [m.value.data for m in read.messages("/note")] == [str(n) for n in range(50)]


def test_robots_of_one_domain_have_black_boxes_of_their_own(ros: None, tmp_path: Path) -> None:
    given = [("folder", str(tmp_path)), ("black_box", 1.0)]
    values = [Parameter(name, value=value) for name, value in given]
    nodes = [
        RecorderNode(parameter_overrides=values, namespace=each) for each in ("", "/a/b", "/c", "")
    ]
    names = [node.path.name for node in nodes]
    domain = nodes[0].context.get_domain_id()
    assert names == [f"black_box_{domain}{end}" for end in ("", "_a_b", "_c", "-2")]
    for node in nodes:
        node.destroy_node()


def test_a_recorder_beside_a_black_box_does_not_answer_for_it(ros: None, tmp_path: Path) -> None:
    node = recorder(output=str(tmp_path / "run.mcap"))
    assert not any(each.srv_name.endswith("keep_recording") for each in node.services)
    node.destroy_node()
