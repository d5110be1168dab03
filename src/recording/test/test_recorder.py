# SPDX-License-Identifier: Apache-2.0
"""What the recorder does with what it hears: order, gaps, black box; no ROS but the messages."""

from __future__ import annotations

import os
import random
import threading
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from recorded import Clock, record, tree_of

from behavior_recording import Recording, RecordingError, TreeRecording
from behavior_recording import topics as names
from behavior_recording.black_box import BlackBox, FolderTaken, Limits, forget
from behavior_recording.encoding import encode
from behavior_recording.mcap_file import McapFile
from behavior_recording.recorder import Recorder
from behavior_recording.selection import Selection
from behavior_tree import NodeStatus

STRING = "std_msgs/msg/String"
SECOND = 1_000_000_000


def heard(tmp_path: Path, cycles: int = 20) -> list[tuple[str, str, bytes, object]]:
    """What an executor would say of a run: topic, type, bytes, message."""
    path = tmp_path / "source.mcap"
    clock = Clock()
    with TreeRecording(path, tree_of(clock, cycles), tree_id="main", life=7) as recording:
        for number in count(1):
            if recording.tick() is not NodeStatus.RUNNING:
                break
            if number % 10 == 0:
                recording.write_state()
            clock.time += 0.01
    with Recording(path) as read:
        messages = list(read.messages([names.TREE_STATE, names.TREE_RECORD]))
        return [(names.TREE_RECORD, m.type, m.data, m.value) for m in messages]


def recorder(target, messages, now) -> Recorder:
    values = {data: value for _, _, data, value in messages}
    return Recorder(
        target,
        decode_record=values.__getitem__,
        decode_command=lambda data: SimpleNamespace(life=data[20], sequence=data[28]),
        decode_frames=lambda data: SimpleNamespace(
            transforms=[SimpleNamespace(child_frame_id=each) for each in data.decode().split()]
        ),
        now=now,
    )


def test_what_is_heard_is_in_the_file_with_states_apart(tmp_path):
    messages = heard(tmp_path)
    path = tmp_path / "run.mcap"
    file = McapFile(path)
    taking = recorder(file, messages, now=lambda: 5)  # a clock that stands still
    for topic, kind, data, _ in messages:
        taking.take(topic, kind, data, publish_time=3)
    standing = taking.secure()
    assert standing.lost == 0
    assert (standing.life, standing.sequence) == (7, messages[-1][3].sequence)
    file.finish()
    with Recording(path) as read, Recording(tmp_path / "source.mcap") as source:
        ours, theirs = list(read.records()), list(source.records())
        assert [(r.kind, r.sequence) for r in ours] == [(r.kind, r.sequence) for r in theirs]
        assert all(a.time < b.time for a, b in pairwise(ours))
        assert read.moment(read.end).statuses == source.moment(source.end).statuses
        assert read.gaps() == []
        assert read.topics["/behavior_tree_log"].messages > 10
        assert next(read.messages()).publish_time == 3


def test_what_never_came_is_counted(tmp_path):
    messages = heard(tmp_path)
    file = McapFile(tmp_path / "run.mcap")
    taking = recorder(file, messages, now=count(1).__next__)
    for index, (topic, kind, data, value) in enumerate(messages):
        if index in (5, 6) and value.kind == 0:
            pytest.fail("the example is to lose two records that are no states")
        if index not in (5, 6):
            taking.take(topic, kind, data)
    assert taking.secure().lost == 2
    for number in (1, 4):
        values = {"life": 1, "sequence": number}
        taking.take(names.COMMANDS, names.COMMAND_TYPE, encode(names.COMMAND_TYPE, values))
    assert taking.secure().lost == 4
    file.finish()
    with Recording(tmp_path / "run.mcap") as read:
        assert "2 records" in read.gaps()[0].what


class Box:
    """A black box that is fed a message each second."""

    def __init__(self, folder: Path, limits: Limits, messages=()) -> None:
        self.warnings: list[str] = []
        self.box = BlackBox(folder, limits, warn=self.warnings.append)
        self.time = 0
        self.recorder = recorder(self.box, messages, now=lambda: self.time)
        self.box.prologue = self.recorder.begin_file

    def feed(self, seconds: int, size: int = 10) -> None:
        for _ in range(seconds):
            self.time += SECOND
            data = encode(STRING, {"data": f"{self.time // SECOND} " + "x" * size})
            self.recorder.take("/note", STRING, data)
            self.recorder.secure()

    def keep(self) -> Path:
        path = self.box.keep("failed")
        assert path is not None
        self.box.finish()
        return path


