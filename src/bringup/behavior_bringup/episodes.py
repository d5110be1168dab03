# SPDX-License-Identifier: Apache-2.0
"""The episodes of an evaluation on disk: a JSON line each, written as soon as it has ended.

The first line says what is evaluated, so that an evaluation goes on only with its own episodes. The
last line may be torn, if the machine went down while it was written; it is dropped.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation import EpisodeRecord, record_line
from behavior_bringup.terminal import say

FRUITLESS = 3
"""Episodes in a row without a part, after which an evaluation that counts parts gives up."""


class EpisodeLog:
    """The episodes so far, in memory and in a file."""

    def __init__(self, file: Path, about: dict[str, Any], *, resume: bool) -> None:
        """Begin a file, or go on with one.

        Args:
            file: of JSON lines; one that is there is kept as `FILE.old`, unless it is gone on with.
            about: what is evaluated, by JSON's types.
            resume: go on with the episodes that are in the file; none is fine.

        Raises:
            UsageError: the file holds episodes of something else.
            BringupError: it cannot be read or written.
        """
        self.file = file
        self.records: list[EpisodeRecord] = []
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if resume and file.exists():
                self._read(about)
            else:
                if file.exists():
                    file.replace(file.with_name(f"{file.name}.old"))
                self._write(json.dumps(about))
        except OSError as error:
            raise BringupError(
                f"The episodes cannot be written to {file}: {error.strerror}"
            ) from error

    def _read(self, about: dict[str, Any]) -> None:
        text = self.file.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        try:
            head, *rows = [json.loads(line) for line in whole.splitlines()]
            self.records = [EpisodeRecord(**row) for row in rows]
        except (ValueError, TypeError) as error:
            raise UsageError(f"{self.file} holds no episodes: leave --resume away") from error
        differing = [key for key in about if head.get(key) != about[key]]
        if differing:
            key = differing[0]
            raise UsageError(
                f"{self.file} holds episodes with {key} {head.get(key)}, not {about[key]}: ask for"
                " the same again, or leave --resume away"
            )
        if whole != text:
            os.truncate(self.file, len(whole.encode()))

    def append(self, record: EpisodeRecord) -> None:
        """Add an episode; it is on disk when this returns.

        Raises:
            BringupError: it cannot be written.
        """
        self.records.append(record)
        try:
            self._write(json.dumps(asdict(record)))
        except OSError as error:
            raise BringupError(
                f"The episodes cannot be written to {self.file}: {error.strerror}"
            ) from error

    def _write(self, line: str) -> None:
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())


@dataclass(frozen=True)
class EpisodePlan:
    """Which episodes are run: so many, or as many as it takes for so many parts."""

    first: int
    """Seed of the first one; the next has the next number."""
    episodes: int
    parts: int = 0
    """0: episodes are counted."""

    @property
    def total(self) -> int:
        """How many there shall be of what is counted."""
        return self.parts or self.episodes

    @property
    def unit(self) -> str:
        """What is counted."""
        return "parts" if self.parts else "episodes"

    def weight(self, record: EpisodeRecord) -> int:
        """What an episode counts."""
        return len(record.parts) if self.parts else 1

    def counted(self, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Those of some episodes that belong to the plan."""
        last = math.inf if self.parts else self.first + self.episodes
        return [record for record in records if self.first <= record.seed < last]

    def done(self, records: Iterable[EpisodeRecord]) -> int:
        """How much of what is counted there is."""
        return sum(self.weight(record) for record in self.counted(records))

    def missing(self, records: Sequence[EpisodeRecord]) -> Iterator[int]:
        """The seeds that are still to be run; it looks at the records before each.

        Where parts are counted it ends after `FRUITLESS` episodes in a row without any.
        """
        if not self.parts:
            known = {record.seed for record in records}
            yield from (s for s in range(self.first, self.first + self.episodes) if s not in known)
            return
        fruitless = 0
        for seed in itertools.count(self.first):
            if self.done(records) >= self.parts or fruitless >= FRUITLESS:
                return
            if seed not in {record.seed for record in records}:
                before = self.done(records)
                yield seed
                fruitless = 0 if self.done(records) > before else fruitless + 1


class EpisodeDisplay:
    """A bar with the time that is left on a terminal, else a line per episode that tells it."""

    def __init__(
        self,
        console: Console,
        plan: EpisodePlan,
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


def run_all(
    seeds: Iterable[int], run: Callable[[int], EpisodeRecord], keep: Callable[[EpisodeRecord], None]
) -> bool:
    """Run an episode per seed; returns whether all were run, False after Ctrl-C.

    Args:
        seeds: of the episodes.
        run: runs one.
        keep: is given its record, at once.
    """
    with suppress(KeyboardInterrupt):
        for seed in seeds:
            keep(run(seed))
        return True
    return False
