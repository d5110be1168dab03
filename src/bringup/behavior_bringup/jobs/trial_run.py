# SPDX-License-Identifier: Apache-2.0
"""Runs a job once on a stack that is up: for demonstrations and for evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from behavior_msgs.msg import MissionAction, MissionFeedback

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import mission_action, sequence_action
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.missions.following import Ending, follow
from behavior_bringup.missions.mission_steps import read_steps
from behavior_bringup.missions.progress import ProgressDisplay
from behavior_bringup.stacks.description import Scalar, load_stack, stack_file
from behavior_packages import PackageError, UnknownOfferError, packages
from behavior_sim.judging import Verdict
from behavior_sim.trials import Job, Trial

NOTHING: Mapping[str, str] = {}


def order_of(name: str, parameters: Mapping[str, str] = NOTHING) -> MissionAction:
    """The order to run a mission: the sequence that a package offers by this name, else the tree.

    Raises:
        BringupError: two packages offer the sequence, it cannot be read, or there are parameters
            for it.
    """
    try:
        file = packages().find("missions", name).value
    except UnknownOfferError:
        return mission_action(name, "", dict(parameters))
    except PackageError as error:
        raise BringupError(str(error)) from error
    if parameters:
        raise UsageError(f"'{name}' is a sequence, which has no parameters: leave --param away")
    return sequence_action(read_steps(Path(file)))


def stack_arguments(
    world: str, arguments: Mapping[str, Scalar], *, cameras: bool
) -> dict[str, Scalar]:
    """Those of some arguments that the stack of a world knows.

    Raises:
        UsageError: there is no such world, or it has no cameras and they are asked for.
    """
    known = load_stack(stack_file(world)).arguments
    if cameras and "cameras" not in known:
        raise UsageError(f"The stack of '{world}' has no cameras: leave --cameras away")
    wanted = {**arguments, "cameras": cameras}
    return {name: value for name, value in wanted.items() if name in known}


def run_trial(
    client: StackClient,
    job: Job,
    trial: Trial,
    *,
    check: Callable[[], None],
    display: ProgressDisplay | None = None,
    on_feedback: Callable[[MissionFeedback], None] = lambda feedback: None,
) -> Ending:
    """Give a job's mission, follow it to its end, and let the world come to rest.

    Args:
        client: in the domain of the stack.
        job: which.
        trial: of it.
        check: called now and then; raises when the stack is broken.
        display: where to show the mission.
        on_feedback: given each new feedback of it.

    Raises:
        BringupError: it takes too long, the executor is silent, or `check` raises.
    """
    mission = order_of(job.name, job.parameters)
    action_id = client.give(mission)
    trial.begin(mission)
    ending = follow(
        client,
        action_id,
        display=display,
        summary=trial.summary,
        check=check,
        on_feedback=on_feedback,
        simulated_limit=job.time_limit,
        now=trial.now,
    )
    if trial.now() >= 0.0:  # else this is no world of the job's: there is nothing to wait for
        trial.settle()
    return ending


def judged(trial: Trial, ending: Ending) -> Verdict:
    """The verdict on a trial: also its mission must have ended well.

    Raises:
        TrialError: it cannot be judged.
    """
    verdict = trial.verdict()
    if ending.succeeded:
        return verdict
    return Verdict(False, f"{ending.text or 'the mission failed'}; {verdict.reason}")
