# SPDX-License-Identifier: Apache-2.0
"""What the verbs do that disturb worlds, demonstrate and evaluate."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from behavior_bringup.connection import SIMULATION, enter
from behavior_bringup.description import Scalar
from behavior_bringup.errors import UsageError
from behavior_bringup.job_options import configured, speed_for
from behavior_bringup.judges import job_named
from behavior_bringup.offers import default_of
from behavior_bringup.stack import free_stack
from behavior_bringup.terminal import say
from behavior_sim.trials import Job

if TYPE_CHECKING:
    from behavior_bringup.client import StackClient
    from behavior_bringup.evaluation import EpisodeRecord


WATCHABLE = 4.0
"""Times real time: a demonstration that one can follow."""

FAST = 8.0
"""Times real time: as fast as the whole stack keeps up with on 2 cores.

The simulation can go faster (0), and waits when the scene lags behind; but planning then takes ever
more of the simulated time, and the robot reacts late.
"""


def disturb(options: argparse.Namespace) -> int:
    """Move an object of the simulated world, out of the gripper too, push it, or take it away.

    With --fault a part of the cell fails until it is mended or the world is reset.
    """
    from behavior_bringup.client import StackClient

    enter(options.stack, SIMULATION)
    with StackClient(options.namespace) as client:
        if options.push:
            client.push(options.object, options.push)
            say(f"Pushed '{options.object}'")
            return 0
        if options.fault:
            say(client.let_fail(options.object, options.fault == "on"))
            return 0
        client.displace(options.object, options.to)
    where = f"to {', '.join(f'{value:g}' for value in options.to)} m" if options.to else "away"
    say(f"Put '{options.object}' {where}")
    return 0


def demo(options: argparse.Namespace) -> int:
    """Bring a stack up, run a mission with live progress, judge it by the truth, and draw it.

    Some jobs take options of their own, such as `behavior demo stack_bins --bins 6`.
    """
    name = options.mission or default_of("judges", "demo NAME")
    job = configured(job_named(name), options, evaluation=False)
    options.speed = speed_for(job, options.speed, WATCHABLE)
    from behavior_bringup.demo import DemoOptions, run_demo

    choice = DemoOptions(
        world=options.world or job.world,
        namespace=options.namespace,
        speed=options.speed,
        seed=options.seed,
        cameras=options.cameras,
        viewer=options.viewer,
        base=options.out / name.rpartition("/")[2],
    )
    return 0 if run_demo(job, choice, Console()) else 1


def evaluate(options: argparse.Namespace) -> int:
    """Run a mission from many seeded start states and print how often it succeeds.

    Every episode resets the world; with --disturb something happens meanwhile that makes the job
    harder: things are moved or taken away, a door is pushed shut. Each episode is written down as
    it ends; after Ctrl-C, --resume goes on. Some jobs take options of their own, and count the
    parts of their episodes, such as `behavior evaluate stack_bins --bins 100`.
    """
    if options.json and options.json.is_dir():
        raise UsageError(f"--json needs a file, but {options.json} is a folder")
    job = configured(job_named(options.mission), options, evaluation=True)
    options.world = options.world or job.world
    options.speed = speed_for(job, options.speed, FAST)
    from behavior_bringup.episodes import EpisodeDisplay, EpisodeLog, EpisodePlan, run_all
    from behavior_bringup.evaluation import Report, component_metrics, print_report

    log = EpisodeLog(_episode_file(options), _about(options), resume=options.resume)
    plan = EpisodePlan(options.seed, options.episodes, job.parts_wanted)
    console, complete, metrics = Console(), True, {}
    if plan.done(log.records) < plan.total:
        display = EpisodeDisplay(console, plan, plan.done(log.records))
        with _evaluation_stack(options, job) as (client, run):
            say(f"The stack is up in ROS domain {client.domain}; episodes go to {log.file}")

            def keep(record: EpisodeRecord) -> None:
                log.append(record)
                display.episode(record)

            with display:
                complete = run_all(plan.missing(log.records), run, keep)
            metrics = component_metrics(client)
    records = sorted(plan.counted(log.records), key=lambda record: record.seed)
    report = Report(
        mission=options.mission,
        seed=options.seed,
        disturb=options.disturb,
        records=records,
        component_metrics=metrics,
        complete=complete,
    )
    print_report(report, console)
    if options.json:
        report.write(options.json)
    if not complete:
        say(
            f"Interrupted after {plan.done(records)} of {plan.total} {plan.unit}, which are kept in"
            f" {log.file}: the same command with --resume goes on"
        )
        return 130
    return 0


def _episode_file(options: argparse.Namespace) -> Path:
    """Beside the file of figures, else under `out/`."""
    if options.json:
        file: Path = options.json
        return file.with_name(f"{file.stem}.episodes.jsonl")
    return Path("out") / f"{options.mission}.episodes.jsonl"


def _about(options: argparse.Namespace) -> dict[str, Any]:
    """What makes episodes comparable."""
    names = ("mission", "world", "disturb", "cameras", "speed", "extra")
    about = {name: getattr(options, name) for name in names}
    return {**about, "param": [f"{key}={value}" for key, value in options.param]}


@contextmanager
def _evaluation_stack(
    options: argparse.Namespace, job: Job
) -> Iterator[tuple[StackClient, Callable[[int], EpisodeRecord]]]:
    """A stack for the time of an evaluation, and what runs an episode of a seed on it."""
    from behavior_bringup.evaluation import run_episode
    from behavior_bringup.session import temporary_stack
    from behavior_bringup.trial_run import stack_arguments

    world = options.world
    arguments: dict[str, Scalar] = {
        "world": world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
    }
    arguments = stack_arguments(world, arguments, cameras=options.cameras)
    stack = free_stack("evaluate")
    with temporary_stack(
        stack, world=world, arguments=arguments, namespace=options.namespace, respawn=True
    ) as (client, ready):
        yield (
            client,
            lambda seed: run_episode(client, stack, ready, job, seed=seed, disturb=options.disturb),
        )
