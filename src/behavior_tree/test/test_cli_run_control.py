# SPDX-License-Identifier: Apache-2.0
"""`run` with --manual, --break, --from, --to: commands from a pipe, and from a terminal."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from behavior_tree.cli import main
from behavior_tree.cli.run_prompt import HELP

PAGE = Path(__file__).resolve().parents[3] / "docs/run_control.md"

TREE = """<root BTCPP_format="4"><BehaviorTree ID="Main"><Sequence name="all">
  <Script name="one" code="a := 1"/>
  <ScriptCondition name="look here" code="seen == 'yes'"/>
  <ConcurrentSequence name="list">
    <Script name="left" code="l := 1"/>
    <Step execute_after="beginning"><Script name="right" code="r := 1"/></Step>
    <Script name="last" code="z := 1"/>
  </ConcurrentSequence>
</Sequence></BehaviorTree></root>"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    file = tmp_path / "tree.xml"
    file.write_text(TREE)

    def run_it(commands, *arguments, seen="yes"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{each}\n" for each in commands)))
        code = main(["run", str(file), "--set", f"seen={seen}", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run_it


def waits(out):
    return [line.partition(": ")[2] for line in out.splitlines() if line.startswith("waits to")]


def test_steps(run):
    code, out, _ = run(["step", "", "step", "step"], "--manual")
    assert (code, waits(out)) == (0, ["one", "look here", "left, right", "last"])
    assert out.endswith("SUCCESS\n")


def test_blanks_in_a_value_stay(tmp_path, monkeypatch, capsys):
    file = tmp_path / "tree.xml"
    file.write_text(TREE.replace("'yes'", "'y  s'"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("set seen = y  s\n step  one \ngo\n"))
    assert main(["run", str(file), "--set", "seen=", "--manual"]) == 0
    capsys.readouterr()


def test_a_step_of_one_leaf_and_on(run):
    code, out, _ = run(["to left", "step right", "go"], "--manual")
    assert (code, waits(out)) == (0, ["one", "left, right", "left, last"])


def test_from_and_to(run):
    code, out, _ = run(["go"], "--from", "list", "--to", "last")
    assert (code, waits(out)) == (0, ["last"])
    assert "one: IDLE -> SUCCESS" in out  # as if it had run


def test_a_failure_is_decided_on(run):
    code, out, err = run(["retry", "skip look here"], "--to", "left", seen="no")
    assert code == 1
    assert out.count("failed: look here") == 2
    assert waits(out) == ["left, right"]
    assert err == "no more commands, and the tree waits at left, right\n"
    code, out, err = run(["give up"], "--to", "left", seen="no")
    assert (code, out.splitlines()[-1]) == (1, "FAILURE")
    code, out, err = run(["reset", "quit"], "--to", "left", seen="no")
    assert (code, waits(out), out.splitlines()[-1]) == (1, ["look here"], "halted")


def test_breakpoints_are_kept_by_save_only_and_those_that_are_gone_are_told(run, tmp_path):
    kept = tmp_path / "tree.breakpoints"
    code, out, _ = run(["break last", "clear one", "breaks", "save", "go", "go"], "--break", "one")
    assert (code, waits(out)[-1]) == (0, "last")
    assert kept.read_text() == "last\n"
    kept.write_text("last\ngone\n")
    code, out, err = run(["go", "go"], "--to", "list")
    assert "a breakpoint is left out: no node has the path or name 'gone'" in err
    assert (code, waits(out)) == (0, ["left, right", "last"])
    assert run([])[0] == 0  # not controlled: no breakpoint counts


def test_wrong_commands_and_nodes_are_told(run):
    code, _, err = run(["jump", "step nobody", "go now", "retry", "help", "go"], "--manual")
    assert code == 0
    assert [line[:35] for line in err.splitlines()] == [
        "no command 'jump' (there are step, ",
        "no node has the path or name 'nobod",
        "'now' is too much here",
        "nothing has failed",
    ]
    _, _, err = run(["jump", "go"], "--manual")
    assert err.endswith(", set, help, quit)\n")  # those of the prompt too
    for flag in ("--break", "--from", "--to"):
        code, _, err = run([], flag, "nobody")
        assert code == 1
        assert "no node has the path or name 'nobody'" in err


def test_the_time_limit_counts_between_two_commands(tmp_path, monkeypatch, capsys):
    file = tmp_path / "slow.xml"
    file.write_text(TREE.replace('<Script name="last" code="z := 1"/>', '<Sleep msec="600000"/>'))
    monkeypatch.setattr(sys, "stdin", io.StringIO("go\n"))
    arguments = ["run", str(file), "--set", "seen=yes", "--manual", "--timeout", "0.2"]
    assert main(arguments) == 1
    assert "still RUNNING after 0.2 s" in capsys.readouterr().err


def test_a_terminal_is_read_while_a_leaf_runs(tmp_path):
    file = tmp_path / "slow.xml"
    file.write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="M"><Sleep name="long" msec="600000"/>'
        "</BehaviorTree></root>"
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "behavior_tree", "run", str(file), "--manual"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        os.write(ours, b"step\nquit\n")
        out = process.communicate(timeout=120)[0]
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 1
    assert "IDLE -> RUNNING" in out
    assert out.endswith("halted\n")


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested alone")
def test_the_page_tells_the_commands():
    assert HELP in PAGE.read_text(encoding="utf-8")