def notes(path: Path) -> list[int]:
    with Recording(path) as read:
        return [int(m.value.data.split()[0]) for m in read.messages("/note")]


@pytest.mark.slow
def test_the_last_minutes_are_kept_in_order_and_once_each(tmp_path):
    box = Box(tmp_path, Limits(seconds=80.0))
    box.feed(300)
    kept = notes(box.keep())
    assert kept == list(range(kept[0], 301))
    assert 80 <= len(kept) <= 80 + 2 * 10
    assert not box.warnings
    assert [each.name for each in tmp_path.glob("keeping-*")] == []


@pytest.mark.slow
def test_the_ring_stays_below_its_size(tmp_path):
    draw = random.Random(1)
    limits = Limits(seconds=1e6, bytes=400_000)
    box = Box(tmp_path, limits)
    largest = 0
    for _ in range(120):
        box.time += SECOND
        text = "".join(draw.choices("abcdefghijklmnop", k=20_000))
        box.recorder.take("/note", STRING, encode(STRING, {"data": f"1 {text}"}))
        box.recorder.secure()
        largest = max(largest, sum(each.stat().st_size for each in tmp_path.glob("*.mcap")))
    assert 200_000 < largest < 1.1 * limits.bytes
    assert len(notes(box.keep())) > 10


@pytest.mark.parametrize(("pause", "is_there"), [(20, True), (3600, False)])
def test_what_an_earlier_box_left_is_there_unless_it_is_old(tmp_path, pause, is_there):
    limits = Limits(seconds=80.0)
    earlier = Box(tmp_path, limits)
    earlier.feed(15)
    earlier.box.finish()
    for segment in tmp_path.glob("segment-*.mcap"):
        os.utime(segment, ns=(earlier.time, earlier.time))
    box = Box(tmp_path, limits)
    box.time = earlier.time + pause * SECOND
    box.feed(15)
    kept = notes(box.keep())
    assert kept[-15:] == [15 + pause + second for second in range(1, 16)]
    assert (kept[0] == 1) == is_there
    assert len(kept) == (30 if is_there else 15)


def test_each_file_of_the_ring_can_be_read_alone(tmp_path):
    messages = heard(tmp_path)
    box = Box(tmp_path / "ring", Limits(seconds=16.0), messages)
    box.recorder.take("/robot_description", STRING, encode(STRING, {"data": "r"}), latched=True)
    for topic, kind, data, _ in messages[:-1]:
        box.time += SECOND // 4
        box.recorder.take(topic, kind, data)
    box.box.finish()
    segments = sorted((tmp_path / "ring").glob("segment-*.mcap"))
    assert len(segments) > 2
    for segment in segments[1:]:
        with Recording(segment) as read:
            assert read.last("/robot_description", read.end).value.data == "r"
            moment = read.moment(read.end)
            assert moment is not None
            assert not moment.gap


def test_fixed_frames_of_all_publishers_are_in_each_file_of_the_ring(tmp_path):
    box = Box(tmp_path / "ring", Limits(seconds=16.0))

    def say(topic, data):
        box.time += SECOND
        box.recorder.take(topic, STRING, data.encode(), latched=topic != "/note")

    # The robot, its camera, and the robot once more with a frame that came later; a topic beside.
    for topic, data in (
        *(("/tf_static", "hand finger"), ("/tf_static", "lens"), ("/tf_static", "hand finger tip")),
        *(("/robot_description", "old"), ("/robot_description", "new")),
    ):
        say(topic, data)
    for _ in range(40):
        say("/note", "n")
    box.box.finish()
    for segment in sorted((tmp_path / "ring").glob("segment-*.mcap"))[1:]:
        with Recording(segment) as read:
            assert [m.data for m in read.messages("/tf_static")] == [b"lens", b"hand finger tip"]
            assert [m.data for m in read.messages("/robot_description")] == [b"new"]


