# SPDX-License-Identifier: Apache-2.0
"""Sets two evaluations beside each other, seed by seed: is one better, or was it chance?"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from behavior_bringup.errors import UsageError
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.statistics import mcnemar, wilcoxon, wilson
from behavior_bringup.evaluation.store import Stored

SIGNIFICANT = 0.05
"""Probability of chance below which a difference counts as one."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Of the episodes that two evaluations share."""

    pairs: int
    successes: tuple[int, int]
    only_first: Sequence[int]
    """Seeds of which the first alone succeeded."""
    only_second: Sequence[int]
    outcomes_p: float
    """Probability that the outcomes differ so much by chance (McNemar)."""
    median_times_s: tuple[float | None, float | None]
    """Simulated, of those that succeeded in both."""
    times: int
    """How many those are."""
    times_p: float
    """Probability that the times differ so much by chance (Wilcoxon)."""
    differing: Mapping[str, tuple[Any, Any]]
    """What is not alike besides the commit, and might be the cause as well."""

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {**vars(self), "differing": {k: list(v) for k, v in self.differing.items()}}


def compare(first: Stored, second: Stored) -> Comparison:
    """Compare two evaluations.

    Raises:
        UsageError: they share no episode.
    """
    ours = {record.key: record for record in first.records}
    theirs = {record.key: record for record in second.records}
    keys = sorted(ours.keys() & theirs.keys())
    if not keys:
        raise UsageError(
            f"{first.file} and {second.file} share no seed: run both with the same --seed and"
            " --episodes"
        )
    pairs = [(ours[key], theirs[key]) for key in keys]
    only_first = [a.seed for a, b in pairs if a.succeeded and not b.succeeded]
    only_second = [a.seed for a, b in pairs if b.succeeded and not a.succeeded]
    times = [times for pair in pairs if (times := _times(*pair)) is not None]
    medians = [statistics.median(each) for each in zip(*times, strict=True)] or [None, None]
    return Comparison(
        pairs=len(pairs),
        successes=(sum(a.succeeded for a, _ in pairs), sum(b.succeeded for _, b in pairs)),
        only_first=only_first,
        only_second=only_second,
        outcomes_p=mcnemar(len(only_first), len(only_second)),
        median_times_s=(medians[0], medians[1]),
        times=len(times),
        times_p=wilcoxon([b - a for a, b in times]) if times else 1.0,
        differing=_differing(first, second),
    )


def _times(a: EpisodeRecord, b: EpisodeRecord) -> tuple[float, float] | None:
    if not (a.succeeded and b.succeeded) or a.sim_time_s is None or b.sim_time_s is None:
        return None
    return a.sim_time_s, b.sim_time_s


def _differing(first: Stored, second: Stored) -> dict[str, tuple[Any, Any]]:
    """What differs besides the commit."""
    both = [{**each.about, **each.versions} for each in (first, second)]
    both = [{k: v for k, v in each.items() if k != "commit"} for each in both]
    return {
        key: (both[0].get(key), both[1].get(key))
        for key in sorted({*both[0], *both[1]})
        if (both[0].get(key) or None) != (both[1].get(key) or None)
    }


def lines(comparison: Comparison) -> list[str]:
    """The comparison in plain words."""
    said = []
    for name, count in zip("AB", comparison.successes, strict=True):
        interval = wilson(count, comparison.pairs)
        said.append(
            f"{name}: {count} of {comparison.pairs} episodes succeeded"
            f" ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
        )
    said.append(
        f"A alone succeeded {_seeds(comparison.only_first)}, B alone"
        f" {_seeds(comparison.only_second)}: {_judgement(comparison.outcomes_p)} (McNemar)"
    )
    before, after = comparison.median_times_s
    if before is not None and after is not None:
        said.append(
            f"median of the {comparison.times} that succeeded in both: {before:.1f} s in A,"
            f" {after:.1f} s in B: {_judgement(comparison.times_p)} (Wilcoxon)"
        )
    for key, (a, b) in comparison.differing.items():
        said.append(f"not the same in both, and perhaps the cause: {key} is {a} in A, {b} in B")
    return said


def _seeds(seeds: Sequence[int]) -> str:
    if not seeds:
        return "never"
    shown = ", ".join(str(seed) for seed in seeds[:8])
    more = f" and {len(seeds) - 8} more" if len(seeds) > 8 else ""
    return f"{len(seeds)} times (seeds {shown}{more})"


def _judgement(p: float) -> str:
    if p < SIGNIFICANT:
        return f"a difference, by chance with p = {p:.2g} only"
    return f"as chance would have it, p = {p:.2f}"
