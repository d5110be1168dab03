# SPDX-License-Identifier: Apache-2.0
"""`RunPrompt`: an operator controls a run by lines from the terminal, or from a pipe."""

from __future__ import annotations

import select
import sys
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.cli.time_limit import time_limit
from behavior_tree.errors import BehaviorTreeError
from behavior_tree.kernel.tree import Tree
from behavior_tree.run_control import RunCommands, RunControl, commands

RUNNING = NodeStatus.RUNNING
HELP = f"""\
{commands.HELP}
quit             halt the tree"""


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
        self._timeout = timeout
        self._terminal = sys.stdin.isatty()
        self._commands = RunCommands(control, file, more=("help", "quit"))

    def load_breakpoints(self) -> None:
        """Set those kept beside the file; what is no longer in the tree is told and left out."""
        for problem in self._commands.load_breakpoints():
            print(problem, file=sys.stderr)

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
            self._obey(line.strip())
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
        if line == "help":
            print(HELP)
            return
        try:
            answer = self._commands.obey(line)
        except BehaviorTreeError as error:
            print(error, file=sys.stderr, flush=True)
            return
        if answer:
            print(answer)
