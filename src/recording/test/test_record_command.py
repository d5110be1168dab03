# SPDX-License-Identifier: Apache-2.0
"""`behavior record`: what it refuses, and that Ctrl-C and the duration complete the file."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pytest
from recorded import record

from behavior_recording import record_command
from behavior_recording.record_command import COMMAND, recorder_command

FAKE = """
import pathlib, shutil, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (shutil.copy({source!r}, {target!r}), sys.exit({code})))
print("[FATAL] [1.0] [recorder]: {words}", flush=True)
pathlib.Path({target!r}).with_suffix(".up").touch()
time.sleep({nap})
sys.exit({code})
"""


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return argparse.Namespace(namespace="", **vars(parser.parse_args(words)))


def stand_in(monkeypatch, tmp_path: Path, **how) -> Path:
    """A program in the place of the recorder; returns the file that it writes when interrupted."""
    source, target = tmp_path / "source.mcap", tmp_path / "run.mcap"
    record(source)
    values = {"source": str(source), "target": str(target), "code": 0, "nap": 600, "words": "up"}
    text = FAKE.format(**{**values, **how})
    monkeypatch.setattr(
        record_command, "recorder_command", lambda *_, **__: [sys.executable, "-c", text]
    )
    return target


def test_the_duration_ends_it_and_the_file_is_complete(monkeypatch, tmp_path, capsys):
    target = stand_in(monkeypatch, tmp_path)
    waited = record_command.subprocess.Popen.wait

    def wait(process, timeout=None):
        while not target.with_suffix(".up").exists():  # it can be interrupted from then on
            assert process.poll() is None
        return waited(process, timeout)

    monkeypatch.setattr(record_command.subprocess.Popen, "wait", wait)
    done, words = COMMAND.run(options("--output", str(target), "--duration", "0.2"), None)
    assert done
    assert words.startswith(f"Recorded {target}: ")
    assert "gaps" not in words
    assert "Ctrl-C completes it" in capsys.readouterr().out


def test_ctrl_c_is_passed_on(monkeypatch, tmp_path):
    target = stand_in(monkeypatch, tmp_path)
    waited = record_command.subprocess.Popen.wait
    pressed = []

    def wait(process, timeout=None):
        if not pressed:
            while not target.with_suffix(".up").exists():
                assert process.poll() is None
            pressed.append(True)
            raise KeyboardInterrupt
        return waited(process, timeout)

    monkeypatch.setattr(record_command.subprocess.Popen, "wait", wait)
    done, _ = COMMAND.run(options("--output", str(target)), None)
    assert done


def test_what_the_recorder_says_last_is_told_if_it_ends(monkeypatch, tmp_path):
    target = stand_in(monkeypatch, tmp_path, code=1, nap=0, words="No space left on device")
    done, words = COMMAND.run(options("--output", str(target)), None)
    assert not done
    assert words == "the recording has ended: No space left on device"


def test_a_recorder_that_does_not_end_is_killed_and_that_is_told(monkeypatch, tmp_path):
    text = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"
    monkeypatch.setattr(
        record_command, "recorder_command", lambda *_, **__: [sys.executable, "-c", text]
    )
    waited = record_command.subprocess.Popen.wait
    limits = []

    def wait(process, timeout=None):
        if timeout is None:
            return waited(process)
        limits.append(timeout)
        raise record_command.subprocess.TimeoutExpired("recorder", timeout)

    monkeypatch.setattr(record_command.subprocess.Popen, "wait", wait)
    target = tmp_path / "run.mcap"
    done, words = COMMAND.run(options("--output", str(target), "--duration", "5"), None)
    assert limits == [5.0, 60.0]
    assert not done
    assert "did not end within 60 s and was killed" in words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--output", "{there}"], "is there already"),
        (["--output", "{gone}/run.mcap"], "there is no folder"),
        (["--output", "{new}", "--duration", "-1"], "give seconds above 0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(tmp_path, words, told):
    (tmp_path / "there").write_text("precious")
    names = {name: str(tmp_path / name) for name in ("there", "gone", "new")}
    done, why = COMMAND.run(options(*(word.format(**names) for word in words)), None)
    assert not done
    assert told in why


def test_the_recorder_is_told_where_and_in_which_namespace():
    words = recorder_command(Path("/a b/run.mcap"), images=True, namespace="/left")
    assert 'output:="/a b/run.mcap"' in words
    assert "images:=true" in words
    assert "__ns:=/left" in words


def test_words_of_a_program_that_said_nothing():
    with tempfile.TemporaryFile() as output:
        assert record_command._last_words(output) == ""
