# SPDX-License-Identifier: Apache-2.0
"""What `behavior evaluate` and the verbs about its files do."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation.comparison import compare, lines
from behavior_bringup.evaluation.crew import Crew
from behavior_bringup.evaluation.merge import merge
from behavior_bringup.evaluation.plan import EpisodePlan
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.report_page import page
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.statistics import wilson
from behavior_bringup.evaluation.store import SUFFIX, EpisodeStore, read
from behavior_bringup.evaluation.task import STACK_RUNNER, Task, load_runner
from behavior_bringup.evaluation.versions import present_versions
from behavior_bringup.evaluation.worker_process import Worker, WorkerProcess
from behavior_bringup.job_options import configured, speed_for
from behavior_bringup.judges import job_named
from behavior_bringup.terminal import print_json, say

FAST = 8.0
"""Times real time: as fast as the whole stack keeps up with on 2 cores.

The simulation can go faster (0), and waits when the scene lags behind; but planning then takes ever
more of the simulated time, and the robot reacts late.
"""
PER_STACK = 20
"""Episodes after which a fresh stack comes up, which takes about as long as half an episode."""


def evaluate(options: argparse.Namespace) -> int:
    """Run a mission from many seeded start states and print how often it succeeds.

    Every episode resets the world; with --disturb something happens meanwhile that makes the job
    harder: things are moved or taken away, a door is pushed shut. Each episode is written down as
    it ends; after Ctrl-C, --resume goes on. Some jobs take options of their own, and count the
    parts of their episodes, such as `behavior evaluate stack_bins --bins 100`.
    'behavior evaluate report', 'merge' and 'compare' work on the files.
    """
    if options.json and options.json.is_dir():
        raise UsageError(f"--json needs a file, but {options.json} is a folder")
    plan = _plan(options)
    with EpisodeStore(
        episode_file(options),
        _about(options),
        present_versions(),
        resume=options.resume or options.shard.count > 1,
        planned={} if plan.parts else {"seed": plan.first, "episodes": plan.episodes},
    ) as store:
        complete = _run(options, plan, store)
        return _conclude(options, plan, store, complete)


def _plan(options: argparse.Namespace) -> EpisodePlan:
    """Which episodes; completes the options by what the job says."""
    if options.runner:
        load_runner(options.runner)
        options.speed = options.speed or 0.0
        return EpisodePlan(options.seed, options.episodes, shard=options.shard)
    job = configured(job_named(options.mission), options, evaluation=True)
    options.world = options.world or job.world
    options.speed = speed_for(job, options.speed, FAST)
    if job.parts_wanted and options.shard.count > 1:
        raise UsageError(
            f"'{options.mission}' runs until it has so many parts, however many episodes that"
            " takes: leave --shard away"
        )
    return EpisodePlan(options.seed, options.episodes, job.parts_wanted, options.shard)


def _run(options: argparse.Namespace, plan: EpisodePlan, store: EpisodeStore) -> bool:
    """Run what is missing; returns False after Ctrl-C."""
    from behavior_bringup.evaluation.display import EpisodeDisplay

    done = plan.done(store.records)
    if done >= plan.total:
        return True
    jobs = min(options.jobs or 1, plan.total - done)
    task = task_of(options, jobs)
    display = EpisodeDisplay(Console(), plan, done)

    def keep(record: EpisodeRecord) -> bool:
        new = store.append(record)
        if new:
            display.episode(record)
        return new

    schedule = Schedule(_episodes(plan, store), keep)
    crew = Crew(
        schedule,
        lambda: worker_of(task),
        size=jobs,
        versions=present_versions(),
        episodes_each=task.episodes_each,
        notice=say,
    )
    say(f"Episodes go to {store.file}, {jobs} at once")
    try:
        with display:
            crew.run()
    except KeyboardInterrupt:
        return False
    except BringupError:
        kept = plan.done(store.records)
        say(f"{kept} of {plan.total} {plan.unit} are kept in {store.file}")
        raise
    return True


def worker_of(task: Task) -> Worker:
    """A worker on this machine."""
    return WorkerProcess(task)


def _episodes(plan: EpisodePlan, store: EpisodeStore) -> Iterator[Episode]:
    for seed in plan.missing(store.records):
        yield Episode(seed=seed)


def task_of(options: argparse.Namespace, jobs: int) -> Task:
    """What the workers of an evaluation have to do."""
    names = ("mission", "world", "speed", "seed", "cameras", "namespace", "disturb")
    settings: dict[str, Any] = {name: getattr(options, name) for name in names}
    settings["param"] = [list(pair) for pair in options.param]
    settings["extra"] = list(options.extra)
    return Task(
        runner=options.runner or STACK_RUNNER,
        settings={
            **settings,
            "param": [list(pair) for pair in options.param],
            "extra": list(options.extra),
        },
        own_domain=jobs > 1,
        episodes_each=options.per_stack,
        memory_mb=options.memory,
    )


def _conclude(
    options: argparse.Namespace, plan: EpisodePlan, store: EpisodeStore, complete: bool
) -> int:
    """Print and write the figures of the plan's episodes; returns the exit code."""
    from behavior_bringup.evaluation.figures import Report, print_report

    records = sorted(plan.counted(store.records), key=lambda record: record.seed)
    report = Report(
        mission=options.mission,
        seed=options.seed,
        disturb=options.disturb,
        records=records,
        complete=complete,
    )
    print_report(report, Console())
    say(summary(records))
    if options.json:
        report.write(options.json)
    if complete:
        return 0
    say(
        f"Interrupted after {plan.done(records)} of {plan.total} {plan.unit}, which are kept in"
        f" {store.file}: the same command with --resume goes on"
    )
    return 130


