# SPDX-License-Identifier: Apache-2.0
"""A recorded run, looked at: changes, moments, steps, searches, two runs, runs once more."""

from __future__ import annotations

import argparse
import io
import json
import re
import shlex
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import recorded
from recorded_jobs import EPOCH, JOB, Clock, factory_of, record
from rich.console import Console

from behavior_recording import Recording, RecordingError, TreeRecording
from behavior_recording.explain.command import COMMAND as EXPLAIN
from behavior_recording.moments import RecordedRecord
from behavior_recording.recording import _runs
from behavior_recording.replay.command import COMMAND
from behavior_recording.replay.history import open_history
from behavior_recording.replay.player import Player
from behavior_recording.replay.story import Story
from behavior_tree import FileLogger, NodeStatus, OutputPort, TreeNode
from behavior_tree.monitoring.tree_records import RecordKind

Replay = Callable[..., str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run that failed and one that came to its end."""
    folder = tmp_path_factory.mktemp("runs")
    failed, good = folder / "failed.mcap", folder / "good.mcap"
    assert record(failed, pick_it="RRFRRF") is NodeStatus.FAILURE
    assert record(good, pick_it="RRFRRS", put_down="RRS") is NodeStatus.SUCCESS
    return {"failed": failed, "good": good}


@pytest.fixture
def replay(capsys: pytest.CaptureFixture[str]) -> Replay:
    """Runs the command; gives what it prints, or the sentence of its failure."""

    def run(*arguments: object) -> str:
        parser = argparse.ArgumentParser()
        COMMAND.add_arguments(parser)
        done, words = COMMAND.run(parser.parse_args([str(each) for each in arguments]), None)
        assert done == (not words), words
        return capsys.readouterr().out + words

    return run


def test_the_changes_are_told_without_what_says_nothing(
    files: dict[str, Path], replay: Replay
) -> None:
    text = replay(files["failed"])
    lines = text.splitlines()
    assert lines[0] == "     0.000 begins: fetch"
    assert "     0.250 grasp/pick it: IDLE -> RUNNING" in lines
    assert "     0.250 attempts = (int) 1" in lines
    assert [line for line in lines if "pick it: RUNNING -> FAILURE" in line] == [
        "     0.750 grasp/pick it: RUNNING -> FAILURE: the grip slipped off <script>x</script>: "
        "put it back within reach",
        "     1.250 grasp/pick it: RUNNING -> FAILURE: the grip slipped off <script>x</script>: "
        "put it back within reach",
    ]
    assert "SUCCESS -> IDLE" not in text
    assert lines[-1] == "     1.250 ends: the mission ended"
    assert replay(files["failed"]) == text  # the same bytes twice


def test_the_changes_for_programs(files: dict[str, Path], replay: Replay) -> None:
    rows = [json.loads(line) for line in replay(files["failed"], "--json").splitlines()]
    first = {
        "seconds": 0.25,
        "path": "job",
        "before": "IDLE",
        "after": "RUNNING",
        "reason": "",
    }
    assert rows[0] == first
    assert [row["path"] for row in rows if row["reason"]] == ["grasp/pick it"] * 2


def test_the_tree_and_its_blackboard_at_any_time(files: dict[str, Path], replay: Replay) -> None:
    text = replay(files["failed"], "--at", "0.8")
    assert text.splitlines()[0] == "fetch (mission m1): 0.750 s, tick 3: RUNNING"
    assert '*           Pick \'pick it\' object="{object}" force="{force}" RUNNING' in text
    assert "  grasp/force = (double) 1.5" in text
    assert "  attempts = (int) 2" in text
    before = replay(files["failed"], "--at", "0.1")
    assert 'Pick \'pick it\' object="{object}" force="{force}"\n' in before
    shown = json.loads(replay(files["failed"], "--at", "0.8", "--json"))
    assert {e["key"]: e["value"] for e in shown["blackboard"]}["object"] == "<b>red</b>"
    assert next(n for n in shown["nodes"] if n["path"] == "grasp/pick it")["ticked"] is True


def test_until_a_node_comes_to_something(files: dict[str, Path], replay: Replay) -> None:
    text = replay(files["failed"], "--until", "Pick FAILURE")
    assert text.startswith("fetch (mission m1): 0.750 s, tick 3")
    later = replay(files["failed"], "--at", "0.75", "--until", "pick it failure")
    assert later.startswith("fetch (mission m1): 1.250 s, tick 5")
    never = replay(files["failed"], "--until", "Place SUCCESS")
    assert never.endswith("failed.mcap: 'Place' never becomes SUCCESS")
    after = replay(files["failed"], "--at", "1.25", "--until", "Pick FAILURE")
    assert after.endswith("'Pick' does not become FAILURE after this moment")
    assert "no tree of this recording has a node 'Weld'" in replay(
        files["failed"], "--until", "Weld FAILURE"
    )
    assert 'like "Pick FAILURE"' in replay(files["failed"], "--until", "Pick fails")


def test_two_runs_are_compared(files: dict[str, Path], replay: Replay) -> None:
    text = replay(files["failed"], "--compare", files["good"])
    assert text.splitlines() == [
        "after 9 results that agree, they part at grasp/pick it, end 2:",
        "  the first:  FAILURE at 1.250 s: the grip slipped off <script>x</script>: "
        "put it back within reach",
        "  the second: SUCCESS at 1.250 s",
    ]
    same = replay(files["good"], "--compare", files["good"])
    assert same == "the same decisions: 16 results of nodes agree\n"
    shown = json.loads(replay(files["failed"], "--compare", files["good"], "--json"))
    assert (shown["path"], shown["number"], shown["same"]) == ("grasp/pick it", 2, False)


def test_blackboards_that_differ_before_are_named(tmp_path: Path, replay: Replay) -> None:
    one, other = tmp_path / "one.mcap", tmp_path / "other.mcap"
    record(one, pick_it="S", put_down="RF")
    record(other, JOB.replace('code="attempts := 0"', 'code="attempts := 5"'), pick_it="S")
    text = replay(one, "--compare", other)
    assert "they part at put down, end 1" in text
    assert "  attempts: 1 | 6" in text


def test_runs_of_different_trees_are_not_compared(
    files: dict[str, Path], tmp_path: Path, replay: Replay
) -> None:
    other = tmp_path / "other.mcap"
    record(other, _tree("<Sequence name='s'><Place name='a'/><Place name='b'/></Sequence>"))
    assert "different trees, compare two runs of one" in replay(other, "--compare", files["good"])
    longer = tmp_path / "longer.mcap"
    record(longer, JOB.replace("</Sequence>\n  </BehaviorTree>\n  <Beh", _LONGER), pick_it="S")
    assert "only the tree of the first run has wave" in replay(longer, "--compare", files["good"])


_LONGER = '<Place name="wave"/></Sequence>\n  </BehaviorTree>\n  <Beh'


def _tree(body: str) -> str:
    return (
        '<root BTCPP_format="4" main_tree_to_execute="T"><BehaviorTree ID="T">'
        f"{body}</BehaviorTree></root>"
    )


@pytest.mark.slow
def test_the_tree_runs_once_more_on_its_record(
    files: dict[str, Path], tmp_path: Path, replay: Replay
) -> None:
    for name in files.values():
        assert replay(name, "--rerun").startswith("the same decisions in all ")
    changed = tmp_path / "changed.xml"
    changed.write_text(JOB.replace('num_attempts="2"', 'num_attempts="1"'))
    text = replay(files["good"], "--with-tree", changed)
    assert "the same decisions in 2 ticks, then they part" in text
    assert "RetryUntilSuccessful::3: recorded ticked, as before, now FAILURE" in text
    assert "at the end of the record: FAILURE: " in text
    changed.write_text(JOB.replace('num_attempts="2"', 'num_attempts="3"'))
    text = replay(files["failed"], "--with-tree", changed)
    assert "pick it starts for the 3. time; the record has 2 runs of it" in text
    missing = replay(files["failed"], "--with-tree", tmp_path / "missing.xml")
    assert "missing.xml cannot be read" in missing
    changed.write_text("<root")
    assert "1 problem" in replay(files["failed"], "--with-tree", changed)


def test_steps_forwards_and_backwards(files: dict[str, Path]) -> None:
    shown = _play(files["failed"], "n", "n", "p", "last", "n", "first", "p", "jump", "q", "n")
    heads = [line for line in shown.splitlines() if "fetch (mission m1)" in line]
    times = [head.split(": ")[1].split(" s")[0] for head in heads]
    assert times == ["0.000", "0.250", "0.750", "0.250", "1.250", "0.000"]
    assert "this is the last" in shown
    assert "this is the first change" in shown
    assert "'jump' is no command" in shown
    assert "change 1 of 5" in shown


def test_steps_to_times_and_results(files: dict[str, Path]) -> None:
    shown = _play(files["failed"], "at 0.8", "until Pick FAILURE", "back Pick FAILURE", "at x")
    heads = [line for line in shown.splitlines() if "fetch (mission m1)" in line]
    times = [head.split(": ")[1].split(" s")[0] for head in heads]
    assert times == ["0.000", "0.750", "1.250", "0.750"]
    assert "'x' is no number of seconds" in shown
    for endless in ("nan", "inf", "-1e400"):
        assert f"'{endless}' is no number of seconds" in _play(files["failed"], f"at {endless}")
    assert "●" in shown


def _play(file: Path, *commands: str) -> str:
    history = open_history(file)
    run = history.runs[-1]
    console = Console(file=io.StringIO(), width=120, force_terminal=False)
    waiting: Iterator[str] = iter(commands)
    Player(history, run, Story.read(history, run)).play(console, lambda: next(waiting, None))
    history.close()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_btlog_is_played_like_a_recording(tmp_path: Path, replay: Replay) -> None:
    file = tmp_path / "run.btlog"
    tree = factory_of(Clock(), {"pick it": "RF"}).create_tree_from_text(JOB)
    with FileLogger(tree, file):
        for _ in range(3):
            tree.tick_exactly_once()
    text = replay(file)
    assert "grasp/pick it: RUNNING -> FAILURE" in text
    assert "Pick 'pick it'" in replay(file, "--until", "Pick FAILURE")
    assert "the same decisions" in replay(file, "--compare", file)


LOGGED = (
    '<root BTCPP_format="4"><BehaviorTree ID="m" _fullpath=""><Sequence name="s" _uid="1">'
    '<A name="a" _uid="2"/></Sequence></BehaviorTree></root>'
)


def btlog(file: Path, xml: str, *changes: tuple[int, int, NodeStatus]) -> Path:
    """A log with such changes: time since it was opened [us], uid, status."""
    text, start = xml.encode(), EPOCH * 1_000_000
    rows = [
        (time % 2**48).to_bytes(6, "little") + struct.pack("<HB", uid, status.value)
        for time, uid, status in changes
    ]
    head = b"BTCPP4-FileLogger2" + struct.pack("<Bi", 1, len(text))
    file.write_bytes(head + text + struct.pack("<q", start) + b"".join(rows))
    return file


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (LOGGED.replace('_uid="2"', '_uid="x"'), "the recorded tree cannot be read"),
        (LOGGED.replace(' _uid="1"', ""), "holds no nodes with numbers"),
        ('<root><BehaviorTree ID="m" _fullpath=""/></root>', "holds no nodes with numbers"),
        (
            '<root><BehaviorTree ID="m" _fullpath=""><SubTree ID="m" _fullpath="" _uid="1"/>'
            "</BehaviorTree></root>",
            "the recorded tree cannot be read",
        ),
        ("<root/>", "has no main tree"),
        ("<roo", "is no XML"),
    ],
)
def test_a_tree_that_cannot_be_read_is_told_with_its_file(
    tmp_path: Path, replay: Replay, xml: str, words: str
) -> None:
    file = btlog(tmp_path / "run.btlog", xml, (0, 1, NodeStatus.FAILURE))
    for more in ((), ("--at", "0"), ("--until", "a SUCCESS"), ("--compare", file)):
        text = replay(file, *more)
        assert words in text
        assert str(file) in text


def test_a_log_whose_clock_was_set_back_keeps_its_order(tmp_path: Path, replay: Replay) -> None:
    running, success = NodeStatus.RUNNING, NodeStatus.SUCCESS
    changes = [(5_000_000, 1, running), (5_000_000, 2, running), (-2_000_000, 2, success)]
    file = btlog(tmp_path / "run.btlog", LOGGED, *changes, (6_000_000, 1, success))
    assert replay(file).splitlines()[-2:] == [
        "     5.000 a: RUNNING -> SUCCESS",
        "     6.000 s: RUNNING -> SUCCESS",
    ]


def test_any_moment_of_a_long_log(tmp_path: Path) -> None:
    statuses = [NodeStatus.RUNNING, NodeStatus.SUCCESS]
    changes = [(1000 * i, 2, statuses[i % 2]) for i in range(2000)]
    history = open_history(btlog(tmp_path / "run.btlog", LOGGED, *changes))
    for number in (1999, 3, 256, 255, 257, 1024, 0, 1999):
        moment = history.moment(EPOCH * 10**9 + 1_000_000 * number)
        assert moment is not None
        assert moment.record.tick == number + 1
        assert moment.statuses[2] is statuses[number % 2]
    assert history.moment(EPOCH * 10**9 - 1) is None


def test_a_log_that_does_not_say_what_was_ticked_is_not_run_again(
    tmp_path: Path, replay: Replay
) -> None:
    file = btlog(tmp_path / "run.btlog", LOGGED, (0, 1, NodeStatus.SUCCESS))
    changed = tmp_path / "changed.xml"
    changed.write_text(JOB)
    for more in (("--rerun",), ("--with-tree", changed)):
        assert "does not say which nodes were ticked" in replay(file, *more)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file"),
        (b"", ""),
        (b"hello, this is no recording of anything", ""),
        (b"BTCPP4-FileLogger2", "ends inside the header"),
    ],
)
def test_what_is_no_recording_is_refused_in_a_sentence(
    tmp_path: Path, replay: Replay, content: bytes | None, words: str
) -> None:
    file = tmp_path / "run.mcap"
    if content is not None:
        file.write_bytes(content)
    told = replay(file)
    assert "run.mcap" in told
    assert words in told
    assert "\n" not in told


def test_a_torn_file_is_read_as_far_as_it_goes(
    files: dict[str, Path], tmp_path: Path, replay: Replay
) -> None:
    whole = files["failed"].read_bytes()
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole[: len(whole) // 2])
    told = replay(torn)
    assert "begins: fetch" in told or "torn.mcap" in told


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A recording of some chunks of which a late one is damaged."""
    path, clock, ends = tmp_path / "damaged.mcap", recorded.Clock(), []
    tree = recorded.tree_of(clock, cycles=40)
    with TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds) as recording:
        for number in range(40):
            recording.tick()
            clock.time += 0.02
            if number % 8 == 7:
                recording.secure()
                ends.append(recording._file.size)
    changed = bytearray(path.read_bytes())
    changed[ends[2] + 90] ^= 0xFF
    path.write_bytes(changed)
    return path


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), "nap: RUNNING -> SUCCESS"),
        (("--at", "0.05"), "turns = (int)"),
        (("--until", "nap SUCCESS"), "turns = (int)"),
        (("--rerun",), "the same decisions in all 24 ticks"),
    ],
)
def test_of_a_damaged_recording_is_shown_what_lies_before(
    damaged: Path, replay: Replay, options: tuple[str, ...], shown: str
) -> None:
    told = replay(damaged, *options)
    assert shown in told
    assert "damaged.mcap is damaged" in told.splitlines()[-1]


