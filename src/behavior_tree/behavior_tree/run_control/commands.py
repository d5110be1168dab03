# SPDX-License-Identifier: Apache-2.0
"""`RunCommands`: the control of a run in lines of text, for terminals, pipes and services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

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
        self.control = control
        """What the lines act upon."""
        self._file = file
        self._more = more

    def obey(self, line: str) -> str:
        """Do what a line says.

        Args:
            line: one of `HELP`

        Returns:
            what was done, in words; empty where there is nothing to add to the line

        Raises:
            BehaviorTreeError: there is no such command, or it cannot be done now
        """
        name, rest = command_of(line, more=self._more)
        return _COMMANDS[name].call(self, rest) or ""

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
                self.control.add_breakpoint(path)
            except BehaviorTreeError as error:
                left_out.append(f"a breakpoint is left out: {error}")
        return left_out

    def save(self) -> None:
        """Keep the breakpoints beside the file.

        Raises:
            BehaviorTreeError: there is none, or theirs cannot be written
        """
        if self._file is None:
            raise BehaviorTreeError("this tree is of no file beside which breakpoints are kept")
        try:
            write_breakpoints(self._file, self.control.breakpoints)
        except OSError as error:
            raise BehaviorTreeError(f"{error.filename}: {error.strerror}") from error


def tidy(line: str) -> str:
    """A line without needless blanks; those within a value that is to be set stay."""
    words = line.split()
    return line.strip() if words[:1] == ["set"] else " ".join(words)


def command_of(line: str, *, more: Sequence[str] = ()) -> tuple[str, str]:
    """The name of the command that a line gives, and what follows it, also while no tree runs.

    Args:
        line: one of `HELP`
        more: names of what whoever hands the lines on obeys itself, told beside those of here

    Raises:
        BehaviorTreeError: there is no such command, or what follows it is none of its
    """
    line = tidy(line) or "step"
    name = next((each for each in _COMMANDS if f"{line} ".startswith(f"{each} ")), None)
    if name is None:
        known = ", ".join((*_COMMANDS, *more))
        raise BehaviorTreeError(f"no command '{visible(line)}' (there are {known})")
    rest = line[len(name) + 1 :]
    if _COMMANDS[name].follows is _Follows.NODE and not rest:
        raise BehaviorTreeError("a node is missing: its path, or a name that only it has")
    if _COMMANDS[name].follows is _Follows.NOTHING and rest:
        raise BehaviorTreeError(f"'{visible(rest)}' is too much here")
    return name, rest


def _all(what: str, paths: list[str]) -> str:
    return what + (", ".join(paths) or "nothing")


class _Follows(Enum):
    """What follows the name of a command."""

    NOTHING = "nothing"
    NODE = "a node"
    SOMETHING = "a node or nothing, or what the command looks at itself"


class _Command(NamedTuple):
    """What a command does."""

    call: Callable[[RunCommands, str], str | None]
    """Is given what follows its name; returns what was done, in words."""
    follows: _Follows = _Follows.SOMETHING


_COMMANDS = {
    "step": _Command(lambda on, node: _all("begins: ", on.control.step(node or None))),
    "go": _Command(lambda on, _: on.control.go(), _Follows.NOTHING),
    "stop": _Command(lambda on, _: on.control.stop(), _Follows.NOTHING),
    "to": _Command(lambda on, node: on.control.run_to(node), _Follows.NODE),
    "after": _Command(lambda on, node: on.control.stop_after(node), _Follows.NODE),
    "from": _Command(lambda on, node: on.control.start_from(node), _Follows.NODE),
    "break": _Command(lambda on, node: on.control.add_breakpoint(node), _Follows.NODE),
    "clear": _Command(lambda on, node: on.control.remove_breakpoint(node), _Follows.NODE),
    "breaks": _Command(lambda on, _: "\n".join(on.control.breakpoints) or "none", _Follows.NOTHING),
    "save": _Command(lambda on, _: on.save(), _Follows.NOTHING),
    "retry": _Command(lambda on, node: f"again: {on.control.retry(node or None)}"),
    "skip": _Command(lambda on, node: f"skipped: {on.control.skip(node or None)}"),
    "give up": _Command(lambda on, node: f"failed: {on.control.give_up(node or None)}"),
    "reset": _Command(
        lambda on, _: _all("forgotten: ", on.control.reset_failures()), _Follows.NOTHING
    ),
    "concurrent on": _Command(lambda on, _: on.control.set_concurrent(True), _Follows.NOTHING),
    "concurrent off": _Command(lambda on, _: on.control.set_concurrent(False), _Follows.NOTHING),
    "set": _Command(lambda on, text: on.control.set_value(*assignment(text))),
}
"""By name, in the order in which they are told."""