def summary(records: list[EpisodeRecord]) -> str:
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


def episode_file(options: argparse.Namespace) -> Path:
    """Beside the file of figures, else under `out/`; each shard has its own."""
    base: Path = options.json or Path("out") / f"{options.mission.rpartition('/')[2]}.json"
    part = options.shard
    shard = f".shard-{part.index}-of-{part.count}" if part.count > 1 else ""
    return base.with_name(f"{base.stem}.episodes{shard}{SUFFIX}")


def _about(options: argparse.Namespace) -> dict[str, Any]:
    """What makes episodes comparable."""
    names = ("mission", "world", "disturb", "cameras", "speed", "extra", "runner")
    about = {name: getattr(options, name) for name in names}
    return {**about, "param": [f"{key}={value}" for key, value in options.param]}


def merge_files(options: argparse.Namespace) -> int:
    """Put the files of several shards of one evaluation into one file.

    Each episode counts once. Files of different evaluations or versions are refused.
    """
    merged = merge(options.files, options.output)
    count = len(merged.records)
    say(f"{count} episodes of {len(options.files)} files are in {options.output}")
    if merged.twice:
        say(f"{merged.twice} were in several files and count once")
    if merged.missing:
        shown = ", ".join(str(seed) for seed in merged.missing[:10])
        more = f" and {len(merged.missing) - 10} more" if len(merged.missing) > 10 else ""
        say(f"{len(merged.missing)} planned episodes are missing: seeds {shown}{more}")
    say(summary(list(merged.records)))
    return 0


def report(options: argparse.Namespace) -> int:
    """Write an evaluation as one HTML file: success, times, failures by reason, recordings."""
    stored = read(options.file)
    output: Path = options.output or options.file.with_suffix(".html")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page(stored, output.parent), encoding="utf-8")
    except OSError as error:
        raise BringupError(f"{output} cannot be written: {error.strerror}") from error
    say(f"{len(stored.records)} episodes are shown in {output}")
    return 0


def compare_files(options: argparse.Namespace) -> int:
    """Compare two evaluations seed by seed, such as of two commits.

    Outcomes by McNemar's test, times by Wilcoxon's: how probable is it that chance alone makes such
    a difference?
    """
    comparison = compare(read(options.first), read(options.second))
    if options.json:
        print_json(comparison.document())
    else:
        for line in lines(comparison):
            say(line)
    return 0