def test_a_recording_that_is_damaged_at_its_beginning_is_refused(
    files: dict[str, Path], tmp_path: Path, replay: Replay
) -> None:
    file = tmp_path / "run.mcap"
    changed = bytearray(files["failed"].read_bytes())
    changed[250] ^= 0xFF
    file.write_bytes(changed)
    told = replay(file)
    assert "run.mcap is damaged" in told
    assert "\n" not in told


@pytest.mark.parametrize("options", [(), ("--rerun",), ("--at", "0")])
def test_a_log_that_is_damaged_is_judged_as_a_log(
    tmp_path: Path, replay: Replay, options: tuple[str, ...]
) -> None:
    file = tmp_path / "run.btlog"
    for content in (b"", b"BTCPP4-File", b"BTCPP5-FileLogger2" + bytes(40)):
        file.write_bytes(content)
        assert "run.btlog: not a .btlog file" in replay(file, *options)
    file = tmp_path / "run.txt"
    file.write_bytes(b"BTCPP4-File")
    assert "run.txt is neither an MCAP file nor a .btlog" in replay(file, *options)


def test_a_run_that_is_not_there(files: dict[str, Path], replay: Replay) -> None:
    told = replay(files["failed"], "--run", "2", "--changes")
    assert told.endswith("holds 1 run, there is no run 2")
    assert "begins" in replay(files["failed"], "--run", "1")


