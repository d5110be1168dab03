# SPDX-License-Identifier: Apache-2.0
"""What was recorded of a tree is what the tree did, at any moment of it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.writer import Writer
from recorded import XML, Clock, record, ticked, tree_of

from behavior_recording import Recording, RecordingError, TreeRecording
from behavior_tree import BehaviorTreeFactory, NodeStatus
from behavior_tree.editing import TreeEditor
from behavior_tree.monitoring.tree_records import RecordKind


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.mcap"


def test_every_moment_is_the_state_that_the_tree_had(path):
    clock = Clock()
    tree = tree_of(clock, cycles=8)
    states = []
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as recording:
        status = NodeStatus.RUNNING
        while status is NodeStatus.RUNNING:
            status = recording.tick()
            if recording._ticks % 5 == 0:
                recording.write_state()
            statuses = {node.uid(): node.status for node in tree.nodes()}
            boards = {
                (each.instance_name, key): value
                for each in tree.subtrees
                for key, value in each.blackboard.items()
            }
            states.append((clock.nanoseconds(), statuses, boards))
            clock.time += 0.01
    assert len(states) > 8
    with Recording(path) as read:
        for time, statuses, boards in reversed(states):
            moment = read.moment(time)
            assert moment is not None
            assert moment.statuses == statuses
            assert {place: entry.value for place, entry in moment.blackboard.items()} == boards
            assert not moment.gap
        assert read.moment(read.start - 1) is None


def test_moments_one_after_the_other_are_those_that_are_sought(path):
    record(path, cycles=8)
    with Recording(path) as read:
        middle = (read.start + read.end) // 2
        for moment in list(read.moments(start=middle)):
            sought = read.moment(moment.time)
            assert sought is not None
            assert sought.statuses == moment.statuses
            assert sought.results == moment.results
            assert sought.blackboard == moment.blackboard


def test_a_record_holds_what_a_tick_did(path):
    _, ticks = record(path)
    with Recording(path) as read:
        records = [r for r in read.records() if r.kind is RecordKind.TICK]
        assert [r.tick for r in records] == list(range(1, ticks + 1))
        first = records[0]
        names = {uid: node.name for uid, node in read.tree(read.end).nodes.items()}
        assert {names[uid] for uid in first.ticked} >= {"both", "again", "one", "nap"}
        assert names[records[-1].changes[-1].uid] == "both"
        assert records[-1].status is NodeStatus.FAILURE
        assert all(a.time <= b.time for r in records for a, b in pairwise(r.changes))
        turns = [e.value for r in read.records() for e in r.entries if e.key == "turns"]
        assert turns == sorted(turns)
        assert turns[-1] == 3


def test_the_tree_is_known_with_paths_and_boards(path):
    tree, _ = record(path)
    with Recording(path) as read:
        document = read.tree(read.end)
    assert document.tree_id == "main"
    assert {n.uid: n.path for n in document.nodes.values()} == {
        n.uid(): n.full_path() for n in tree.nodes()
    }
    assert [n.uid() for n in tree.nodes()] == list(document.nodes)
    (inner,) = document.find("Fallback")
    assert inner.board == "one"
    assert document.nodes[inner.parent].is_subtree
    assert document.root.children == tuple(n.uid() for n in tree.root_node().children)


def test_reasons_are_told(path):
    clock = Clock()
    tree = tree_of(clock, cycles=1)
    tree.node_by_path("sorry").set_pre_tick(
        lambda node: node.set_failure_reason("no luck") or NodeStatus.FAILURE
    )
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as recording:
        ticked(recording, clock)
    with Recording(path) as read:
        moment = read.moment(read.end)
        uid = tree.node_by_path("sorry").uid()
        assert moment.reasons[uid] == "no luck"
        assert moment.results[uid] is NodeStatus.FAILURE
        assert moment.ended


def test_edits_and_what_happens_between_ticks_are_told(path):
    clock = Clock()
    tree = tree_of(clock, cycles=50)
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as recording:
        recording.tick()
        tree.root_blackboard().set("from_outside", [1, 2])
        factory = BehaviorTreeFactory()
        factory.register_behavior_tree_from_text(XML)
        editor = TreeEditor(tree, factory)
        editor.set_port(tree.node_by_path("nap"), "msec", "500")
        recording.tick()
        tree.halt_tree()
    with Recording(path) as read:
        records = list(read.records())
        kinds = [r.kind.name for r in records]
        assert kinds == ["BEGIN", "TICK", "BETWEEN", "EDIT", "TICK", "BETWEEN", "END"]
        assert [e.key for e in records[2].entries] == ["from_outside"]
        assert "nap" in records[3].note
        assert 'msec="500"' in records[3].xml
        assert {c.after for c in records[5].changes} == {NodeStatus.IDLE}
        (run,) = read.runs
        assert (run.tree_id, run.whole, len(run.edits)) == ("main", True, 1)
        assert run.end == read.end
        assert read.tree(records[2].time).xml != read.tree(records[4].time).xml


def test_what_has_no_json_form_or_is_large_is_left_out_and_told(path):
    clock = Clock()
    tree = tree_of(clock)
    board = tree.root_blackboard()
    board.set("thing", object())
    board.set("long", list(range(100_000)))
    board.set("text", "x" * 100_000)
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as recording:
        recording.tick()
    assert path.stat().st_size < 20_000
    with Recording(path) as read:
        entries = {key: entry for (_, key), entry in read.moment(read.end).blackboard.items()}
    assert not entries["thing"].kept
    assert "object" in entries["thing"].text
    assert not entries["long"].kept
    assert not entries["text"].kept
    assert entries["cycles"].kept


def test_missions_commands_and_any_topic(path):
    clock = Clock()
    recording = TreeRecording(path, tree_of(clock), tree_id="main", now=clock.nanoseconds)
    recording.command("/mission/action", "TREE main", answer="accepted")
    recording.command("/behavior/control_run", "steep", accepted=False, answer="no such command")
    recording.mission(state=2, text="it runs")
    recording.message("/note", "std_msgs/msg/String", {"data": "hello"})
    recording.close("the test is over")
    recording.close()
    with Recording(path) as read:
        assert [(c.command, c.accepted) for c in read.commands()] == [
            ("TREE main", True),
            ("steep", False),
        ]
        assert [m.value.text for m in read.missions()] == ["it runs"]
        assert read.last("/note", read.end).value.data == "hello"
        assert read.last("/note", read.start) is None
        assert read.topics["/note"].type == "std_msgs/msg/String"
        assert read.about["format"] == "1"
        assert list(read.records())[-1].note == "the test is over"
        times = [m.time for m in read.messages()]
        assert times == sorted(times)
        assert [m.time for m in read.messages(reverse=True)] == times[::-1]


def test_tree_panels_find_what_they_know(path):
    record(path)
    with Recording(path) as read:
        events = [e for m in read.messages("/behavior_tree_log") for e in m.value.event_log]
        changes = [c for r in read.records() for c in r.changes]
        assert [(e.uid, e.previous_status, e.current_status) for e in events] == [
            (c.uid, c.before.name, c.after.name) for c in changes
        ]
        assert "nap" in {e.node_name for e in events}
        (xml,) = read.messages("/behavior/tree_xml")
        assert xml.value.data == read.tree(read.end).xml


def test_gaps_are_told(path):
    clock = Clock()
    recording = TreeRecording(path, tree_of(clock, 20), tree_id="main", now=clock.nanoseconds)
    with recording:
        recording.tick()
        recording._sequence += 3  # as if three were lost
        recording.tick()
        recording.tick()
        lost = clock.nanoseconds()
        recording.write_state()
        recording.tick()
    with Recording(path) as read:
        (gap,) = read.gaps()
        assert "3 records" in gap.what
        assert read.moment(lost).gap
        assert not read.moment(read.end).gap


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "no MCAP"), (b"hello" * 100, "no MCAP"), (b"\x89MCAP0\r\n", "holds no messages")],
)
def test_what_is_no_recording_is_told(path, content, told):
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=told):
        Recording(path)
    with pytest.raises(RecordingError, match="No such file"):
        Recording(path.with_name("gone"))


def test_a_file_that_is_there_is_not_overwritten(path):
    path.write_text("precious")
    with pytest.raises(RecordingError, match="is there already"):
        TreeRecording(path, tree_of(Clock()), tree_id="main")
    assert path.read_text() == "precious"
    with pytest.raises(RecordingError, match="cannot be written"):
        TreeRecording(path / "below", tree_of(Clock()), tree_id="main")


def test_entries_are_json(path):
    record(path)
    with Recording(path) as read:
        texts = [e.text for r in read.records() for e in r.entries]
    assert texts
    assert all(json.loads(text) is not ... for text in texts)


@pytest.fixture
def overlapping(path: Path) -> Path:
    """A file whose chunks overlap, as those of several threads do, with times that come twice."""
    file = path.with_name("overlapping.mcap")
    with file.open("wb") as stream:
        writer = Writer(stream, chunk_size=200)
        writer.start()
        schema = writer.register_schema("a/msg/B", "ros2msg", b"int32 x")
        channels = [writer.register_channel(topic, "cdr", schema) for topic in ("/a", "/b")]
        for number in range(120):
            time = (number * 31) % 50 + number // 2
            data = b"\0\1\0\0" + number.to_bytes(4, "little")
            writer.add_message(channels[number % 2], time, data, time)
        writer.finish()
    return file


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("topics", [None, ["/b"], ["/nowhere"]])
def test_messages_are_those_of_the_library_in_its_order(
    overlapping: Path, topics: list[str] | None, reverse: bool
) -> None:
    with overlapping.open("rb") as stream, Recording(overlapping) as recording:
        library = make_reader(stream)
        for start, end in ((None, None), (30, 60), (50, 50), (200, None)):
            given = library.iter_messages(topics, starting_at=start, ending_at=end, reverse=reverse)
            expected = [(each.log_time, channel.topic, each.data) for _, channel, each in given]
            found = recording.messages(topics, start=start, end=end, reverse=reverse)
            assert [(each.time, each.topic, each.data) for each in found] == expected
            assert bool(expected) == (topics != ["/nowhere"] and start != 200)


def test_a_wall_clock_that_is_set_back_changes_no_order(path: Path) -> None:
    clock = Clock()
    setting = [0]
    tree = tree_of(clock, cycles=20)
    with TreeRecording(
        path, tree, tree_id="main", now=lambda: clock.nanoseconds() - setting[0], life=7
    ) as recording:
        for number in range(30):
            setting[0] = 0 if number < 15 else 3600 * 10**9
            recording.tick()
            clock.time += 0.02
            recording.command("service", str(number))
    with Recording(path) as read:
        records = list(read.records())
        assert [r.sequence for r in records] == list(range(1, len(records) + 1))
        assert [int(each.command) for each in read.commands()] == list(range(30))
        assert all(a.time < b.time for a, b in pairwise(records))
        assert [run.whole for run in read.runs] == [True]


@pytest.mark.parametrize(
    ("definition", "encoding", "data", "expected"),
    [
        ("int32 x", "json", b"{}", r"/behavior/commands is in an encoding that is not read here"),
        (
            "string x",
            "cdr",
            b"\0\1\0\0\4\0\0\0\xff\xff\xff\0",
            r"a message of /behavior/commands cannot",
        ),
        ("int32 x", "cdr", b"\0\1\0\0\1\0\0\0", r"a command cannot be read.*another version"),
    ],
)
def test_a_message_that_cannot_be_taken_apart_is_told_with_its_file(
    path: Path, definition: str, encoding: str, data: bytes, expected: str
) -> None:
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema("a/msg/B", "ros2msg", definition.encode())
        channel = writer.register_channel("/behavior/commands", encoding, schema)
        writer.add_message(channel, 1, data, 1)
        writer.finish()
    with Recording(path) as recording, pytest.raises(RecordingError, match=expected) as told:
        list(recording.commands())
    assert str(path) in str(told.value)
