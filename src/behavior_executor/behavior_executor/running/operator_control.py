# SPDX-License-Identifier: Apache-2.0
"""An operator controls the runs of missions: when their leaves begin, what follows a failure.

Control begins with the first command and lasts, over the ends of trees and missions, until it is
released. Without it a mission's tree is ticked as if there were no such thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from behavior_executor.running import queue_commands
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeError
from behavior_tree.run_control import RunCommands, RunControl
from behavior_tree.run_control.commands import command_of, tidy
from behavior_tree.run_control.values import assignment, write_value
from behavior_tree.shown_text import visible

MOST_PREPARED = 100
"""Commands that the next run begins with, and that are kept for it."""
_RELEASE = "release"
_MORE = (_RELEASE, queue_commands.VERB)
"""Commands beside those of `RunCommands`."""
_FOR_THE_NEXT = ("stop", "go", "to", "after", "from", "break", "concurrent on", "concurrent off")
"""Commands that can be obeyed before there is a tree."""


@dataclass(frozen=True)
class ControlState:
    """What an operator sees of the control."""

    controlled: bool = False
    automatic: bool = True
    concurrent: bool = True
    stands: bool = False
    """Something waits for the operator, and no leaf runs."""
    held: tuple[str, ...] = ()
    """Paths of the leaves that want to begin and may not."""
    failed: tuple[str, ...] = ()
    """Paths of the nodes that have failed, on which is to be decided."""
    breakpoints: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    """Commands that the next run begins with."""

    @property
    def text(self) -> str:
        """In words, what the operator is waited for; empty while nothing waits."""
        if not self.stands:
            return ""
        failed = f"failed, retry, skip or give up: {', '.join(self.failed)}" if self.failed else ""
        held = f"waits for a step: {', '.join(self.held)}" if self.held else ""
        return "; ".join(filter(None, (failed, held)))


class OperatorControl:
    """The control of the tree that runs, or of the next one."""

    def __init__(self, *, warn: Callable[[str], None]) -> None:
        """Control nothing.

        Args:
            warn: is given what an operator should know who is not asking just now.
        """
        self._warn = warn
        self._run: TreeRun | None = None
        self._control: RunControl | None = None
        self._commands: RunCommands | None = None
        self._controlled = False
        self._manual = False
        """The mode of the last tree, which is that of the next one."""
        self._concurrent = True
        """Likewise whether its lists did at once what can."""
        self._prepared: list[str] = []

    @property
    def state(self) -> ControlState:
        """What there is to see now."""
        control = self._control
        if control is None:
            kept = ("stop",) * self._manual + ("concurrent off",) * (not self._concurrent)
            prepared = (*kept, *self._prepared)
            return ControlState(
                self._controlled, not self._manual, self._concurrent, prepared=prepared
            )
        return ControlState(
            True,
            control.automatic,
            control.concurrent,
            control.stands,
            tuple(control.held),
            tuple(control.failed),
            tuple(control.breakpoints),
        )

    def obey(self, command: str) -> str:
        """Do what an operator says.

        Args:
            command: a line as `RunCommands.obey` takes, `release`, or empty: nothing.

        Returns:
            What was done, in words.

        Raises:
            BehaviorTreeError: there is no such command, or it cannot be done now; nothing changed.
        """
        command = tidy(command)
        if not command:
            return ""
        if command == _RELEASE:
            return self._release()
        name, _ = command_of(command, more=_MORE)
        if self._run is None:
            return self._prepare(name, command)
        if command.startswith("set ") and not self._controlled:  # this alone controls no run
            write_value(self._run.tree, *assignment(command.removeprefix("set ")))
            return ""
        is_first = not self._controlled
        self._take()
        try:
            assert self._commands is not None
            return self._commands.obey(command)
        except BehaviorTreeError:
            if is_first:
                self._release()
            raise

    def begin(self, run: TreeRun) -> None:
        """A tree was loaded, and is not ticked yet."""
        self._run = run
        if not self._controlled:
            return
        self._take()
        assert self._control is not None
        assert self._commands is not None
        if self._manual:
            self._control.stop()
        if not self._concurrent:
            self._control.set_concurrent(False)
        prepared, self._prepared = self._prepared, []
        for command in prepared:
            try:
                self._commands.obey(command)
            except BehaviorTreeError as error:
                # Rather wait than begin elsewhere than the operator believes.
                self._control.stop()
                self._warn(f"the run waits for an operator, since '{command}' failed: {error}")

    def end(self) -> None:
        """The tree is halted, and not ticked any more."""
        if self._control is not None:
            self._manual = not self._control.automatic
            self._concurrent = self._control.concurrent
            self._control.close()
        self._run = self._control = self._commands = None

    def _take(self) -> None:
        self._controlled = True
        if self._control is not None:
            return
        assert self._run is not None
        self._control = RunControl(self._run.tree)
        self._commands = RunCommands(self._control, self._run.file, more=_MORE)
        try:
            problems = self._commands.load_breakpoints()
        except BehaviorTreeError as error:
            problems = [str(error)]
        for problem in problems:
            self._warn(problem)

    def _release(self) -> str:
        if self._control is not None:
            self._control.close()  # first, and alone: where it is refused, nothing begins
        self._control = self._commands = None
        self._controlled = self._manual = False
        self._concurrent = True
        self._prepared = []
        return "released"

    def _prepare(self, name: str, command: str) -> str:
        """Keep a command, which begins with this name, for the next tree."""
        if name not in _FOR_THE_NEXT:
            raise BehaviorTreeError(
                f"no tree runs: '{visible(command)}' can be done only while one does; the next one"
                f" can be begun with {', '.join(_FOR_THE_NEXT)}"
            )
        if len(self._prepared) >= MOST_PREPARED:
            raise BehaviorTreeError(f"{MOST_PREPARED} commands wait for the next run: release them")
        self._controlled = True
        if name in ("stop", "go"):
            self._manual = name == "stop"
        else:
            self._prepared.append(command)
        return "the next run begins with it"
