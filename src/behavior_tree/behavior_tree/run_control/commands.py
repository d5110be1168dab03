# SPDX-License-Identifier: Apache-2.0
"""`RunCommands`: the control of a run in lines of text, for terminals, pipes and services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.run_control.breakpoint_file import read_breakpoints, write_breakpoints
from behavior_tree.run_control.control import RunControl
from behavior_tree.run_control.values import assignment
from behavior_tree.shown_text import visible

HELP = """\
step [NODE]      let all begin that wait, or one; an empty line is a step, too
go, stop         leaves begin by themselves, or not
to NODE          go, and stop before NODE, once
after NODE       stop when NODE has ended, once
from NODE        let the next run begin at NODE
break NODE       stop before NODE each time; clear NODE: no more
breaks, save     which breakpoints there are; keep them beside the file
retry [NODE]     let what has failed run again
skip [NODE]      go on as if it had succeeded
give up [NODE]   let it be a failure
reset            forget all failures, and stop
concurrent on    lists of concurrent layering do at once what can; off: one by one
set KEY = VALUE  write a blackboard entry; PATH/KEY: one of a SubTree's
NODE is a path, or a name that only one node has"""


class RunCommands:
    """Obeys lines.

    Args:
        control: of a tree
        file: of the tree, beside which breakpoints are kept; None: they are not
        more: names of what whoever hands the lines on obeys itself, told beside those of here
    """

    def __init__(
        self, control: RunControl, file: Path | None = None, *, more: Sequence[str] = ()
    ) -> None:
        self._control = control
        self._file = file
        self._more = more
        self._commands: dict[str, Callable[[str], str]] = {
            "step": lambda node: _all("begins: ", control.step(node or None)),
            "go": _without(control.go),
            "stop": _without(control.stop),
            "to": _of(control.run_to),
            "after": _of(control.stop_after),
            "from": _of(control.start_from),
            "break": _of(control.add_breakpoint),
            "clear": _of(control.remove_breakpoint),
            "breaks": _without(lambda: "\n".join(control.breakpoints) or "none"),
            "save": _without(self._save),
            "retry": lambda node: f"again: {control.retry(node or None)}",
            "skip": lambda node: f"skipped: {control.skip(node or None)}",
            "give up": lambda node: f"failed: {control.give_up(node or None)}",
            "reset": _without(lambda: _all("forgotten: ", control.reset_failures())),
            "concurrent on": _without(lambda: control.set_concurrent(True)),
            "concurrent off": _without(lambda: control.set_concurrent(False)),
            "set": self._set,
        }

    def obey(self, line: str) -> str:
        """Do what a line says.

        Args:
            line: one of `HELP`

        Returns:
            what was done, in words; empty where there is nothing to add to the line

        Raises:
            BehaviorTreeError: there is no such command, or it cannot be done now
        """
        line = tidy(line) or "step"
        name = next((each for each in self._commands if f"{line} ".startswith(f"{each} ")), None)
        if name is None:
            known = ", ".join((*self._commands, *self._more))
            raise BehaviorTreeError(f"no command '{visible(line)}' (there are {known})")
        return self._commands[name](line[len(name) + 1 :])

    def load_breakpoints(self) -> list[str]:
        """Set those kept beside the file.

        Returns:
            why some are left out, as they are no longer in the tree

        Raises:
            BehaviorTreeError: their file cannot be read
        """
        left_out = []
        for path in read_breakpoints(self._file) if self._file is not None else ():
            try:
                self._control.add_breakpoint(path)
            except BehaviorTreeError as error:
                left_out.append(f"a breakpoint is left out: {error}")
        return left_out

    def _set(self, text: str) -> str:
        self._control.set_value(*assignment(text))
        return ""

    def _save(self) -> None:
        if self._file is None:
            raise BehaviorTreeError("this tree is of no file beside which breakpoints are kept")
        try:
            write_breakpoints(self._file, self._control.breakpoints)
        except OSError as error:
            raise BehaviorTreeError(f"{error.filename}: {error.strerror}") from error


def tidy(line: str) -> str:
    """A line without needless blanks; those within a value that is to be set stay."""
    words = line.split()
    return line.strip() if words[:1] == ["set"] else " ".join(words)


def _all(what: str, paths: list[str]) -> str:
    return what + (", ".join(paths) or "nothing")


def _of(call: Callable[[str], None]) -> Callable[[str], str]:
    """A command about one node."""

    def checked(node: str) -> str:
        if not node:
            raise BehaviorTreeError("a node is missing: its path, or a name that only it has")
        call(node)
        return ""

    return checked


def _without(call: Callable[[], str | None]) -> Callable[[str], str]:
    """A command that takes no node."""

    def checked(rest: str) -> str:
        if rest:
            raise BehaviorTreeError(f"'{visible(rest)}' is too much here")
        return call() or ""

    return checked
