# SPDX-License-Identifier: Apache-2.0
"""Runs a mission many times from seeded start states and judges every run by the ground truth."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from behavior_bringup.client import StackClient
from behavior_bringup.description import Readiness
from behavior_bringup.errors import BringupError
from behavior_bringup.following import Ending
from behavior_bringup.object_trial import parts_tables
from behavior_bringup.readiness import wait_ready
from behavior_bringup.stack import Stack
from behavior_bringup.terminal import say, show_table, verdict_text
from behavior_bringup.trial_run import judged, run_trial
from behavior_sim.judging import Part, Verdict
from behavior_sim.trials import Job, TrialError


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """One episode."""

    seed: int
    outcome: str
    """`success` or `failure`."""
    reason: str
    sim_time_s: float | None
    wall_time_s: float
    mission_result: str = ""
    """What the executor said."""
    disturbances: list[str] = field(default_factory=list)
    """What was done to the robot, with the simulated time into the mission."""
    not_disturbed: list[str] = field(default_factory=list)
    """What was planned but did not happen, and why."""
    parts: list[dict[str, Any]] = field(default_factory=list)
    """The like things that it did or failed to do: `behavior_sim.judging.Part` each."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All episodes; written as JSON with the same keys for every mission."""

    mission: str
    seed: int
    disturb: bool
    records: list[EpisodeRecord]
    component_metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The components' own statistics at the end."""
    complete: bool = True
    """False if it was interrupted."""

    @property
    def successes(self) -> list[EpisodeRecord]:
        """Episodes that succeeded."""
        return [record for record in self.records if record.outcome == "success"]

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
            "records": [asdict(record) for record in self.records],
        }

    def write(self, file: Path) -> None:
        """Write the summary as JSON."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.summary(), indent=2) + "\n", encoding="utf-8")


def run_episode(
    client: StackClient,
    stack: Stack,
    ready: Readiness,
    job: Job,
    *,
    seed: int,
    disturb: bool,
) -> EpisodeRecord:
    """Reset the world, run the job, judge. Whatever goes wrong is the record's reason."""
    begin = time.monotonic()
    ending: Ending | None = None
    watch = stack.watch()
    trial = job.episode(client, seed=seed, disturb=disturb)
    try:
        wait_ready(client, ready, lambda: None)
        trial.prepare(seed)
        begin = time.monotonic()
        ending = run_trial(client, job, trial, check=watch.check)
        verdict = judged(trial, ending)
    except (BringupError, TrialError) as error:
        verdict = Verdict(False, str(error))
        abandon(client)
    finally:
        trial.close()
    return EpisodeRecord(
        seed=seed,
        outcome="success" if verdict.success else "failure",
        reason=verdict.reason,
        sim_time_s=round(ending.simulated, 3) if ending else None,
        wall_time_s=round(ending.wall if ending else time.monotonic() - begin, 3),
        mission_result=ending.text if ending else "",
        disturbances=trial.disturbances(),
        not_disturbed=trial.not_disturbed(),
        parts=[asdict(part) for part in trial.parts()],
    )


def abandon(client: StackClient) -> None:
    """Leave no mission running; an executor that is gone runs none."""
    try:
        client.cancel()
        client.work(1.0)
    except BringupError:
        pass


def component_metrics(client: StackClient) -> dict[str, dict[str, Any]]:
    """The newest numbers of every component."""
    return {
        component: {
            metric.name: {
                "unit": metric.unit,
                "value": metric.value,
                "median": metric.median,
                "p99": metric.p99,
                "maximum": metric.maximum,
                "samples": metric.samples,
            }
            for metric in message.metrics
        }
        for component, message in client.metrics.items()
    }


def record_line(record: EpisodeRecord) -> str:
    """One episode in one line."""
    sim = "-" if record.sim_time_s is None else f"{record.sim_time_s:.1f} s"
    line = f"seed {record.seed}: {record.outcome}, {sim} sim, {record.wall_time_s:.1f} s wall: "
    return line + "; ".join(_what_happened(record))


def _what_happened(record: EpisodeRecord) -> list[str]:
    """Reason and disturbances; of an episode that was left alone, why it was."""
    happened = [record.reason.splitlines()[0], *record.disturbances]
    if not record.disturbances and record.not_disturbed:
        happened.append(f"not disturbed: {', '.join(record.not_disturbed)}")
    return happened


def print_report(report: Report, console: Console) -> None:
    """Print the table and the totals."""
    rows = [
        (
            str(record.seed),
            verdict_text(record.outcome == "success", ("success", "failure")),
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
        lines.append(
            f"median of the successful ones: {summary['median_sim_time_s']:.1f} s simulated,"
            f" {summary['median_wall_time_s']:.1f} s wall"
            f" ({summary['real_time_factor']:.1f}x real time)"
        )
    for component, metrics in summary["component_metrics"].items():
        tick = metrics.get("execution_time")
        if tick:
            lines.append(
                f"tick of {component}: median {1000 * tick['median']:.2f} ms,"
                f" 99th percentile {1000 * tick['p99']:.2f} ms ({tick['samples']} ticks)"
            )
    return "\n".join(lines)
