# SPDX-License-Identifier: Apache-2.0
"""What `behavior evaluate` and the verbs about its files do."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation.crew import Crew
from behavior_bringup.evaluation.plan import EpisodePlan, Plan
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.search import Search
from behavior_bringup.evaluation.shard import Shard
from behavior_bringup.evaluation.store import SUFFIX, EpisodeStore, recordings_beside
from behavior_bringup.evaluation.task import STACK_RUNNER, Task, load_runner
from behavior_bringup.evaluation.variation import Variation, read_variation
from behavior_bringup.evaluation.versions import present_versions
from behavior_bringup.evaluation.worker_process import Worker, WorkerProcess
from behavior_bringup.jobs.job_options import configured
from behavior_bringup.jobs.judges import job_named
from behavior_bringup.terminal import say


def evaluate(options: argparse.Namespace) -> int:
    """Run a mission from many seeded start states and print how often it succeeds."""
    if options.json and options.json.is_dir():
        raise UsageError(f"--json needs a file, but {options.json} is a folder")
    variation = read_variation(options.variation) if options.variation else Variation()
    plan = _plan(options, variation)
    with EpisodeStore(
        episode_file(options),
        _about(options, variation),
        present_versions(),
        resume=options.resume or options.shard.count > 1,
        planned=_planned(plan),
    ) as store:
        complete = _run(options, plan, store)
        return _conclude(options, plan, store, complete)


def _plan(options: argparse.Namespace, variation: Variation) -> EpisodePlan | Search:
    """Which episodes; completes the options by what the job says."""
    if options.runner:
        load_runner(options.runner)
        parts = 0
    else:
        job = configured(job_named(options.mission), options, evaluation=True)
        options.world = options.world or job.world
        parts = job.parts_wanted
    without = variation.without_effect_on_cameras
    if options.cameras and without:
        raise UsageError(
            f"With --cameras {', '.join(without)} would change nothing: leave one of them away"
        )
    if options.search:
        return _search(options, variation)
    if parts and options.shard.count > 1:
        raise UsageError(
            f"'{options.mission}' runs until it has so many parts, however many episodes that"
            " takes: leave --shard away"
        )
    return EpisodePlan(options.seed, options.episodes, parts, options.shard, variation)


def _search(options: argparse.Namespace, variation: Variation) -> Search:
    name = options.search
    if name not in variation.factors:
        raise UsageError(
            f"--search {name} needs a file --variation with the interval of {name}, from the"
            " harmless end to the other"
        )
    if options.shard.count > 1:
        raise UsageError("A search goes by what it has found so far: leave --shard away")
    seeds = range(options.seed, options.seed + options.episodes)
    return Search(name, variation.factors[name], seeds)


def _planned(plan: EpisodePlan | Search) -> dict[str, int]:
    """What a merged file or a page can say is missing."""
    if isinstance(plan, Search) or plan.parts:
        return {}
    return {"seed": plan.first, "episodes": plan.episodes}


def _run(options: argparse.Namespace, plan: Plan, store: EpisodeStore) -> bool:
    """Run what is missing; returns False after Ctrl-C."""
    from behavior_bringup.evaluation.display import EpisodeDisplay

    done = plan.done(store.records)
    display = EpisodeDisplay(Console(), plan, done)

    def keep(record: EpisodeRecord) -> bool:
        new = store.append(record)
        if new:
            display.episode(record)
        return new

    schedule = Schedule(plan.to_run(store.records), keep)
    if not schedule.wait_for_work():
        return True
    try:
        with _places(options, schedule) as (make, room), display:
            jobs = max(1, min(options.jobs or room, plan.total - done))
            task = task_of(options, jobs)
            say(f"Episodes go to {store.file}, {jobs} at once")
            Crew(
                schedule,
                lambda: make(task),
                size=jobs,
                versions=store.versions,
                episodes_each=task.episodes_each,
                notice=say,
            ).run()
    except KeyboardInterrupt:
        return False
    except BringupError:
        kept = plan.done(store.records)
        say(f"{kept} of {plan.total} {plan.unit} are kept in {store.file}")
        raise
    return True


@contextmanager
def _places(
    options: argparse.Namespace, schedule: Schedule
) -> Iterator[tuple[Callable[[Task], Worker], int]]:
    """What makes workers where the options want them, and how many there is room for."""
    if options.on is None:
        yield worker_of, 1
        return
    from behavior_bringup.evaluation.ray_workers import RayCluster

    with RayCluster(options.on, cores=options.cores) as cluster:
        yield lambda task: cluster.worker(task, schedule.is_wanted), cluster.room


def worker_of(task: Task) -> Worker:
    """A worker on this machine."""
    return WorkerProcess(task)


def task_of(options: argparse.Namespace, jobs: int) -> Task:
    """What the workers of an evaluation have to do."""
    names = ("mission", "world", "speed", "seed", "cameras", "namespace", "disturb")
    settings: dict[str, Any] = {name: getattr(options, name) for name in names}
    settings["param"] = [list(pair) for pair in options.param]
    settings["extra"] = list(options.extra)
    settings["varied"] = options.variation is not None
    kept = options.recordings != "none"
    settings["recordings"] = str(recordings_folder(options)) if kept else ""
    settings["keep_all"] = options.recordings == "all"
    return Task(
        runner=options.runner or STACK_RUNNER,
        settings=settings,
        own_domain=jobs > 1 or options.on is not None,
        episodes_each=options.per_stack,
        memory_mb=options.memory,
    )


def _conclude(
    options: argparse.Namespace, plan: EpisodePlan | Search, store: EpisodeStore, complete: bool
) -> int:
    """Print and write the figures of the plan's episodes; returns the exit code."""
    from behavior_bringup.evaluation.figures import Report, print_report, sureness

    records = sorted(plan.counted(store.records), key=lambda record: record.key)
    report = Report(
        mission=options.mission,
        seed=options.seed,
        disturb=options.disturb,
        records=records,
        complete=complete,
    )
    print_report(report, Console())
    say(sureness(records))
    if isinstance(plan, Search) and plan.found is not None:
        for line in (*plan.found.levels, plan.found):
            say(str(line))
    if file := figures_file(options):
        report.write(file)
    if complete:
        return 0
    say(
        f"Interrupted after {plan.done(records)} of {plan.total} {plan.unit}, which are kept in"
        f" {store.file}: the same command with --resume goes on"
    )
    return 130


