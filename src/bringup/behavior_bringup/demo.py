# SPDX-License-Identifier: Apache-2.0
"""The demonstration: brings the stack up, runs one mission, judges it, and leaves pictures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from behavior_bringup.client import StackClient
from behavior_bringup.description import Scalar
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import settle
from behavior_bringup.following import follow
from behavior_bringup.missions import Mission, Verdict
from behavior_bringup.progress import ProgressDisplay
from behavior_bringup.session import temporary_stack
from behavior_bringup.stack import free_stack

_RENDERING_TIMEOUT = 300.0


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What may be chosen about a demonstration."""

    speed: float
    """Times real time; 0: as fast as possible."""
    seed: int
    viewer: bool
    out: Path
    """Folder for the pictures."""


def run_demo(mission: Mission, options: DemoOptions, console: Console) -> bool:
    """Run the demonstration; returns whether the mission did its job.

    Raises:
        BringupError: the stack does not come up, or breaks.
    """
    options.out.mkdir(parents=True, exist_ok=True)
    recording = options.out / f"{mission.name}.npz"
    recording.unlink(missing_ok=True)
    stack = free_stack("demo")
    console.print(f"Bringing up the stack of the world '{mission.world}' ...", highlight=False)
    arguments: dict[str, Scalar] = {
        "world": mission.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "viewer": options.viewer,
        "recording": str(recording.resolve()),
    }
    with temporary_stack(stack, world=mission.world, arguments=arguments) as (client, _):
        console.print(
            f"The stack is up in ROS domain {client.domain}. Mission '{mission.name}' on"
            " /mission/action.",
            highlight=False,
        )
        verdict = _run(client, mission, console, stack.watch().check)
        _save_recording(client, console)
    _render(mission, recording, console)
    word = "[green]SUCCESS[/]" if verdict.success else "[red]FAILURE[/]"
    console.print(f"{word}: {verdict.reason}", highlight=False, soft_wrap=True)
    return verdict.success


def _run(
    client: StackClient, mission: Mission, console: Console, check: Callable[[], None]
) -> Verdict:
    action_id = client.start_mission(mission.name)
    with ProgressDisplay(console) as display:
        ending = follow(
            client,
            action_id,
            display=display,
            summary=lambda: mission.summary(client.truth),
            check=check,
            simulated_limit=mission.time_limit,
        )
    settle(client)
    verdict = mission.judge(client.truth)
    times = f"{ending.simulated:.1f} s simulated, {ending.wall:.1f} s wall"
    if not ending.succeeded:
        return Verdict(False, f"{ending.text or 'the mission failed'}; {verdict.reason} ({times})")
    return Verdict(verdict.success, f"{verdict.reason} ({times})")


def _save_recording(client: StackClient, console: Console) -> None:
    try:
        client.save_recording()
    except BringupError as error:
        console.print(f"No pictures: {error}", highlight=False, soft_wrap=True)


def _render(mission: Mission, recording: Path, console: Console) -> None:
    """Draw the pictures in a process of its own: the demonstration never depends on it."""
    if not recording.is_file():
        return
    picture, animation = (recording.with_suffix(suffix) for suffix in (".png", ".gif"))
    command = [sys.executable, "-m", "behavior_sim.rendering", str(recording)]
    command += ["--picture", str(picture), "--animation", str(animation)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_RENDERING_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        console.print("No pictures: drawing takes too long")
        return
    for line in (done.stdout + (done.stderr if done.returncode else "")).strip().splitlines():
        console.print(line, highlight=False, markup=False, soft_wrap=True)
