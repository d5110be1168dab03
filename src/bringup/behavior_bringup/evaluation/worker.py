# SPDX-License-Identifier: Apache-2.0
"""The process that runs episodes: `python -m behavior_bringup.evaluation.worker`.

It reads lines of JSON: a `Task`, then an `Episode` after the other. It answers in lines of JSON:
what it is made of (`versions`, `host`), `open` or `cannot` when its runner is ready or never will
be, then a `record` for each episode. It ends when nothing more will come, or on SIGTERM.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from types import FrameType
from typing import IO, Any

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.domains import claimed_domain
from behavior_bringup.evaluation.record import Episode
from behavior_bringup.evaluation.task import RunEpisode, Task, load_runner
from behavior_bringup.evaluation.versions import present_versions
from behavior_bringup.stacks.environment import enter_domain

_PR_SET_PDEATHSIG = 1


def work(requests: IO[str], answers: IO[str]) -> int:
    """Do what is asked for; returns the exit code."""

    def answer(**document: Any) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    line = requests.readline()
    if not line:
        return 0
    task, host = Task.parse(json.loads(line)), socket.gethostname()
    answer(versions=present_versions(), host=host)
    with ExitStack() as stack:
        try:
            run = _open(task, stack)
        except BringupError as error:
            answer(cannot=str(error))
            return 1
        answer(open=True)
        for line in requests:
            record = run(Episode.parse(json.loads(line)))
            answer(record=asdict(replace(record, host=host)))
    return 0


def _open(task: Task, stack: ExitStack) -> RunEpisode:
    runner = load_runner(task.runner)
    if task.own_domain:
        enter_domain(stack.enter_context(claimed_domain()))
    return stack.enter_context(runner(task.settings))


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Work for whoever has started this process, and end with it."""
    signal.signal(signal.SIGTERM, _end)
    # Ctrl-C is for the one that has started us, which then says what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a runner prints is no answer
    try:
        return work(sys.stdin, answers)
    except (KeyboardInterrupt, BrokenPipeError):
        return 130


if __name__ == "__main__":
    sys.exit(main())