def test_a_damaged_file_of_the_ring_takes_nothing_from_the_others(tmp_path):
    box = Box(tmp_path, Limits(seconds=80.0))
    box.feed(35)
    box.box.finish()
    segments = sorted(tmp_path.glob("segment-*.mcap"))
    damaged = bytearray(segments[1].read_bytes())
    damaged[150:170] = bytes(20)  # in its first chunk
    segments[1].write_bytes(damaged)
    kept = notes(box.keep())
    assert box.warnings == []
    assert set(kept) >= {*range(1, 11), *range(21, 36)}


@pytest.mark.parametrize("broken", ["link", "finish"])
def test_a_black_box_that_cannot_be_kept_is_a_sentence_and_goes_on(tmp_path, monkeypatch, broken):
    box = Box(tmp_path, Limits(seconds=80.0))
    box.feed(3)

    def refuse(*_, **__):
        raise OSError(1, "Operation not permitted")

    def refuse_to_finish(_):
        raise RecordingError("segment.mcap cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refuse)
        if broken == "finish":
            patch.setattr(McapFile, "finish", refuse_to_finish)
        with pytest.raises(RecordingError, match=r"hard links|No space"):
            box.box.keep("run")
    assert not list(tmp_path.glob("keeping-*"))
    box.feed(2)
    assert notes(box.keep())[-2:] == [4, 5]


def test_kept_recordings_hold_the_tree_to_its_end(tmp_path):
    messages = heard(tmp_path)
    box = Box(tmp_path / "ring", Limits(seconds=16.0), messages)
    for topic, kind, data, _ in messages:
        box.time += SECOND // 4
        box.recorder.take(topic, kind, data)
    with Recording(box.keep()) as read, Recording(tmp_path / "source.mcap") as source:
        assert read.moment(read.end).statuses == source.moment(source.end).statuses
        records = [r.sequence for r in read.records() if r.kind != 0]
        assert records == list(range(records[0], records[-1] + 1))


@pytest.mark.slow
def test_what_a_killed_recorder_left_is_part_of_what_is_kept_next(tmp_path):
    first = Box(tmp_path, Limits(seconds=80.0))
    first.feed(25)
    first.box.abandon()
    (tmp_path / "keeping-old").mkdir()
    (tmp_path / f"segment-{1:020d}.mcap").write_bytes(b"")  # killed at its very beginning
    second = Box(tmp_path, Limits(seconds=80.0))
    second.time = 25 * SECOND
    second.feed(25)
    assert notes(second.keep()) == list(range(1, 51))
    assert not (tmp_path / "keeping-old").exists()


def test_only_the_newest_kept_recordings_stay(tmp_path):
    box = Box(tmp_path, Limits(seconds=80.0, kept=2))
    for _ in range(4):
        box.feed(3)
        box.keep()
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_nothing_to_keep_is_told(tmp_path):
    box = Box(tmp_path, Limits())
    box.keep()
    assert "nothing was recorded" in box.warnings[0]
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="cannot be made"):
        BlackBox(tmp_path / "file", Limits(), warn=print)


def test_one_at_a_time_is_kept(tmp_path, monkeypatch):
    box = Box(tmp_path, Limits())
    box.feed(3)
    go = threading.Event()
    merged = BlackBox._merge
    monkeypatch.setattr(BlackBox, "_merge", lambda *given: (go.wait(60.0), merged(*given)))
    path = box.box.keep("one")
    assert path is not None
    assert box.box.keep("two") is None
    box.feed(2)  # it goes on meanwhile
    go.set()
    box.box.finish()
    assert notes(path) == [1, 2, 3]


def test_what_is_kept_holds_types_that_are_not_known_here_and_their_definitions(tmp_path):
    earlier = McapFile(tmp_path / f"segment-{SECOND:020d}.mcap")
    data = encode(STRING, {"data": "old"})
    for kind, text in (("gone_msgs/msg/Gone", "string word"), (STRING, "string word")):
        earlier.add("/gone", kind, data, log_time=SECOND, definition=text)
    earlier.finish()
    box = Box(tmp_path, Limits(seconds=80.0))
    box.time = 2 * SECOND
    box.feed(2)
    with Recording(box.keep()) as read:
        assert [m.value.word for m in read.messages("/gone")] == ["old", "old"]
        assert [m.value.data[0] for m in read.messages("/note")] == ["3", "4"]
    assert box.warnings == []


