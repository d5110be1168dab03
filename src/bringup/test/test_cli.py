# SPDX-License-Identifier: Apache-2.0
"""The command itself; what it does with a stack is tested with the whole stack."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from behavior_bringup.cli import guarded, main

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        *([verb, "--help"] for verb in ("up", "down", "status", "tree", "demo", "evaluate")),
    ],
)
def test_help_is_friendly(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if arguments:
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
    else:
        assert main(arguments) == 0
    assert "usage: behavior" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fly"], "invalid choice: 'fly'"),
        (["up", "--world", "nowhere"], "There is no world 'nowhere'"),
        (["up", "--speed", "-1"], "must be a number of 0 or more, not '-1'"),
        (["up", "--speed", "nan"], "must be a number of 0 or more"),
        (["up", "--seed", "1.5"], "must be a whole number of 0 or more, not '1.5'"),
        (["up", "--console", "--headless"], "not allowed with argument"),
        (["up", "--viewer", "--headless"], "not allowed with argument"),
        (["up", "--port", "99999"], "must be a port"),
        (["up", "mqtt=localhost"], "must look like NAME:=VALUE, not 'mqtt=localhost'"),
        (["up", "mqttt:=localhost"], "mqttt"),
        (["mission"], "required"),
        (["mission", "run", "x", "--param", "novalue"], "KEY=VALUE"),
        (["mission", "navigate", "1", "nan"], "must be a number, not 'nan'"),
        (["mission", "route", "1,2", "3"], "must look like X,Y or X,Y,YAW, not '3'"),
        (["mission", "sequence", "nowhere.yaml"], "cannot be read"),
        (["mission", "history", "--limit", "0"], "whole number of 1 or more"),
        (["tree"], "required: COMMAND"),
        (["tree", "check"], "required: FILE"),
        (["tree", "replay", "--speed", "0", "x.btlog"], "must be a number above 0"),
        (["disturb", "blue_block", "--to", "0", "0", "x"], "a number, at most 100"),
        (["demo", "juggle"], "choose one of decider_stack_blocks, "),
        (["demo", "stack_blocks", "--world", "nowhere"], "There is no world 'nowhere'"),
        (["demo", "navigation", "--cameras"], "has no cameras"),
        (["evaluate", "juggle"], "choose one of decider_stack_blocks, "),
        (["evaluate", "stack_blocks", "--episodes", "0"], "whole number of 1 or more"),
    ],
)
def test_wrong_requests_get_a_sentence_and_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert "Traceback" not in output.err
    assert len(output.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_the_suites_own_trees_are_checked_with_the_leaves_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = sorted(str(file) for file in ROOT.joinpath("trees").rglob("*.xml"))
    assert main(["tree", "check", *trees]) == 0
    assert "no problems" in capsys.readouterr().out
    (tmp_path / "bad.xml").write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="Bad"><Sequence>'
        '<Pick/><MoveGripper mode="SHUT"/></Sequence></BehaviorTree></root>'
    )
    assert main(["tree", "check", "--json", str(tmp_path / "bad.xml")]) == 1
    found = [problem["message"] for problem in json.loads(capsys.readouterr().out)]
    assert found[0].startswith("Missing mandatory port [object_name] of Pick")
    assert "use one of OPEN, CLOSE" in found[1]


def test_the_worked_example_can_be_dry_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", "run", str(ROOT / "trees" / "jobs" / "stack_blocks.xml")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "SUCCESS"
    assert "arm home" in out


@pytest.mark.slow
def test_without_a_stack_down_and_status_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["down"]) == 0
    assert "Nothing was up" in capsys.readouterr().out
    assert main(["status"]) == 0
    assert "No stack is up" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    assert capsys.readouterr().out.strip() == "{}"
    assert main(["kill", "skills"]) == 1
    assert "No stack is up" in capsys.readouterr().err


def test_down_and_status_do_not_wait_for_ros() -> None:
    program = (
        "import sys; from behavior_bringup.cli import main; main(['status']);"
        "sys.exit('rclpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=240, check=False).returncode == 0


def test_ros2_bt_hands_everything_over(monkeypatch: pytest.MonkeyPatch) -> None:
    package, command = types.ModuleType("ros2cli"), types.ModuleType("ros2cli.command")
    command.CommandExtension = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ros2cli", package)
    monkeypatch.setitem(sys.modules, "ros2cli.command", command)
    extension = importlib.import_module("behavior_bringup.commands.ros2cli_command").BtCommand()
    became: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda program, words: became.append(words))
    root = argparse.ArgumentParser(prog="ros2")
    parser = root.add_subparsers().add_parser("bt")
    extension.add_arguments(parser, "bt")
    for words in (["--help"], ["up", "--world", "door", "speed:=2"], ["--version"], []):
        extension.main(parser=parser, args=root.parse_args(["bt", *words]))
        assert became.pop() == [sys.executable, "-m", "behavior_bringup", *words]


def test_an_interrupt_that_c_code_made_another_error_of_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            raise RuntimeError("Unable to convert call argument") from None
        return 0

    def broken() -> int:
        raise RuntimeError("a fault of ours")

    before = signal.getsignal(signal.SIGINT)
    assert guarded(interrupted) == 130
    assert "interrupted" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="ours"):
        guarded(broken)
    assert signal.getsignal(signal.SIGINT) is before
