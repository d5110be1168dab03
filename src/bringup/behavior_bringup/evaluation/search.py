# SPDX-License-Identifier: Apache-2.0
"""The smallest disturbance that breaks a job, by bisection.

At a level of one factor several episodes are run, with the same seeds at each level. The job is
broken there when fewer than half of them succeed. It is halved between a level that it stands and
one that breaks it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.statistics import wilson

STEPS = 5
"""Halvings: the interval shrinks to a 32nd."""
BROKEN = 0.5
"""Share of successes below which the job counts as broken."""


@dataclass(frozen=True)
class Level:
    """How the job does at a value of the factor."""

    value: float
    successes: int
    episodes: int

    @property
    def broken(self) -> bool:
        """Whether most episodes fail."""
        return self.successes < BROKEN * self.episodes

    def __str__(self) -> str:
        """In words."""
        interval = wilson(self.successes, self.episodes)
        return (
            f"{self.value:.4g}: {self.successes} of {self.episodes} succeeded"
            f" ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
        )


@dataclass(frozen=True)
class Found:
    """What a search found."""

    name: str
    levels: Sequence[Level]
    """In the order in which they were tried."""
    stands: float | None
    """The strongest value at which the job stood; None: not even the harmless end."""
    breaks: float | None
    """The weakest value that broke it; None: not even the other end."""

    def __str__(self) -> str:
        """In a sentence."""
        if self.stands is None:
            return f"The job is broken already at {self.name} {self.levels[0].value:.4g}"
        if self.breaks is None:
            return f"The job stands all of {self.name}, up to {self.stands:.4g}"
        return (
            f"The job stands {self.name} {self.stands:.4g} and breaks at {self.breaks:.4g}:"
            " fewer than half of the episodes succeed"
        )


def bisection(
    name: str, interval: tuple[float, float], steps: int = STEPS
) -> Generator[float, Level, Found]:
    """Yields a value after the other, is sent the level there, and returns what it found.

    Args:
        name: of the factor.
        interval: from the harmless end to the one that may break it; either may be the greater.
        steps: halvings.
    """
    stands, breaks = interval
    levels = [(yield stands)]
    if levels[0].broken:
        return Found(name, levels, None, stands)
    levels.append((yield breaks))
    if not levels[1].broken:
        return Found(name, levels, breaks, None)
    for _ in range(steps):
        level = yield (stands + breaks) / 2
        levels.append(level)
        if level.broken:
            breaks = level.value
        else:
            stands = level.value
    return Found(name, levels, stands, breaks)


class Search:
    """The plan of a search (see `plan.Plan`), and what came out."""

    unit = "episodes"

    def __init__(self, name: str, interval: tuple[float, float], seeds: Sequence[int]) -> None:
        """Nothing is run yet; see `bisection`. The seeds are those of each level."""
        self._name, self._interval, self._seeds = name, interval, seeds
        self.found: Found | None = None
        """Set when all episodes have ended."""

    @property
    def total(self) -> int:
        """See `Plan`."""
        return (2 + STEPS) * len(self._seeds)

    def weight(self, record: EpisodeRecord) -> int:
        """See `Plan`."""
        return 1

    def counted(self, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """See `Plan`."""
        return [
            record
            for record in records
            if record.variant.startswith(f"{self._name}=") and record.seed in self._seeds
        ]

    def done(self, records: Iterable[EpisodeRecord]) -> int:
        """See `Plan`."""
        return len(self.counted(records))

    def to_run(self, records: Sequence[EpisodeRecord]) -> Iterator[Episode | None]:
        """Those that are not among the records; None while a level's last ones are being run."""
        levels = bisection(self._name, self._interval)
        value = next(levels)
        while True:
            known = {record.key for record in records}
            wanted = episodes_of(self._name, value, self._seeds)
            yield from (episode for episode in wanted if episode.key not in known)
            while (level := self._level(value, records)).episodes < len(self._seeds):
                yield None
            try:
                value = levels.send(level)
            except StopIteration as end:
                self.found = end.value
                return

    def _level(self, value: float, records: Sequence[EpisodeRecord]) -> Level:
        """How the job did at a value."""
        variant = variant_of(self._name, value)
        here = [record for record in self.counted(records) if record.variant == variant]
        return Level(value, sum(record.succeeded for record in here), len(here))


def variant_of(name: str, value: float) -> str:
    """Tells the episodes of a level apart."""
    return f"{name}={value:.6g}"


def episodes_of(name: str, value: float, seeds: Sequence[int]) -> list[Episode]:
    """Those of a level."""
    variant = variant_of(name, value)
    return [Episode(seed=seed, variant=variant, variation={name: value}) for seed in seeds]
