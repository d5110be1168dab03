# SPDX-License-Identifier: Apache-2.0
"""Runs episodes on a stack of the job's world, which is up as long as the context lasts."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.record import FAILURE, SUCCESS, Episode, EpisodeRecord
from behavior_bringup.evaluation.recordings import MINUTES, forget_earlier, keep_recording
from behavior_bringup.evaluation.task import RunEpisode
from behavior_bringup.jobs.job_options import configured
from behavior_bringup.jobs.judges import job_named
from behavior_bringup.jobs.trial_run import judged, run_trial, stack_arguments
from behavior_bringup.missions.following import Ending
from behavior_bringup.stacks.description import Readiness, Scalar
from behavior_bringup.stacks.readiness import wait_ready
from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import Stack, free_stack
from behavior_bringup.terminal import say
from behavior_sim.judging import Verdict
from behavior_sim.trials import Job, TrialError


@contextmanager
def stack_episodes(settings: Mapping[str, Any]) -> Iterator[RunEpisode]:
    """Bring a stack up, and run episodes on it; see `task.Runner`.

    Args:
        settings: `mission`, `world`, `speed`, `seed`, `cameras`, `namespace`, `disturb`, and the
            job's own options `param` and `extra`, as the command line has them; `varied`: whether
            episodes have a variation; `recordings`: folder for them, empty: none are made;
            `keep_all`: also those of episodes that succeeded.

    Raises:
        BringupError: the stack does not become ready.
    """
    options = Namespace(**settings)
    job = configured(job_named(options.mission), options, evaluation=True)
    arguments: dict[str, Scalar] = {
        "world": options.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "black_box": MINUTES if options.recordings else 0.0,
    }
    arguments = stack_arguments(options.world, arguments, cameras=options.cameras)
    recorded = bool(arguments.get("black_box"))
    # A worker that has a domain of its own has a name of its own, too.
    stack = free_stack("-".join(filter(None, ("evaluate", os.environ.get("ROS_DOMAIN_ID")))))
    begin = time.time_ns()
    with temporary_stack(
        stack,
        world=options.world,
        arguments=arguments,
        namespace=options.namespace,
        respawn=True,
    ) as (client, ready):
        if recorded:
            forget_earlier(client, begin)

        def run(episode: Episode) -> EpisodeRecord:
            record = run_episode(
                client, stack, ready, job, episode, disturb=options.disturb, varied=options.varied
            )
            if not recorded or (record.succeeded and not options.keep_all):
                return record
            return with_recording(client, episode, record, Path(options.recordings))

        yield run


def with_recording(
    client: StackClient, episode: Episode, record: EpisodeRecord, folder: Path
) -> EpisodeRecord:
    """A record with the recording of its episode, if that can be had."""
    try:
        return replace(record, recording=keep_recording(client, episode, folder))
    except BringupError as error:
        say(str(error))
        return record


def run_episode(
    client: StackClient,
    stack: Stack,
    ready: Readiness,
    job: Job,
    episode: Episode,
    *,
    disturb: bool,
    varied: bool,
) -> EpisodeRecord:
    """Reset the world, run the job, judge. Whatever goes wrong is the record's reason."""
    begin = time.monotonic()
    ending: Ending | None = None
    watch = stack.watch()
    trial = job.episode(client, seed=episode.seed, disturb=disturb)
    try:
        wait_ready(client, ready, lambda: None)
        if varied:
            vary(client, episode.variation)
        trial.prepare(episode.seed)
        begin = time.monotonic()
        ending = run_trial(client, job, trial, check=watch.check)
        verdict = judged(trial, ending)
    except (BringupError, TrialError) as error:
        verdict = Verdict(False, str(error))
        abandon(client)
    finally:
        trial.close()
    return EpisodeRecord(
        seed=episode.seed,
        variant=episode.variant,
        variation=dict(episode.variation),
        outcome=SUCCESS if verdict.success else FAILURE,
        reason=verdict.reason,
        sim_time_s=round(ending.simulated, 3) if ending else None,
        wall_time_s=round(ending.wall if ending else time.monotonic() - begin, 3),
        mission_result=ending.text if ending else "",
        disturbances=trial.disturbances(),
        not_disturbed=trial.not_disturbed(),
        parts=[asdict(part) for part in trial.parts()],
        component_metrics=component_metrics(client),
    )


def vary(client: StackClient, factors: Mapping[str, float]) -> None:
    """Have the world be different from its next reset on.

    Raises:
        BringupError: the simulation does not answer, or knows no variation.
    """
    value = ParameterValue(
        type=ParameterType.PARAMETER_STRING, string_value=json.dumps(dict(factors))
    )
    request = SetParameters.Request(parameters=[Parameter(name="variation", value=value)])
    answer = client.call(SetParameters, "simulation/set_parameters", request)
    (result,) = answer.results
    if not result.successful:
        raise BringupError(f"The simulation of this world cannot be varied: {result.reason}")


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
