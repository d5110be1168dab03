# SPDX-License-Identifier: Apache-2.0
"""Which episodes an evaluation runs, and which of them a shard of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.shard import Shard
from behavior_bringup.evaluation.variation import Variation

FRUITLESS = 3
"""Episodes in a row without a part, after which an evaluation that counts parts gives up."""


class Plan(Protocol):
    """What is to be run, and how far that is."""

    @property
    def total(self) -> int:
        """How many there shall be of what is counted, at most."""

    @property
    def unit(self) -> str:
        """What is counted."""

    def weight(self, record: EpisodeRecord) -> int:
        """What an episode counts."""

    def counted(self, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Those of some episodes that belong to the plan."""

    def done(self, records: Iterable[EpisodeRecord]) -> int:
        """How much of what is counted there is."""

    def to_run(self, records: Sequence[EpisodeRecord]) -> Iterator[Episode | None]:
        """Those that are still to be run, see `Schedule`; it looks at the records before each."""


@dataclass(frozen=True)
class EpisodePlan:
    """Which episodes are run: so many, or as many as it takes for so many parts."""

    first: int
    """Seed of the first one; the next has the next number."""
    episodes: int
    parts: int = 0
    """0: episodes are counted."""
    shard: Shard = field(default_factory=Shard)
    """Every so many-th of the seeds; only where episodes are counted."""
    variation: Variation = field(default_factory=Variation)
    """What is different from episode to episode."""

    @property
    def total(self) -> int:
        """How many there shall be of what is counted."""
        return self.parts or len(self._seeds())

    @property
    def unit(self) -> str:
        """What is counted."""
        return "parts" if self.parts else "episodes"

    def weight(self, record: EpisodeRecord) -> int:
        """What an episode counts."""
        return len(record.parts) if self.parts else 1

    def counted(self, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Those of some episodes that belong to the plan."""
        if self.parts:
            return [record for record in records if record.seed >= self.first]
        seeds = self._seeds()
        return [record for record in records if record.seed in seeds]

    def done(self, records: Iterable[EpisodeRecord]) -> int:
        """How much of what is counted there is."""
        return sum(self.weight(record) for record in self.counted(records))

    def to_run(self, records: Sequence[EpisodeRecord]) -> Iterator[Episode | None]:
        """Those that are still to be run, as `missing`."""
        for seed in self.missing(records):
            yield Episode(seed=seed, variation=self.variation.draw(seed))

    def missing(self, records: Sequence[EpisodeRecord]) -> Iterator[int]:
        """The seeds that are still to be run; it looks at the records before each.

        Where parts are counted it ends when the last `FRUITLESS` episodes that were added to the
        records had none.
        """
        seeds: Iterable[int] = itertools.count(self.first) if self.parts else self._seeds()
        known = {record.seed for record in records}
        earlier = len(records)
        for seed in seeds:
            if self._is_enough(records, earlier):
                return
            if seed not in known:
                yield seed

    def _is_enough(self, records: Sequence[EpisodeRecord], earlier: int) -> bool:
        if not self.parts:
            return False
        newest = self.counted(records[earlier:])[-FRUITLESS:]
        fruitless = len(newest) == FRUITLESS and not any(record.parts for record in newest)
        return fruitless or self.done(records) >= self.parts

    def _seeds(self) -> range:
        last = self.first + self.episodes
        return range(self.first + self.shard.index, max(last, self.first), self.shard.count)
