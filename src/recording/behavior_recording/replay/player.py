# SPDX-License-Identifier: Apache-2.0
"""`Player`: steps through a run in the terminal, forwards and backwards, from change to change."""

from __future__ import annotations

import math
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from behavior_recording.errors import RecordingError
from behavior_recording.moments import TreeMoment
from behavior_recording.recording import RecordedRun
from behavior_recording.replay.history import History
from behavior_recording.replay.search import Wanted, find
from behavior_recording.replay.story import Story
from behavior_recording.replay.text import moment_lines, run_title, seconds, shown_changes
from behavior_tree.monitoring.tree_records import RecordKind

HELP = (
    "Enter or n: next change   p: previous   first, last   at SECONDS   "
    "until NODE STATUS   back NODE STATUS   q: quit"
)
_BAR = 60
_STYLES = {
    "RUNNING": "yellow",
    "SUCCESS": "green",
    "FAILURE": "bold red",
    "SKIPPED": "blue",
    "halted": "magenta",
}


class Player:
    """Shows one moment of a run, and goes to another by commands.

    Args:
        history: holds the run
        run: which one
        story: the same, read

    Raises:
        RecordingError: nothing happens in it
    """

    def __init__(self, history: History, run: RecordedRun, story: Story) -> None:
        self._history, self._run, self._story = history, run, story
        self._times = [
            record.time
            for record in history.records(start=run.begin, end=run.end)
            if record.changes or record.kind in (RecordKind.BEGIN, RecordKind.EDIT, RecordKind.END)
        ]
        if not self._times:
            raise RecordingError(f"{history.path}: nothing happens in {run_title(run)}")
        self._at = 0

    @property
    def time(self) -> int:
        """Of the moment that is shown [ns]."""
        return self._times[self._at]

    def moment(self) -> TreeMoment:
        """What is shown.

        Raises:
            RecordingError: the tree at that time is not in the recording
        """
        moment = self._history.moment(self.time)
        if moment is None:
            raise RecordingError(f"{self._history.path}: no tree is known at this moment")
        return moment

    def play(self, console: Console, ask: Callable[[], str | None]) -> None:
        """Obey commands until one says `q`, or there are none any more.

        Args:
            console: where to show it
            ask: gives the next command; None: there is none
        """
        console.print(self.picture())
        console.print(HELP, style="dim", highlight=False)
        while (command := ask()) is not None:
            try:
                if not self.obey(command):
                    return
            except RecordingError as error:
                console.print(str(error), style="red", highlight=False, markup=False)
                continue
            console.print(self.picture())

    def obey(self, command: str) -> bool:
        """Go where a command says; False: it says to quit.

        Raises:
            RecordingError: no such command, or no such moment
        """
        try:
            verb, *rest = shlex.split(command) or ["n"]
        except ValueError as error:
            raise RecordingError(f"{command}: {error}") from error
        text = " ".join(rest)
        steps = {"n": self._at + 1, "p": self._at - 1, "first": 0, "last": len(self._times) - 1}
        if verb in steps and not rest:
            self._go(steps[verb])
        elif verb == "at" and rest:
            self.go_to(_seconds(text))
        elif verb in ("until", "back") and rest:
            self.search(text, backwards=verb == "back")
        elif verb != "q":
            raise RecordingError(f"'{command}' is no command. {HELP}")
        return verb != "q"

    def go_to(self, when: float) -> None:
        """Show the last change up to a time [s since the recording began]."""
        time = self._history.start + round(when * 1e9)
        self._at = max(bisect_right(self._times, time) - 1, 0)

    def search(self, text: str, *, backwards: bool = False) -> None:
        """Show where a node comes to something next, or did last before this."""
        record = find(self._history, Wanted.read(text), after=self.time, backwards=backwards)
        if not self._times[0] <= record.time <= self._times[-1]:
            raise RecordingError(f"that is in another run of {self._history.path}: see --run")
        self._at = bisect_left(self._times, record.time)

    def _go(self, index: int) -> None:
        if not 0 <= index < len(self._times):
            raise RecordingError("this is the first change" if index < 0 else "this is the last")
        self._at = index

    # -- pictures --------------------------------------------------------------------------------

    def picture(self) -> RenderableType:
        """Tree, blackboard, changes and timeline at the moment."""
        moment = self.moment()
        changes = [
            _coloured(f"{path}: {before} -> {after}{f': {reason}' if reason else ''}")
            for path, before, after, reason in shown_changes(moment.tree, moment.record)
        ]
        head, *lines = moment_lines(self._history, moment)
        return Panel(
            Group(*map(_coloured, lines), Text(), *changes, self._timeline()),
            title=Text(head),
            subtitle=Text(f"change {self._at + 1} of {len(self._times)}"),
        )

    def _timeline(self) -> Text:
        """The whole run as a bar: failures red, this moment marked."""
        begin, end = self._times[0], self._times[-1]
        scale = (_BAR - 1) / max(end - begin, 1)
        bar = Text("─" * _BAR, style="dim")
        for failure in self._story.failures:
            place = round((failure.time - begin) * scale)
            bar.stylize("red not dim", place, place + 1)
        here = round((self.time - begin) * scale)
        text = Text(f"{seconds(self._history, begin):.1f} s ")
        text.append(bar[:here]).append("●", style="bold").append(bar[here + 1 :])
        return text.append(f" {seconds(self._history, end):.1f} s")


def _coloured(line: str) -> Text:
    text = Text(line)
    for word, style in _STYLES.items():
        text.highlight_words([f" {word}"], style)
    return text


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < 1e9:
        raise RecordingError(f"'{text}' is no number of seconds")
    return value
