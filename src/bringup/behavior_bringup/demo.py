# SPDX-License-Identifier: Apache-2.0
"""The demonstration: brings the stack up, runs one mission, judges it, and leaves pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from behavior_bringup.client import StackClient
from behavior_bringup.description import Scalar
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import settle
from behavior_bringup.following import follow
from behavior_bringup.progress import ProgressDisplay
from behavior_bringup.session import temporary_stack
from behavior_bringup.stack import free_stack
from behavior_bringup.storyboard import Storyboard
from behavior_bringup.terminal import say, say_verdict
from behavior_bringup.watching import watching_lines
from behavior_sim.judging import Mission, Verdict
from behavior_sim.opengl import BACKENDS
from behavior_sim.rendering import RenderReport, render_recording


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What may be chosen about a demonstration."""

    speed: float
    """Times real time; 0: as fast as possible."""
    seed: int
    cameras: bool
    """Perceive through simulated cameras."""
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
    say(f"Bringing up the stack of the world '{mission.world}' ...", console)
    arguments: dict[str, Scalar] = {
        "world": mission.world,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "cameras": options.cameras,
        "viewer": options.viewer,
        "recording": str(recording.resolve()),
    }
    with temporary_stack(stack, world=mission.world, arguments=arguments) as (client, _):
        say(
            f"The stack is up in ROS domain {client.domain}. Mission '{mission.name}' on"
            " /mission/action.",
            console,
        )
        state = stack.state()
        for line in watching_lines(stack, state) if state else ():
            say(line, console)
        story = Storyboard()
        verdict = _run(client, mission, console, stack.watch().check, story)
        _save_recording(client, console)
    _render(recording, story, console)
    say_verdict(verdict.success, verdict.reason, console)
    return verdict.success


def _run(
    client: StackClient,
    mission: Mission,
    console: Console,
    check: Callable[[], None],
    story: Storyboard,
) -> Verdict:
    action_id = client.start_mission(mission.name)
    with ProgressDisplay(console) as display:
        ending = follow(
            client,
            action_id,
            display=display,
            summary=lambda: mission.summary(client.truth),
            check=check,
            told=story.take,
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
        say(f"No pictures: {error}", console)


def _render(recording: Path, story: Storyboard, console: Console) -> None:
    """Draw the pictures; the demonstration never depends on it."""
    if not recording.is_file():
        return
    picture, animation = (recording.with_suffix(suffix) for suffix in (".png", ".gif"))
    say("Drawing a picture and an animation, which may take a minute ...", console)
    try:
        words = rendering_words(
            render_recording(recording, picture, animation, captions=story.captions)
        )
    except Exception as error:  # a picture less is no failure
        words = f"No pictures: {error}"
    say(words, console)


def rendering_words(report: RenderReport) -> str:
    """What the renderer reports, in one line."""
    if report.backend == "none":
        return f"No pictures: {report.message}"
    note = f" ({report.message})" if report.message else ""
    return f"Drawn with {BACKENDS[report.backend].title}{note}: {report.png}, {report.gif}"
