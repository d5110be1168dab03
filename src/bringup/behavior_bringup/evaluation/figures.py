# SPDX-License-Identifier: Apache-2.0
"""The figures of an evaluation: as a table, as a line each, and as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.statistics import wilson
from behavior_bringup.jobs.object_trial import parts_tables
from behavior_bringup.terminal import say, show_table, verdict_text
from behavior_sim.judging import Part


@dataclass(frozen=True, kw_only=True)
class Report:
    """All episodes; written as JSON with the same keys for every mission."""

    mission: str
    seed: int
    disturb: bool
    records: list[EpisodeRecord]
    """In the order in which they are to be shown."""
    complete: bool = True
    """False if it was interrupted."""

    @property
    def successes(self) -> list[EpisodeRecord]:
        """Episodes that succeeded."""
        return [record for record in self.records if record.succeeded]

    @property
    def component_metrics(self) -> dict[str, dict[str, Any]]:
        """The components' own statistics at the end of the last episode that has some."""
        known = (record.component_metrics for record in reversed(self.records))
        return next(filter(None, known), {})

    def summary(self) -> dict[str, Any]:
        """The document that `--json` writes; medians are those of successful episodes."""
        sim = [record.sim_time_s for record in self.successes if record.sim_time_s is not None]
        wall = [record.wall_time_s for record in self.successes]
        return {
            "mission": self.mission,
            "seed": self.seed,
            "disturb": self.disturb,
            "complete": self.complete,
            "episodes": len(self.records),
            "successes": len(self.successes),
            "median_sim_time_s": statistics.median(sim) if sim else None,
            "median_wall_time_s": statistics.median(wall) if wall else None,
            "real_time_factor": sum(sim) / sum(wall) if wall and sum(wall) > 0 else None,
            "component_metrics": self.component_metrics,
            "records": [_without_metrics(record) for record in self.records],
        }

    def write(self, file: Path) -> None:
        """Write the summary as JSON."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.summary(), indent=2) + "\n", encoding="utf-8")


def _without_metrics(record: EpisodeRecord) -> dict[str, Any]:
    document = asdict(record)
    del document["component_metrics"]
    return document


def record_line(record: EpisodeRecord) -> str:
    """One episode in one line."""
    sim = "-" if record.sim_time_s is None else f"{record.sim_time_s:.1f} s"
    line = f"seed {record.seed}: {record.outcome}, {sim} sim, {record.wall_time_s:.1f} s wall: "
    return line + "; ".join(_what_happened(record))


def _what_happened(record: EpisodeRecord) -> list[str]:
    """Reason and disturbances; of an episode that was left alone, why it was."""
    happened = [*record.reason.splitlines()[:1], *record.disturbances]
    if not record.disturbances and record.not_disturbed:
        happened.append(f"not disturbed: {', '.join(record.not_disturbed)}")
    return happened


def print_report(report: Report, console: Console) -> None:
    """Print the table and the totals."""
    rows = [
        (
            str(record.seed),
            verdict_text(record.succeeded, (record.outcome, record.outcome)),
            "-" if record.sim_time_s is None else f"{record.sim_time_s:.1f}",
            f"{record.wall_time_s:.1f}",
            "\n".join(_what_happened(record)),
        )
        for record in report.records
    ]
    title = f"{report.mission}{' with disturbances' if report.disturb else ''}"
    columns = ("seed", "outcome", "sim [s]", "wall [s]", "reason")
    show_table(columns, rows, title=title, whole=columns[:-1], console=console)
    parts = [Part(**part) for record in report.records for part in record.parts]
    for table in parts_tables(parts):
        show_table(table.columns, table.rows, title=table.title, console=console)
    say(totals(report.summary()), console)


def totals(summary: dict[str, Any]) -> str:
    """The figures of all episodes in a few lines."""
    lines = [f"{summary['successes']} of {summary['episodes']} episodes succeeded"]
    if summary["median_sim_time_s"] is not None:
        factor = summary["real_time_factor"]
        lines.append(
            f"median of the successful ones: {summary['median_sim_time_s']:.1f} s simulated,"
            f" {summary['median_wall_time_s']:.1f} s wall"
            + ("" if factor is None else f" ({factor:.1f}x real time)")
        )
    for component, metrics in summary["component_metrics"].items():
        tick = metrics.get("execution_time")
        if tick:
            lines.append(
                f"tick of {component}: median {1000 * tick['median']:.2f} ms,"
                f" 99th percentile {1000 * tick['p99']:.2f} ms ({tick['samples']} ticks)"
            )
    return "\n".join(lines)


def sureness(records: Sequence[EpisodeRecord]) -> str:
    """How sure the success is, and what the episodes took."""
    interval = wilson(sum(record.succeeded for record in records), len(records))
    said = [
        f"success with 95 % confidence: {100 * interval.low:.1f} to {100 * interval.high:.1f} %"
    ]
    known = [r.peak_memory_mb for r in records if r.peak_memory_mb is not None]
    if known:
        said.append(
            f"memory of an episode's processes: median {statistics.median(known):.0f} MB, at most"
            f" {max(known):.0f} MB"
        )
    return "\n".join(said)
