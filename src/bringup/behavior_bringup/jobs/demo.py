# SPDX-License-Identifier: Apache-2.0
"""The demonstration: brings a stack up, runs a job once, judges it, and leaves pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from behavior_bringup.errors import BringupError
from behavior_bringup.jobs.storyboard import Storyboard
from behavior_bringup.jobs.trial_run import judged, run_trial, stack_arguments
from behavior_bringup.missions.progress import ProgressDisplay
from behavior_bringup.stacks.description import Scalar
from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import free_stack
from behavior_bringup.stacks.watching import watching_lines
from behavior_bringup.terminal import say, say_verdict, show_table, verdict_text
from behavior_sim.trials import Job, Table, Trial, TrialError


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What may be chosen about a demonstration."""

    world: str
    namespace: str
    """Of all nodes of the stack; empty: none."""
    speed: float
    """Times real time; 0: as fast as possible."""
    seed: int
    cameras: bool
    """Perceive through simulated cameras."""
    console: bool
    base: Path
    """Folder and name of the pictures, without suffix."""


def run_demo(job: Job, options: DemoOptions, console: Console) -> bool:
    """Run the demonstration; returns whether the job was done.

    Raises:
        BringupError: the stack does not come up, or breaks.
    """
    options.base.parent.mkdir(parents=True, exist_ok=True)
    recording = options.base.with_suffix(".npz")
    recording.unlink(missing_ok=True)
    arguments: dict[str, Scalar] = {
        "world": options.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "console": options.console,
        "recording": str(recording.resolve()),
    }
    arguments = stack_arguments(options.world, arguments, cameras=options.cameras)
    stack = free_stack("demo")
    say(f"Bringing up the stack of the world '{options.world}' ...", console)
    story = Storyboard()
    with temporary_stack(
        stack, world=options.world, arguments=arguments, namespace=options.namespace
    ) as (client, _):
        say(
            f"The stack is up in ROS domain {client.domain}. Mission '{job.name}' on"
            f" {options.namespace}/mission/action.",
            console,
        )
        state = stack.state()
        for line in watching_lines(stack, state) if state else ():
            say(line, console)
        if not options.console:
            say("Look on in the browser: 'behavior demo --console'.", console)
        trial = job.demonstration(client)
        try:
            with ProgressDisplay(console) as display:
                check = stack.watch().check
                ending = run_trial(
                    client, job, trial, check=check, display=display, on_feedback=story.take
                )
            verdict = judged(trial, ending)
        except TrialError as error:
            raise BringupError(str(error)) from error
        finally:
            trial.close()
        drawable = _save(trial, options.base, console)
    for table in trial.tables():
        _show(table, console)
    times = f"{ending.simulated:.1f} s simulated, {ending.wall:.1f} s wall"
    outcome = f"{verdict.reason} ({times})"
    if drawable:
        draw(trial, options.base, story, outcome, console)
    say_verdict(verdict.success, outcome, console)
    return verdict.success


def _show(table: Table, console: Console) -> None:
    words = ("yes", "no")
    rows = (
        [verdict_text(cell == "yes", words) if cell in words else cell for cell in row]
        for row in table.rows
    )
    show_table(table.columns, rows, title=table.title, console=console)


def _save(trial: Trial, base: Path, console: Console) -> bool:
    """Keep what pictures need; returns whether there can be any."""
    try:
        trial.save(base)
    except Exception as error:  # a picture less is no failure
        say(f"No pictures: {error}", console)
        return False
    return True


def draw(trial: Trial, base: Path, story: Storyboard, outcome: str, console: Console) -> None:
    """Draw the pictures; the demonstration never depends on it."""
    say("Drawing a picture and an animation, which may take a minute ...", console)
    try:
        words = trial.draw(base, story.captions, outcome)
    except Exception as error:  # a picture less is no failure
        words = f"No pictures: {error}"
    say(words, console)
