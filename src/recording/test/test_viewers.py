# SPDX-License-Identifier: Apache-2.0
"""Other programs' libraries read recordings, and the layouts for viewers name what is in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from recorded import Clock, ticked, tree_of

from behavior_recording import Recording, TreeRecording, topics
from behavior_recording.schemas import schema_text

LAYOUTS = Path(__file__).parents[3] / "config" / "recordings"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.mcap"
    clock = Clock()
    with TreeRecording(path, tree_of(clock), tree_id="main", now=clock.nanoseconds) as recording:
        recording.command("/mission/execute", "RUN_BEHAVIOR main")
        recording.mission(state=2)
        ticked(recording, clock)
        recording.message("/scene", "std_msgs/msg/String", {"data": "two blocks"})
    return path


def test_foxglove_and_lichtblick_read_it_as_their_library_does(run):
    with run.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        decoded = {channel.topic for _, channel, _, _ in reader.iter_decoded_messages()}
    with Recording(run) as read:
        assert decoded == set(read.topics)


@pytest.mark.slow
def test_a_reader_of_ros2_bags_reads_it(run):
    highlevel = pytest.importorskip("rosbags.highlevel", reason="needs rosbags of the test list")
    with highlevel.AnyReader([run]) as bag, Recording(run) as read:
        assert {c.topic: c.msgcount for c in bag.connections} == {
            topic.name: topic.messages for topic in read.topics.values()
        }
        decoded = [bag.deserialize(raw, c.msgtype) for c, _, raw in bag.messages()]
        assert len(decoded) == sum(topic.messages for topic in read.topics.values())
        ticks = [each.tick for each in decoded if hasattr(each, "tree_id") and each.kind == 2]
        assert ticks == [r.tick for r in read.records() if r.kind == 2]


@pytest.mark.parametrize("viewer", ["foxglove", "lichtblick"])
def test_layouts_name_topics_and_fields_that_recordings_have(viewer):
    layout = json.loads((LAYOUTS / f"{viewer}.json").read_text())
    panels = set(re.findall(r'"(?:first|second)": "([^"]+)"', json.dumps(layout["layout"])))
    assert panels == set(layout["configById"])
    types = {
        topics.TREE_RECORD: topics.TREE_RECORD_TYPE,
        topics.MISSION_FEEDBACK: topics.FEEDBACK_TYPE,
        topics.TREE_LOG: "nav2_msgs/msg/BehaviorTreeLog",
        topics.COMMANDS: topics.COMMAND_TYPE,
    }
    paths = re.findall(r'"(?:topicPath|value)": "(/[^"\\]+)', json.dumps(layout))
    assert len(paths) >= 8
    for path in paths:
        topic, *fields = re.split(r"[.\[{]", path)
        text = schema_text(types[topic])
        assert all(re.search(rf"\b{field}\b", text) for field in fields[:1])
