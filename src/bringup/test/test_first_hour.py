# SPDX-License-Identifier: Apache-2.0
"""What a new user meets on the command line: names, suggestions, listings, logs. No stack runs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from behavior_bringup.cli import add_verbs, main
from behavior_bringup.commands import stack_verbs
from behavior_bringup.errors import BringupError
from behavior_bringup.missions import mission_verbs
from behavior_bringup.missions.mission_offers import offers_of
from behavior_bringup.stacks import connection
from behavior_bringup.stacks.connection import enter
from behavior_bringup.stacks.description import load_stack, stack_file
from behavior_bringup.stacks.stack import TREE_NODES, Stack
from behavior_bringup.stacks.state import (
    ProcessState,
    StackState,
    acquire_lock,
    stack_dir,
    write_state,
)
from behavior_bringup.terminal import sentence, show_table
from behavior_executor.client import MissionOutcome

ROOT = Path(__file__).parents[3]


@contextmanager
def stack_up(name: str = "default", *, dead: str = "", **about: object) -> Iterator[StackState]:
    """A stack that looks as if it were up, with one process for each of its description."""
    folder = stack_dir(name)
    logs = folder / "logs" / "20260101-000000-000000"
    logs.mkdir(parents=True, exist_ok=True)
    world = str(about.get("world", "block_stacking"))
    state = StackState(
        supervisor_pid=os.getpid(),
        domain=145,
        world=world,
        log_dir=str(logs),
        namespace=str(about.get("namespace", "")),
        processes={
            process: ProcessState(pid=1, created=0.0, exit_code=-9 if process == dead else None)
            for process in load_stack(stack_file(world)).processes
        },
    )
    lock = acquire_lock(folder)
    write_state(folder, state)
    try:
        yield state
    finally:
        os.close(lock)


# -- names of stacks -------------------------------------------------------------------------------


def test_every_verb_that_talks_to_a_stack_takes_its_name() -> None:
    parser = argparse.ArgumentParser()
    add_verbs(parser)
    without = [
        words
        for words, each in _leaves(parser, ())
        if not any("--name" in action.option_strings for action in each._actions)
    ]
    own = {"tree", "demo", "evaluate", "security", "packages", "create"}
    own |= {"replay", "explain", "proposals", "console"}  # of packages
    assert {words[0].split()[0] for words in without} <= own, without


def test_every_verb_that_lists_has_json() -> None:
    parser = argparse.ArgumentParser()
    add_verbs(parser)
    leaves = dict(_leaves(parser, ()))
    for words in (
        ("status",),
        *(("mission", verb) for verb in ("list", "show", "history")),
        *(("scene", verb) for verb in ("list", "info", "where", "watch", "ask")),
        *(("tree", verb) for verb in ("check", "replay", "profile")),
    ):
        assert any("--json" in action.option_strings for action in leaves[words]._actions), words


def _leaves(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    inner = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not inner:
        yield words, parser
    for name, child in inner[0].choices.items() if inner else ():
        yield from _leaves(child, (*words, name))


@pytest.mark.slow
def test_the_stack_is_chosen_by_name_or_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with stack_up("left"), stack_up("right"):
        assert main(["status", "--json"]) == 0
        assert set(json.loads(capsys.readouterr().out)) == {"left", "right"}
        assert main(["status", "--json", "--name", "left"]) == 0
        assert set(json.loads(capsys.readouterr().out)) == {"left"}
        assert main(["mission", "list", "--json", "--name", "right"]) == 0
        assert json.loads(capsys.readouterr().out)
        assert main(["mission", "history"]) == 1
        assert "'default' is not up, but left, right: choose one" in capsys.readouterr().err
        monkeypatch.setenv("BEHAVIOR_STACK", "left")
        assert main(["mission", "list", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
        monkeypatch.setenv("BEHAVIOR_STACK", "../left")
        assert main(["mission", "list"]) == 2
        assert "'../left'" in capsys.readouterr().err


def test_a_second_stack_of_one_name_is_refused_with_the_way_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stack_up("left"):
        assert main(["up", "--name", "left"]) == 1
    assert "--name NAME" in capsys.readouterr().err


# -- nothing up ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "mission list",
        "mission run stack_blocks",
        "mission history",
        "mission pause",
        "scene list",
        "disturb red_block",
        "robot home",
        "reload",
    ],
)
def test_without_a_stack_nobody_waits(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connection, "_domain_is_used", lambda: False)
    begin = time.process_time()
    assert main(words.split()) == 1
    assert time.process_time() - begin < 5.0
    assert capsys.readouterr().err == ("behavior: No stack is up: start one with 'behavior up'\n")


def test_a_program_in_the_ros_domain_may_be_a_stack_of_a_launch_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "enter_domain", lambda domain: None)
    monkeypatch.setattr(connection, "_domain_is_used", lambda: True)
    assert enter("default") is None
    with pytest.raises(BringupError, match="No stack is up"):
        enter("left")


def test_a_process_that_has_ended_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with stack_up(dead="executor"):
        assert main(["mission", "run", "stack_blocks"]) == 1
        text = capsys.readouterr().err
    assert "process 'executor'" in text
    assert "SIGKILL" in text
    assert "behavior logs executor" in text


def test_a_process_that_is_restarted_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "enter_domain", lambda domain: None)
    with stack_up(dead="executor") as state:
        state.respawn = True
        write_state(stack_dir(), state)
        assert enter("default", connection.EXECUTOR) == state


# -- suggestions and codes -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("statsu", "did you mean 'status'?"),
        ("mission rum", "did you mean 'run'"),
        ("scene asc", "did you mean 'ask'?"),
        ("scene ask distanc cup", "did you mean 'distance'"),
        ("up --world block_staking", "did you mean 'block_stacking'"),
        ("up spede:=2", "did you mean 'speed'"),
        ("demo stack_blok", "did you mean 'stack_blocks'"),
        ("evaluate open_dor", "did you mean 'open_door'?"),
        ("mission run x --policy qeue", "did you mean 'queue'?"),
        ("mission run x --priority 256", "a whole number of 0 to 255"),
        ("down --name a/b", "must be letters"),
    ],
)
def test_misspelt_words_are_answered_with_what_was_meant(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments.split()) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_misspelt_names_on_a_stack_are_answered_too(capsys: pytest.CaptureFixture[str]) -> None:
    with stack_up():
        assert main(["mission", "show", "stack_blok"]) == 2
        assert "did you mean 'stack_blocks'" in capsys.readouterr().err
        assert main(["kill", "skils"]) == 2
        assert "did you mean 'skills'?" in capsys.readouterr().err


class FakeExecutor:
    """Answers every mission in one way, and keeps what it was asked."""

    def __init__(self, outcome: MissionOutcome) -> None:
        self.outcome = outcome
        self.asked: list = []

    def execute(self, mission, **_: object) -> MissionOutcome:
        self.asked.append(mission)
        return self.outcome


@pytest.mark.parametrize(
    ("code", "name", "exit_code"),
    [(101, "Did you mean", 2), (102, "Did you mean", 2), (110, "TREE_FAILED", 1), (104, "BUSY", 1)],
)
def test_codes_are_told_by_name_and_wrong_requests_exit_with_2(
    code: int,
    name: str,
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    executor = FakeExecutor(MissionOutcome(code, "Did you mean [grasp]?", 1.0))
    monkeypatch.setattr(
        mission_verbs, "mission_client", contextmanager(lambda *_: iter([executor]))
    )
    assert main(["mission", "run", "x", "--policy", "replace", "--priority", "7"]) == exit_code
    output = capsys.readouterr()
    assert name in output.out + output.err
    assert "[grasp]" in output.out + output.err, "square brackets survive"
    assert str(code) not in output.out + output.err
    assert (executor.asked[0].policy, executor.asked[0].priority) == (3, 7)


# -- texts -----------------------------------------------------------------------------------------


def test_square_brackets_survive_in_tables(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("[m]", "why"), [("[red]x[/]", "a port called [grasp], [/] and \\[a]")], title="[t]")
    out = capsys.readouterr().out
    for words in ("[m]", "[red]x[/]", "called [grasp], [/] and \\[a]", "[t]"):
        assert words in out


def test_records_of_missions_survive_with_their_brackets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from behavior_msgs.msg import MissionRecord

    record = MissionRecord(action_id="a1", name="x", state=5, code=110, text="port [grasp] is open")
    executor = SimpleNamespace(history=lambda **_: [record])
    monkeypatch.setattr(
        mission_verbs, "mission_client", contextmanager(lambda *_: iter([executor]))
    )
    assert main(["mission", "history"]) == 0
    out = capsys.readouterr().out
    assert "port [grasp] is open" in out
    assert "TREE_FAILED" in out
    assert main(["mission", "history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["code"] == "TREE_FAILED"


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("behavior 0.")


# -- missions --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_what_this_world_can_run_is_listed_with_parameters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stack_up() as state:
        assert main(["mission", "list"]) == 0
        listed = capsys.readouterr().out
        offers = {offer.name: offer for offer in offers_of(state)}
    assert "stack_blocks" in listed
    assert "max_failures: int = 5" in listed
    assert "open_door" not in listed
    assert "'behavior mission list --all' says why" in listed
    assert offers["stack_blocks"].why_not == ""
    assert offers["open_door"].why_not == "it is made for the world door"
    assert "has no node" in offers["navigation_classic"].why_not
    assert offers["stack_blocks"].parameters[0]["type"] == "text"


def test_what_the_executor_wrote_down_decides(tmp_path: Path) -> None:
    with stack_up() as state:
        (Path(state.log_dir) / TREE_NODES).write_text(
            '<root BTCPP_format="4"><TreeNodesModel><Action ID="Nothing"/></TreeNodesModel></root>'
        )
        offers = {offer.name: offer for offer in offers_of(state)}
    assert "has no node BelongsOnTop" in offers["stack_blocks"].why_not


@pytest.mark.slow
def test_one_mission_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    with stack_up(world="door"):
        assert main(["mission", "show", "open_door"]) == 0
        shown = capsys.readouterr().out
        assert main(["mission", "show", "stack_blocks", "--json"]) == 0
        row = json.loads(capsys.readouterr().out)
    for words in ("Open the door", "open_door.xml", "opening_angle", "double", "0.75", "yes"):
        assert words in shown
    assert not row["runs_here"]
    assert row["worlds"] == ["block_stacking"]
    assert {each["name"] for each in row["parameters"]} >= {"order", "max_failures"}


# -- logs ------------------------------------------------------------------------------------------


def test_logs_are_shown_by_process_also_when_the_stack_is_down(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stack_up() as state:
        logs = Path(state.log_dir)
        (logs / "skills.log").write_text("".join(f"line [{n}]\n" for n in range(30)))
        (logs / "executor.log").write_text("started\n")
        assert main(["logs", "skills", "-n", "2"]) == 0
        assert capsys.readouterr().out == "line [28]\nline [29]\n"
        assert main(["logs", "skils"]) == 2
        assert "did you mean 'skills'?" in capsys.readouterr().err
    assert main(["logs", "-f"]) == 0, "following a stack that is down ends"
    out = capsys.readouterr().out
    assert "[executor] started" in out
    assert "[skills] line [29]" in out
    assert main(["logs", "--name", "other"]) == 1
    assert "no logs of the stack 'other'" in capsys.readouterr().err


def test_logs_are_followed_until_the_stack_goes_down(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from behavior_bringup.stacks import log_files

    with stack_up() as state:
        file = Path(state.log_dir) / "skills.log"
        file.write_text("one\n")
        up = [True, True, False]

        def pause(_: float) -> None:
            with file.open("a") as stream:
                stream.write("more\n")

        monkeypatch.setattr(log_files.time, "sleep", pause)
        monkeypatch.setattr(Stack, "is_up", property(lambda self: up.pop(0) if up else False))
        assert main(["logs", "skills", "-f"]) == 0
    assert capsys.readouterr().out.startswith("one\nmore\n")


# -- completion ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("behavior mis", {"mission "}),
        ("behavior mission run stack_bl", {"stack_blocks "}),
        ("behavior up --world bl", {"block_stacking "}),
    ],
)
def test_the_shell_completes(line: str, wanted: set[str], tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    found = tmp_path / "found"
    subprocess.run(
        [sys.executable, "-m", "behavior_bringup"],
        env={
            **os.environ,
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(found),
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
        },
        timeout=240,
        check=False,
    )
    assert set(found.read_text().split("\n")) == wanted


def test_reload_tells_what_the_executor_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from behavior_bringup import client

    answers = [SimpleNamespace(success=True, message="9 trees are good")]
    answers.append(SimpleNamespace(success=False, message="nothing was reloaded: [x]"))
    fake = SimpleNamespace(call=lambda *_, **__: answers.pop(0))
    monkeypatch.setattr(stack_verbs, "enter", lambda *_: None)
    monkeypatch.setattr(client, "StackClient", contextmanager(lambda *_: iter([fake])))
    assert main(["reload"]) == 0
    assert capsys.readouterr().out == "9 trees are good\n"
    assert main(["reload"]) == 1
    assert capsys.readouterr().err == "behavior: Nothing was reloaded: [x]\n"


@pytest.mark.slow
def test_the_suite_s_missions_name_worlds_that_there_are() -> None:
    worlds = {path.stem for path in ROOT.glob("config/**/stacks/*.yaml")}
    with stack_up() as state:
        named = {world for offer in offers_of(state) for world in offer.worlds}
    assert named
    assert named <= worlds


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no stack is up", "No stack is up"),
        ("out/seed-1.mcap cannot be read", "out/seed-1.mcap cannot be read"),
        ("red_block was picked", "red_block was picked"),
        ("", ""),
    ],
)
def test_a_sentence_that_begins_with_a_name_keeps_it(text: str, shown: str) -> None:
    assert sentence(text) == shown