def test_a_ring_of_a_time_to_come_makes_room_for_what_is_new(tmp_path):
    limits = Limits(seconds=80.0, bytes=100_000, kept=3)
    earlier = Box(tmp_path, limits)
    earlier.time = 10_000 * SECOND
    earlier.feed(20)
    for _ in range(3):
        earlier.keep()
    box = Box(tmp_path, limits)  # its clock was set back
    box.feed(40)
    kept = [box.keep() for _ in range(2)]
    assert [notes(each) for each in kept] == [list(range(1, 41))] * 2
    assert any("time to come" in each for each in box.warnings)
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_what_earlier_boxes_left_is_forgotten_beside_the_one_that_is_kept(tmp_path):
    limits = Limits(seconds=80.0)
    earlier = Box(tmp_path, limits)
    earlier.feed(15)
    earlier.box.finish()
    box = Box(tmp_path, limits)
    box.time = earlier.time
    box.feed(5)
    forget(tmp_path, earlier.time + 1)
    box.feed(30)
    assert notes(box.keep()) == list(range(16, 51))


def test_files_of_others_in_the_folder_stay_and_do_no_harm(tmp_path):
    limits = Limits(seconds=16.0, kept=1)
    box = Box(tmp_path, limits)
    box.feed(10)
    others = [tmp_path / "segment-copy.mcap", tmp_path / "kept" / "precious.mcap"]
    for other in others:
        other.write_text("mine")
    box.feed(30)
    kept = [box.keep() for _ in range(2)]
    assert [each.exists() for each in kept] == [False, True]
    assert notes(kept[1])[-1] == 40
    assert all(other.read_text() == "mine" for other in others)


@pytest.mark.parametrize("call", ["stat", "unlink"])
def test_a_folder_that_cannot_be_used_any_more_is_a_sentence(tmp_path, monkeypatch, call):
    box = Box(tmp_path, Limits(seconds=16.0))
    box.feed(3)

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, call, refuse)
    with pytest.raises(RecordingError, match="Read-only file system"):
        box.feed(60)


def test_a_folder_has_one_black_box_at_a_time(tmp_path):
    first = BlackBox(tmp_path, Limits(), warn=print)
    (tmp_path / "keeping-just-now").mkdir()
    with pytest.raises(FolderTaken, match="another black box"):
        BlackBox(tmp_path, Limits(), warn=print)
    assert (tmp_path / "keeping-just-now").exists()
    first.finish()
    BlackBox(tmp_path, Limits(), warn=print).finish()


def test_what_each_file_begins_with_may_be_larger_than_a_file(tmp_path):
    limits = Limits(seconds=1e6, bytes=800_000)
    box = Box(tmp_path, limits)
    text = random.Random(1).randbytes(150_000).hex()
    box.recorder.take("/map", STRING, encode(STRING, {"data": f"{text}"}), latched=True)
    box.feed(200, size=500)
    assert len(list(tmp_path.glob("segment-*.mcap"))) <= 2
    assert notes(box.keep()) == list(range(1, 201))


def test_which_topics_are_recorded():
    plain = Selection()
    assert plain.takes("/joint_states", "sensor_msgs/msg/JointState")
    assert not plain.takes("/camera/image", "sensor_msgs/msg/Image")
    assert Selection(images=True).takes("/camera/image", "sensor_msgs/msg/Image")
    assert not plain.takes("/pick/_action/feedback", "x/msg/Y")
    assert not plain.takes("/behavior/tree_status", "behavior_msgs/msg/TreeStatus")
    left = Selection(namespace="/left")
    assert left.takes("/left/joint_states", "sensor_msgs/msg/JointState")
    assert not left.takes("/right/joint_states", "sensor_msgs/msg/JointState")
    assert not left.takes("/leftover", "std_msgs/msg/String")
    assert not left.takes("/left/behavior/tree_status", "behavior_msgs/msg/TreeStatus")
    assert left.plain("/left/mission/feedback") == "/mission/feedback"


def test_two_recordings_of_one_run_tell_the_same(tmp_path):
    for name in "ab":
        record(tmp_path / f"{name}.mcap")
    told = []
    for name in "ab":
        with Recording(tmp_path / f"{name}.mcap") as read:
            told.append(
                [
                    (r.kind, r.tick, r.stamp, r.ticked, r.entries, r.reasons, changes(r))
                    for r in read.records()
                ]
            )
    assert told[0] == told[1]


def changes(record) -> list[tuple[int, NodeStatus, NodeStatus]]:
    return [(change.uid, change.before, change.after) for change in record.changes]
