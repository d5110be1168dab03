# SPDX-License-Identifier: Apache-2.0
"""The log files of a stack: one per process, also of a stack that is down."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TextIO

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.stack import Stack, not_up
from behavior_bringup.suggestions import choose
from behavior_bringup.terminal import say

_PERIOD = 0.2
"""[s] between looks at files that are followed."""


def logs(options: argparse.Namespace) -> int:
    """Show what the processes of a stack wrote, also when it is down; Ctrl-C ends following."""
    stack = Stack(options.stack)
    files = _files(stack)
    if options.process:
        if options.process not in files:
            hint = choose(options.process, files)
            raise UsageError(f"No process '{options.process}' has a log: {hint}")
        files = {options.process: files[options.process]}
    tails = {name: Tail(file) for name, file in files.items()}
    several = len(tails) > 1
    for name, tail in tails.items():
        _show(name, tail.new_lines()[-options.lines :], several=several)
    try:
        while options.follow:
            for name, tail in tails.items():
                _show(name, tail.new_lines(), several=several)
            if not stack.is_up:
                break
            time.sleep(_PERIOD)
    except KeyboardInterrupt:
        pass
    return 0


def _files(stack: Stack) -> dict[str, Path]:
    """The logs of the newest run of a stack, by process."""
    state = stack.state()
    runs = sorted(path for path in (stack.folder / "logs").glob("*") if path.is_dir())
    folder = Path(state.log_dir) if state else runs[-1] if runs else None
    if folder is None:
        raise BringupError(f"There are no logs of the stack '{stack.name}'. {not_up(stack.name)}")
    return {file.stem: file for file in sorted(folder.glob("*.log"))}


def _show(name: str, lines: list[str], *, several: bool) -> None:
    for line in lines:
        say(f"[{name}] {line}" if several else line)


class Tail:
    """Reads what is appended to a file."""

    def __init__(self, file: Path) -> None:
        """Begin at the file's first line; it need not be there yet."""
        self._file = file
        self._stream: TextIO | None = None
        self._rest = ""

    def new_lines(self) -> list[str]:
        """Complete lines that were added since the last call."""
        if self._stream is None:
            if not self._file.exists():
                return []
            self._stream = self._file.open(encoding="utf-8", errors="replace")
        *lines, self._rest = (self._rest + self._stream.read()).split("\n")
        return lines
