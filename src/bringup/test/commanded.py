# SPDX-License-Identifier: Apache-2.0
"""Commands of `behavior` within a test, and waiting for what they bring about."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil

from behavior_bringup.cli import main


class Done(NamedTuple):
    """What a command of `behavior` returned and printed."""

    returncode: int
    stdout: str
    stderr: str


def behavior(*arguments: str) -> Done:
    """A command of `behavior`, in this process: a process of its own would begin by importing."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return Done(code, out.getvalue(), err.getvalue())


def eventually(condition: Callable[[], bool], what: str, timeout: float = 240.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"not within {timeout:g} s: {what}"
        time.sleep(0.1)


def stack_processes(runtime: Path) -> list[str]:
    """Command lines of processes that belong to stacks of this runtime folder."""
    found = (" ".join(each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"]))
    return [line for line in found if str(runtime) in line]
