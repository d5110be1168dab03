# SPDX-License-Identifier: Apache-2.0
"""The verb `behavior record`: a recorder beside a running stack until Ctrl-C."""

from __future__ import annotations

import argparse
import ctypes
import json
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

_FINISH = 60.0
"""[s] that a recorder gets to complete its file."""
_PR_SET_PDEATHSIG = 1


class RecordCommand:
    """Record everything that a running stack says into an MCAP file, until Ctrl-C.

    The recorder is a process of its own. What it has told to be safe is in the file, whatever ends
    it; see docs/recording.md.
    """

    help = "record a running stack into a file, until Ctrl-C"
    node = "behavior_executor"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--output",
            type=Path,
            metavar="FILE.mcap",
            help="a file that is not there yet (recording-DATE.mcap)",
        )
        parser.add_argument("--images", action="store_true", help="pictures and point clouds too")
        parser.add_argument(
            "--duration", type=float, metavar="SECONDS", help="end after so long by itself"
        )

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do it; returns whether that worked, and a sentence."""
        path = _output(options.output)
        if problem := _refusal(path, options.duration):
            return False, problem
        command = recorder_command(path, images=options.images, namespace=options.namespace)
        print(f"Recording into {path}; Ctrl-C completes it.", flush=True)
        with tempfile.TemporaryFile() as output:
            code = _record(command, options.duration, output)
            said = _last_words(output)
        if code is None:
            return False, (
                f"the recorder did not end within {_FINISH:g} s and was killed: what was safe by"
                f" then is in {path}, if anything was"
            )
        if code:
            why = said or f"the recorder gave exit code {code}"
            return False, f"the recording has ended: {why}"
        return True, _summary(path)


COMMAND = RecordCommand()


def recorder_command(path: Path, *, images: bool, namespace: str) -> list[str]:
    """The command line of a recorder.

    Args:
        path: of its file
        images: record pictures and point clouds too
        namespace: of the stack's nodes, like /left; empty: none
    """
    target = "behavior_recording.recorder_node.main"
    parameters = {"output": str(path), "images": images, "stop_on_problem": True}
    words = [f"{name}:={json.dumps(value)}" for name, value in parameters.items()]
    return [
        *(sys.executable, "-m", "behavior_packages.node_program", target, "--ros-args"),
        *(("-r", f"__ns:={namespace}") if namespace else ()),
        *(part for word in words for part in ("-p", word)),
    ]


def _output(given: Path | None) -> Path:
    name = given or Path(f"recording-{datetime.now():%Y%m%d-%H%M%S}.mcap")
    return name.expanduser().absolute()


def _refusal(path: Path, duration: float | None) -> str:
    """What is wrong with what was asked for; empty: nothing."""
    if path.exists():
        return f"{path} is there already: name another file with --output, or move that one away"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}: make it first"
    if duration is not None and not 0.0 < duration < 1e7:
        return f"--duration is {duration:g}: give seconds above 0"
    return ""


def _record(command: list[str], duration: float | None, output: IO[bytes]) -> int | None:
    """Run a recorder until it ends, Ctrl-C or the duration is over.

    Returns:
        Its exit code; None: it did not end by itself and was killed.
    """
    recorder = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,  # Ctrl-C is passed on by us, once
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - nothing but a system call
    )
    try:
        try:
            return recorder.wait(duration)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            recorder.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                return recorder.wait(_FINISH)
            return None
    finally:
        if recorder.poll() is None:
            recorder.kill()
            recorder.wait()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0)


def _last_words(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").strip().splitlines()
    return lines[-1].rpartition("]: ")[2] if lines else ""


def _summary(path: Path) -> str:
    from behavior_recording.errors import RecordingError
    from behavior_recording.recording import Recording

    try:
        with Recording(path) as recording:
            messages = sum(topic.messages for topic in recording.topics.values())
            seconds = (recording.end - recording.start) * 1e-9
            size = path.stat().st_size / 1e6
            gaps = recording.gaps()
    except RecordingError as error:
        return str(error)
    missing = f"; {len(gaps)} gaps, the first: {gaps[0].what}" if gaps else ""
    return f"Recorded {path}: {messages} messages, {seconds:.0f} s, {size:.1f} MB{missing}"