PAGE = Path(__file__).parents[3] / "docs" / "recording.md"


@pytest.mark.slow
def test_the_commands_of_the_page_work(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed.xml"
    changed.write_text(JOB)
    places = {
        "run.mcap": files["good"],
        "other.mcap": files["failed"],
        "changed.xml": changed,
        "page.html": tmp_path / "page.html",
    }
    lines = re.findall(r"^behavior (replay|explain) (.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(lines) >= 10
    for verb, rest in lines:
        command = {"replay": COMMAND, "explain": EXPLAIN}[verb]
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        # The times of the page are those of a longer run.
        words = [str(places.get(word, word)) for word in shlex.split(rest, comments=True)]
        options = parser.parse_args(["0.5" if word == "12.5" else word for word in words])
        done, told = command.run(options, None)
        assert done, f"{rest}: {told}"
    assert capsys.readouterr().out


def test_a_value_that_was_not_kept_is_named_where_a_run_parts(
    tmp_path: Path, replay: Replay
) -> None:
    file, clock = tmp_path / "run.mcap", Clock()
    factory = factory_of(clock, {})
    factory.register_simple_action("Fill", _fill, {"text": OutputPort("text", str)})
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="m"><Sequence><Fill text="{text}"/>'
        "<ScriptCondition code=\"text != 'a'\"/></Sequence></BehaviorTree></root>"
    )
    with TreeRecording(file, tree, tree_id="m", now=clock.nanoseconds) as recording:
        assert recording.tick() is NodeStatus.SUCCESS
    text = replay(file, "--rerun")
    assert "values that the record does not hold" in text
    assert "  text: (str of " in text


def _fill(node: TreeNode) -> NodeStatus:
    node.set_output("text", "x" * 100_000)
    return NodeStatus.SUCCESS


def test_a_run_whose_executor_died_ends_where_the_next_life_begins(files: dict[str, Path]) -> None:
    with Recording(files["failed"]) as recording:
        first = list(recording.records())
    later = [replace(each, life=8, time=each.time + 10**10) for each in first]

    class Both:
        """A recording of a mission that an executor went on with after it was killed."""

        path = files["failed"]

        def records(self, *, start: int, end: int | None) -> Iterator[RecordedRecord]:
            everything = [*first[:4], *later]
            last = end or everything[-1].time
            return iter([each for each in everything if start <= each.time <= last])

    died, resumed = _runs([*first[:4], *later])
    assert (died.end, resumed.begin) == (first[3].time, later[0].time)
    assert (
        [Story.read(Both(), run).ticks for run in (died, resumed)]
        == [  # type: ignore[arg-type]
            sum(each.kind is RecordKind.TICK for each in records) for records in (first[:4], later)
        ]
    )


def test_a_recording_of_no_tree(tmp_path: Path) -> None:
    from behavior_recording.encoding import encode
    from behavior_recording.mcap_file import McapFile

    file = McapFile(tmp_path / "empty.mcap")
    data = encode("std_msgs/msg/String", {"data": "x"})
    file.add("/chat", "std_msgs/msg/String", data, log_time=EPOCH)
    file.finish()
    with pytest.raises(RecordingError, match="no tree ran in this recording"):
        open_history(tmp_path / "empty.mcap")
