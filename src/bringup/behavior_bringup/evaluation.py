# SPDX-License-Identifier: Apache-2.0
"""Runs a mission many times from seeded start states and judges every run by the ground truth."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from scipy.optimize import linear_sum_assignment

from behavior_bringup.client import StackClient
from behavior_bringup.description import Readiness
from behavior_bringup.errors import BringupError
from behavior_bringup.following import Ending, follow
from behavior_bringup.readiness import wait_ready
from behavior_bringup.stack import Stack
from behavior_bringup.terminal import say, show_table, verdict_text
from behavior_sim.judging import DisturbancePlan, Mission, Situation

# The scene agrees with the world when no object is further off [m].
SCENE_TOLERANCE = 0.03
# The world must go on for so long after a reset, and settle before the verdict [s simulated].
AFTER_RESET, BEFORE_VERDICT = 0.3, 1.0
# The scene gets so long to agree with the world [s simulated].
_PATIENCE = 30.0


@dataclass(frozen=True, kw_only=True)
class Record:
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


@dataclass(frozen=True, kw_only=True)
class Report:
    """All episodes; written as JSON with the same keys for every mission."""

    mission: str
    seed: int
    disturb: bool
    records: list[Record]
    component_metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The components' own statistics at the end."""
    complete: bool = True
    """False if it was interrupted."""

    @property
    def successes(self) -> list[Record]:
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


class Disturber:
    """Carries out a plan of disturbances while a mission runs."""

    def __init__(self, client: StackClient, plan: DisturbancePlan, action_id: str) -> None:
        """Act on every new ground truth until `stop`."""
        self._client = client
        self._plan = plan
        self._action_id = action_id
        self._done: list[tuple[str, Any]] = []
        client.on_truth = self._on_truth

    def stop(self) -> None:
        """Disturb no more."""
        self._client.on_truth = lambda: None

    @property
    def done(self) -> list[str]:
        """What was done to the robot."""
        return [what for what, future in self._done if not _refusal(future)]

    @property
    def refused(self) -> list[str]:
        """What the simulation refused, and why."""
        return [
            f"{what} (refused: {why})" for what, future in self._done if (why := _refusal(future))
        ]

    def _on_truth(self) -> None:
        feedback = self._client.feedback(self._action_id)
        if feedback is None:
            return
        situation = Situation(
            time=self._client.truth_time,
            skill=feedback.skill.lower().lstrip("/"),
            phase=feedback.phase,
            objects=self._client.truth,
        )
        disturbance = self._plan.due(situation)
        if disturbance is not None:
            what = f"{feedback.elapsed:.1f} s: {disturbance.cause}"
            self._done.append((what, self._client.disturb_later(disturbance)))


def _refusal(future: Any) -> str:
    """Why a disturbance was not done; empty: it was."""
    if not future.done():
        return "the simulation did not answer"
    answer = future.result()
    return "" if answer.code == 0 else str(answer.message)


def run_episode(
    client: StackClient,
    stack: Stack,
    ready: Readiness,
    mission: Mission,
    *,
    seed: int,
    disturb: bool,
) -> Record:
    """Reset the world, run the mission, judge. Whatever goes wrong is the record's reason."""
    begin = time.monotonic()
    disturber: Disturber | None = None
    plan = mission.disturbances(seed)
    watch = stack.watch()
    ending: Ending | None = None
    try:
        wait_ready(client, ready, lambda: None)
        prepare(client, mission, seed=seed)
        begin = time.monotonic()
        action_id = client.start_mission(mission.name)
        if disturb:
            disturber = Disturber(client, plan, action_id)
        ending = follow(client, action_id, check=watch.check, simulated_limit=mission.time_limit)
        settle(client)
        verdict = mission.judge(client.truth)
        success, reason = verdict.success, verdict.reason
        if not ending.succeeded:
            success, reason = False, f"{ending.text or 'the mission failed'}; {reason}"
    except BringupError as error:
        success, reason = False, str(error)
        abandon(client)
    finally:
        if disturber:
            disturber.stop()
    return Record(
        seed=seed,
        outcome="success" if success else "failure",
        reason=reason,
        sim_time_s=round(ending.simulated, 3) if ending else None,
        wall_time_s=round(ending.wall if ending else time.monotonic() - begin, 3),
        mission_result=ending.text if ending else "",
        disturbances=disturber.done if disturber else [],
        not_disturbed=[*disturber.refused, *_no_occasion(plan)] if disturber else [],
    )


def _no_occasion(plan: DisturbancePlan) -> list[str]:
    return [f"{what} (no occasion)" for what in plan.pending()]


def prepare(client: StackClient, mission: Mission, *, seed: int) -> None:
    """Put the world into the mission's start state and wait until the robot has seen it.

    Raises:
        BringupError: the scene does not come to agree with the world.
    """
    before = client.truth_time
    client.reset(seed=seed, layout=mission.layout)
    client.wait_simulated(lambda: client.truth_time > before + AFTER_RESET)
    if not client.wait_simulated(lambda: not disagreements(client), limit=_PATIENCE):
        raise BringupError(
            "The scene does not agree with the world after a reset: "
            + "; ".join(disagreements(client))
        )


def disagreements(client: StackClient) -> list[str]:
    """Where the robot's belief differs from the truth.

    Objects of one class cannot be told apart, so each real one goes with the believed one that
    makes the sum of the distances least.
    """
    wrong = [f"{name} counts as held" for name, item in client.scene.items() if item.held]
    for class_id in sorted({item.class_id for item in client.truth.values()}):
        real, believed = (
            [item for item in items.values() if item.class_id == class_id]
            for items in (client.truth, client.scene)
        )
        wrong += [f"{item.name} is not in the scene" for item in real[len(believed) :]]
        distances = np.array(
            [[np.linalg.norm(a.position - b.position) for b in believed] for a in real]
        ).reshape(len(real), len(believed))
        rows, columns = linear_sum_assignment(distances)
        wrong += [
            f"{real[row].name} is {distances[row, column]:.3f} m off"
            for row, column in zip(rows, columns, strict=True)
            if distances[row, column] > SCENE_TOLERANCE
        ]
    return wrong


def settle(client: StackClient) -> None:
    """Let the world come to rest before it is judged.

    Raises:
        BringupError: simulated time stands still.
    """
    until = client.truth_time + BEFORE_VERDICT
    client.wait_simulated(lambda: client.truth_time >= until)


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


def record_line(record: Record) -> str:
    """One episode in one line."""
    sim = "-" if record.sim_time_s is None else f"{record.sim_time_s:.1f} s"
    line = f"seed {record.seed}: {record.outcome}, {sim} sim, {record.wall_time_s:.1f} s wall: "
    return line + "; ".join(_what_happened(record))


def _what_happened(record: Record) -> list[str]:
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
