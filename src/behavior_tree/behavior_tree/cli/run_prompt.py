# SPDX-License-Identifier: Apache-2.0
"""`RunPrompt`: an operator controls a run by lines from the terminal, or from a pipe."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.cli.time_limit import time_limit
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.tree import Tree
from behavior_tree.run_control import RunControl, read_breakpoints, write_breakpoints
from behavior_tree.shown_text import visible

__all__ = ["HELP", "RunPrompt"]

RUNNING = NodeStatus.RUNNING
HELP = """\
step [NODE]      let all begin that wait, or one; an empty line is a step, too
go, stop         leaves begin by themselves, or not
to NODE          go, and stop before NODE, once
after NODE       stop when NODE has ended, once
break NODE       stop before NODE each time; clear NODE: no more
breaks, save     which breakpoints there are; keep them beside the file
retry [NODE]     let what has failed run again
skip [NODE]      go on as if it had succeeded
give up [NODE]   let it be a failure
reset            forget all failures, and stop
concurrent on    lists of concurrent layering do at once what can; off: one by one
quit             halt the tree
NODE is a path, or a name that only one node has"""


class RunPrompt:
    """Runs a tree and asks what to do whenever it waits; a terminal is read while leaves run, too.

    Args:
        tree: to run
        control: of the tree
        file: of the tree, beside which breakpoints are kept
        timeout: limit of what runs between two commands [s]
    """

    def __init__(self, tree: Tree, control: RunControl, file: Path, timeout: float) -> None:
        self._tree = tree
        self._control = control
        self._file = file
        self._timeout = timeout
        self._terminal = sys.stdin.isatty()
        self._commands: dict[str, Callable[[str], object]] = {
            "step": lambda node: control.step(node or None),
            "go": self._without(control.go),
            "stop": self._without(control.stop),
            "to": control.run_to,
            "after": control.stop_after,
            "break": control.add_breakpoint,
            "clear": control.remove_breakpoint,
            "breaks": self._without(lambda: print("\n".join(control.breakpoints) or "none")),
            "save": self._without(lambda: write_breakpoints(file, control.breakpoints)),
            "retry": lambda node: control.retry(node or None),
            "skip": lambda node: control.skip(node or None),
            "give up": lambda node: control.give_up(node or None),
            "reset": self._without(control.reset_failures),
            "concurrent on": self._without(lambda: control.set_concurrent(True)),
            "concurrent off": self._without(lambda: control.set_concurrent(False)),
            "help": self._without(lambda: print(HELP)),
        }

    def load_breakpoints(self) -> None:
        """Set those kept beside the file; what is no longer in the tree is told and left out."""
        for path in read_breakpoints(self._file):
            try:
                self._control.add_breakpoint(path)
            except BehaviorTreeError as error:
                print(f"a breakpoint is left out: {error}", file=sys.stderr)

    def run(self) -> NodeStatus:
        """Result of the tree; IDLE if the operator has halted it.

        Raises:
            BehaviorTreeError: the input ends while the tree waits
            TimeIsUpError: what runs between two commands takes too long
        """
        while (status := self._run_until_asked()) is RUNNING:
            self._show()
            line = sys.stdin.readline()
            if not line:
                where = ", ".join((*self._control.failed, *self._control.held))
                self._tree.halt_tree()
                raise BehaviorTreeError(f"no more commands, and the tree waits at {where or '-'}")
            if line.strip() == "quit":
                self._tree.halt_tree()
                return NodeStatus.IDLE
            self._obey(" ".join(line.split()))
        return status

    def _run_until_asked(self) -> NodeStatus:
        with time_limit(self._timeout):
            status = self._tree.tick_once()
            while status is RUNNING and not (self._control.stands or self._line_typed()):
                self._tree.sleep(10)
                status = self._tree.tick_once()
        return status

    def _line_typed(self) -> bool:
        return self._terminal and bool(select.select([sys.stdin], [], [], 0)[0])

    def _show(self) -> None:
        for path in self._control.failed:
            node = self._tree.node_by_path(path)
            print(f"failed: {node.explain_failure()}")
        if self._control.held:
            print(f"waits to begin: {', '.join(self._control.held)}")
        if self._terminal:
            print("> ", end="")
        sys.stdout.flush()

    def _obey(self, line: str) -> None:
        line = line or "step"
        name = next((each for each in self._commands if f"{line} ".startswith(f"{each} ")), None)
        try:
            if name is None:
                raise BehaviorTreeError(f"no command '{visible(line)}' (help tells all)")
            self._commands[name](line[len(name) + 1 :])
        except BehaviorTreeError as error:
            print(error, file=sys.stderr, flush=True)
        except OSError as error:
            print(f"{error.filename}: {error.strerror}", file=sys.stderr, flush=True)

    @staticmethod
    def _without(call: Callable[[], object]) -> Callable[[str], object]:
        """A command that takes no node."""

        def checked(rest: str) -> None:
            if rest:
                raise BehaviorTreeError(f"'{visible(rest)}' is too much here (help tells more)")
            call()

        return checked
