# SPDX-License-Identifier: Apache-2.0
"""What a tour leaves to look at: tables, a picture and an animation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from behavior_jobs.tour.evidence import Evidence
from behavior_jobs.tour.findings import Finding, reached
from behavior_sim.navigation.drawing import draw_animation, draw_picture
from behavior_sim.navigation.recording import Event, Goal
from behavior_sim.trials import Table


def mark_goals(evidence: Evidence, goals: list[Goal]) -> None:
    """Add the goals, and when they were reached, to what is drawn."""
    recording = evidence.recording
    recording.goals = goals
    for goal, time in zip(goals, reached(evidence, goals), strict=True):
        if time is not None:
            event = Event(time, f"goal {goal.name} is reached", goal.pose.x, goal.pose.y)
            recording.events.append(event)
    recording.events.sort(key=lambda event: event.time)


def event_table(evidence: Evidence) -> Table:
    """What happened, in its order."""
    start = evidence.recording.start
    return Table(
        title="What happened",
        columns=("time [s]", "event", "where [m]"),
        rows=tuple(
            (f"{event.time - start:.1f}", event.text, f"{event.x:.1f}, {event.y:.1f}")
            for event in evidence.recording.events
        ),
    )


def finding_table(findings: Sequence[Finding]) -> Table:
    """What was asked for, and what was seen of it."""
    return Table(
        title="What was asked for",
        columns=("", "what", "seen"),
        rows=tuple(
            ("yes" if finding.happened else "no", finding.what, finding.how) for finding in findings
        ),
    )


def draw(evidence: Evidence, base: Path, outcome: str) -> str:
    """Draw picture and animation.

    Args:
        evidence: of the tour.
        base: folder and name of the files, without suffix.
        outcome: verdict and times.

    Returns:
        What was drawn, in a sentence.
    """
    recording, figures = evidence.recording, evidence.figures
    if not recording.moments:
        return "No pictures: nothing was recorded"
    picture, animation = base.with_suffix(".png"), base.with_suffix(".gif")
    result = (
        f"{outcome}   ·   {figures.get('distance_driven', 0.0):.0f} m driven, "
        f"{figures.get('collisions', 0.0):.0f} collisions"
    )
    draw_picture(recording, picture, title="Five goals on two map tiles", result=result)
    draw_animation(recording, animation)
    return f"Drawn: {picture}, {animation}"
