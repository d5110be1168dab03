# SPDX-License-Identifier: Apache-2.0
"""`behavior demo navigation`: the tour, its disturbances, verdict, picture and animation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import sequence_action
from behavior_bringup.description import Scalar
from behavior_bringup.errors import BringupError
from behavior_bringup.following import Ending, follow
from behavior_bringup.navigation.evidence import Evidence
from behavior_bringup.navigation.judge import Finding, judge, reached
from behavior_bringup.navigation.recorder import Recorder
from behavior_bringup.navigation.tour import Director, goals_of, tour_steps
from behavior_bringup.progress import ProgressDisplay
from behavior_bringup.session import temporary_stack
from behavior_bringup.stack import free_stack
from behavior_bringup.terminal import say, say_verdict, show_table, verdict_text
from behavior_bringup.watching import watching_lines
from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import NavigationConfig, load_navigation_world
from behavior_sim.navigation.drawing import draw_animation, draw_picture
from behavior_sim.navigation.recording import Event, Goal
from behavior_sim.resources import find_navigation_world

STACK = "navigation"
WORLD = "warehouse"
TIME_LIMIT = 600.0
"""[s] of simulated time."""


@dataclass(frozen=True, kw_only=True)
class TourOptions:
    """What may be chosen about a demonstration."""

    speed: float
    """Times real time; 0: as fast as possible."""
    seed: int
    viewer: bool
    out: Path
    """Folder for picture and animation."""


def run_navigation_demo(options: TourOptions, console: Console) -> bool:
    """Run the demonstration; returns whether everything that was asked for happened.

    Raises:
        BringupError: the stack does not come up, or breaks.
    """
    config = load_navigation_world(find_navigation_world(WORLD))
    stack = free_stack("demo")
    say("Bringing up the stack of the world 'navigation' ...", console)
    arguments: dict[str, Scalar] = {
        "warehouse": WORLD,
        "speed": options.speed,
        "seed": options.seed,
        "headless": True,
        "viewer": options.viewer,
    }
    with temporary_stack(stack, world=STACK, arguments=arguments) as (client, _):
        say(f"The stack is up in ROS domain {client.domain}. The tour has five goals.", console)
        state = stack.state()
        for line in watching_lines(stack, state) if state else ():
            say(line, console)
        evidence, ending = _drive(client, config, console, stack.watch().check)
    goals = _goals(evidence)
    findings = judge(evidence, goals)
    _mark_goals(evidence, goals)
    success = ending.succeeded and all(finding.happened for finding in findings)
    _print_findings(findings, evidence, console)
    times = f"{ending.simulated:.0f} s simulated, {ending.wall:.0f} s wall"
    _draw(evidence, options.out, times, success, console)
    why = (
        ending.text
        if not ending.succeeded
        else "; ".join(finding.what for finding in findings if not finding.happened)
    )
    say_verdict(success, f"{why or 'all of it happened'} ({times})", console)
    return success


def _drive(
    client: StackClient, config: NavigationConfig, console: Console, check: Callable[[], None]
) -> tuple[Evidence, Ending]:
    recorder = Recorder(client, config, Director())
    recorder.action_id = client.give(sequence_action(tour_steps(config)))

    def summary() -> str:
        events = recorder.evidence.recording.events
        return events[-1].text if events else ""

    with ProgressDisplay(console) as display:
        ending = follow(
            client,
            recorder.action_id,
            display=display,
            summary=summary,
            check=check,
            simulated_limit=TIME_LIMIT,
            now=lambda: recorder.now,
        )
    recorder.settle()
    evidence = recorder.finish()
    if evidence.refused:
        raise BringupError(f"The simulation refused: {'; '.join(evidence.refused)}")
    return evidence, ending


def _goals(evidence: Evidence) -> list[Goal]:
    """Where the goals were at last; they are drawn there too."""
    config, recording = evidence.config, evidence.recording
    frames = {name: Pose2D(*pose) for name, pose in config.frames.items()}
    recording.goals = goals_of(tour_steps(config), frames, recording.frames)
    return recording.goals


def _mark_goals(evidence: Evidence, goals: list[Goal]) -> None:
    recording = evidence.recording
    for goal, time in zip(goals, reached(evidence, goals), strict=True):
        if time is not None:
            event = Event(time, f"goal {goal.name} is reached", goal.pose.x, goal.pose.y)
            recording.events.append(event)
    recording.events.sort(key=lambda event: event.time)


def _print_findings(findings: list[Finding], evidence: Evidence, console: Console) -> None:
    start = evidence.recording.start
    events = (
        (f"{event.time - start:.1f}", event.text, f"{event.x:.1f}, {event.y:.1f}")
        for event in evidence.recording.events
    )
    columns = ("time [s]", "event", "where [m]")
    show_table(columns, events, title="What happened", console=console)
    seen = (
        (verdict_text(finding.happened, ("yes", "no")), finding.what, finding.how)
        for finding in findings
    )
    show_table(("", "what", "seen"), seen, title="What was asked for", console=console)


def _draw(evidence: Evidence, out: Path, times: str, success: bool, console: Console) -> None:
    """Draw picture and animation; the verdict never depends on it."""
    recording = evidence.recording
    if not recording.moments:
        say("No pictures: nothing was recorded", console)
        return
    picture, animation = out / "navigation.png", out / "navigation.gif"
    figures = evidence.figures
    result = (
        f"{'everything happened as asked' if success else 'not everything happened as asked'}"
        f"   ·   {figures.get('distance_driven', 0.0):.0f} m driven, "
        f"{figures.get('collisions', 0.0):.0f} collisions, {times}"
    )
    title = "Five goals on two map tiles"
    say("Drawing a picture and an animation, which may take a minute ...", console)
    try:
        draw_picture(recording, picture, title=title, result=result)
        draw_animation(recording, animation)
    except Exception as error:  # a picture less is no failure
        say(f"No pictures: {error}", console)
        return
    say(f"Drawn: {picture}, {animation}", console)