def figures_file(options: argparse.Namespace) -> Path | None:
    """Where the figures are written; each shard has its own file."""
    file: Path | None = options.json
    return file and file.with_name(f"{file.stem}{_shard_suffix(options)}{file.suffix}")


def episode_file(options: argparse.Namespace) -> Path:
    """Beside the file of figures, else under `out/`; each shard has its own."""
    base: Path = options.json or Path("out") / f"{options.mission.rpartition('/')[2]}.json"
    return base.with_name(f"{base.stem}.episodes{_shard_suffix(options)}{SUFFIX}")


def recordings_folder(options: argparse.Namespace) -> Path:
    """For recordings of episodes, beside the file of the episodes."""
    return recordings_beside(episode_file(options)).absolute()


def _shard_suffix(options: argparse.Namespace) -> str:
    part: Shard = options.shard
    return f".shard-{part.index}-of-{part.count}" if part.count > 1 else ""


def _about(options: argparse.Namespace, variation: Variation) -> dict[str, Any]:
    """What makes episodes comparable."""
    names = ("mission", "world", "disturb", "cameras", "speed", "extra", "runner", "search")
    about = {name: getattr(options, name) for name in names}
    return {
        **about,
        "param": [f"{key}={value}" for key, value in options.param],
        "variation": variation.document() if variation.factors else None,
    }
