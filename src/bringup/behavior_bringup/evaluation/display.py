# SPDX-License-Identifier: Apache-2.0
"""Shows how far an evaluation is."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from behavior_bringup.evaluation.figures import record_line
from behavior_bringup.evaluation.plan import Plan
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.terminal import say


class EpisodeDisplay:
    """A bar with the time that is left on a terminal, else a line per episode that tells it."""

    def __init__(
        self,
        console: Console,
        plan: Plan,
        done: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show nothing before `__enter__`.

        Args:
            console: where.
            plan: of the episodes.
            done: of what it counts, from an earlier run.
            clock: [s].
        """
        self._console, self._clock, self._plan = console, clock, plan
        self._total, self._earlier, self._done = plan.total, done, done
        self._begun = clock()
        self._bar = Progress(
            TextColumn(plan.unit),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            speed_estimate_period=3600.0,
        )
        self._task = self._bar.add_task("", total=plan.total, completed=done)

    def __enter__(self) -> Self:
        """Begin."""
        self._begun = self._clock()
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; the bar stays."""
        self._bar.stop()

    def episode(self, record: EpisodeRecord) -> None:
        """Tell of an episode that has ended."""
        self._done += self._plan.weight(record)
        line = record_line(record)
        if not self._console.is_terminal:
            line = f"[{self._done}/{self._total}{self._left()}] {line}"
        say(line, self._console)
        self._bar.update(self._task, completed=self._done)

    def _left(self) -> str:
        """Time left, by the mean of the episodes of this run."""
        remaining, here = self._total - self._done, self._done - self._earlier
        if remaining <= 0 or here <= 0:
            return ""
        seconds = remaining * (self._clock() - self._begun) / here
        return f", {seconds / 60:.0f} min left" if seconds >= 90 else f", {seconds:.0f} s left"
