# SPDX-License-Identifier: Apache-2.0
"""Processes: how they start, stop and fail."""

import re
import signal
import time

import pytest

from behavior_ros import run
from behavior_ros.process.entry import align_timers
from behavior_ros.process.host import HostedNode, HostError, main

SOON = 25.0
"""[s] What holds a process up here lasts 30 s."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_hosted_process_cleanly(start, number):
    other = "hosted_nodes:Plain:=__node=second:=__ns=/x"
    process = start("--node", "hosted_nodes:Plain:=rate=5", "--node", other)
    lines = sorted(process.wait_for("running").strip() for _ in range(2))
    assert lines == ["running /plain rate 5.0", "running /x/second rate 1.0"]
    code, out, err, elapsed = process.stop(number)
    assert code == 0
    assert elapsed < SOON
    assert out.count("destroyed") == 2
    assert "Traceback" not in err


def test_goals_are_cancelled_before_the_process_ends(start):
    process = start("--node", "hosted_nodes:Working")
    process.wait_for("working")
    code, out, err, elapsed = process.stop(signal.SIGINT)
    assert (code, elapsed < SOON) == (0, True)
    assert "stopped: " in out
    assert "Traceback" not in err


def test_work_that_does_not_end_does_not_hold_the_process(start):
    process = start("--node", "hosted_nodes:Stubborn")
    process.wait_for("working")
    code, _, err, elapsed = process.stop(signal.SIGINT)
    assert (code, elapsed < SOON) == (0, True)
    assert "did not end within 2 s" in err


def test_end_that_hangs_is_ended_and_says_where(start):
    process = start("--node", "hosted_nodes:Hanging")
    process.wait_for("running")
    code, _, err, elapsed = process.stop(signal.SIGINT)
    assert (code, elapsed < SOON) == (1, True)
    assert "in destroy_node" in err


def test_signal_after_signal_does_not_put_the_end_off(start):
    process = start("--node", "hosted_nodes:Hanging")
    process.wait_for("running")
    begin = time.monotonic()
    while process.process.poll() is None and time.monotonic() - begin < SOON:
        process.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert process.process.poll() == 1


def test_signal_at_the_very_end_makes_no_crash_of_a_stop(start):
    process = start("--node", "hosted_nodes:StoppedTwice")
    process.wait_for("running")
    code, out, err, _ = process.stop(signal.SIGINT)
    assert (code, err) == (0, "")
    assert "destroyed" in out


def test_process_that_hangs_with_the_interpreters_lock_says_where(start):
    process = start("--node", "locked_node:Locked")
    process.wait_for("hanging")
    process.process.send_signal(signal.SIGINT)  # which nothing in Python can hear of
    assert "locked_node.py" in process.wait_for("in hang", process.process.stderr)


def test_no_action_client_is_left_to_the_garbage_collector(start):
    process = start("--node", "hosted_nodes:Working")
    process.wait_for("working")
    _, out, _, _ = process.stop(signal.SIGINT)
    assert "actions left: []" in out


def test_signal_while_a_node_is_being_made(start):
    process = start("--node", "hosted_nodes:Slow")
    process.wait_for("making")
    code, _, err, elapsed = process.stop(signal.SIGINT)
    assert (code, elapsed < SOON) == (0, True)
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["Broken", "Raising"])
def test_errors_end_the_process_with_code_1(start, name):
    process = start("--node", f"hosted_nodes:{name}")
    _, err = process.process.communicate(timeout=240)
    assert process.process.returncode == 1
    assert "RuntimeError" in err


def test_wrong_parameter_is_one_sentence(start):
    process = start("--node", "hosted_nodes:Plain:=rate=1000.0")
    _, err = process.process.communicate(timeout=240)
    assert process.process.returncode == 1
    assert "rate is 1000.0: give a value from 0.1 to 100.0" in err
    assert "Traceback" not in err


def test_wrong_tree_nodes_are_one_sentence(start):
    process = start("--node", "hosted_nodes:Misread")
    _, err = process.process.communicate(timeout=240)
    assert process.process.returncode == 1
    assert "node A: type is missing" in err
    assert "Traceback" not in err


def test_timers_become_due_together(spinner):
    node = spinner.node("timed")

    def timers_of_other_moments():
        made = []
        for _ in range(3):
            made.append(node.create_timer(5.0, lambda: None))
            time.sleep(0.2)
        resting = node.create_timer(5.0, lambda: None, autostart=False)
        align_timers([node])
        return [timer.time_until_next_call() / 1e9 for timer in made], resting.is_canceled()

    due, rests = spinner.do(timers_of_other_moments)
    assert max(due) - min(due) < 0.3, "as far apart as they were made"
    assert rests


def test_host_arguments():
    node = HostedNode.parse("a.b:C:=x=[1, 2]:=__node=n")
    assert (node.module, node.attribute) == ("a.b", "C")
    assert node.parameters == {"x": [1, 2]}
    assert node.remaps == {"__node": "n"}
    for text, part in [
        ("a.b", "module:Class"),
        ("a:B:=x", "key=value"),
        ("a:B:=x=[1", "a:B:=x=[1: x is no YAML: "),
    ]:
        with pytest.raises(HostError, match=re.escape(part)):
            HostedNode.parse(text)


@pytest.mark.parametrize(
    ("text", "part"),
    [("no_such_module:X", "no_such_module"), ("behavior_ros.process.host:NoNode", "no such class")],
)
def test_unknown_nodes_are_named(capsys, text, part):
    assert main(["--node", text]) == 2
    assert part in capsys.readouterr().err


def test_run_is_importable_everywhere():
    assert callable(run)
