# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

from rich.console import Console

from behavior_bringup.missions.progress import Progress, ProgressDisplay, panel, plain_line

LOOK = Progress(
    mission="stack_blocks",
    state="running",
    summary="tower: blue",
    active_path="stack_blocks/Pick::12",
    skill="Pick",
    phase="reach",
    simulated=12.5,
    wall=2.5,
)


def shown(terminal: bool, *looks: Progress) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100)
    with ProgressDisplay(console) as display:
        for look in looks:
            display.update(look)
    return stream.getvalue()


def later(wall: float, phase: str = "reach") -> Progress:
    return Progress(mission="m", state="running", skill="Pick", phase=phase, wall=wall)


def test_a_plain_line_holds_everything() -> None:
    line = plain_line(LOOK)
    for word in ("12.5 s sim", "2.5 s wall", "running", "Pick: reach", "Pick::12", "tower: blue"):
        assert word in line


def test_the_panel_holds_everything() -> None:
    console = Console(file=io.StringIO(), width=100, record=True)
    console.print(panel(LOOK))
    text = console.export_text()
    for word in ("stack_blocks (running)", "Pick: reach", "tower: blue", "5.0x real time"):
        assert word in text


def test_without_a_terminal_only_changes_are_told() -> None:
    assert len(shown(False, *(later(0.1 * i) for i in range(20))).splitlines()) == 1
    assert len(shown(False, later(0.0), later(0.1, "grasp"), later(0.2)).splitlines()) == 3
    assert len(shown(False, later(0.0), later(11.0)).splitlines()) == 2


def test_a_terminal_gets_a_panel() -> None:
    assert "╭" in shown(True, LOOK)


def test_speed_of_nothing_is_nothing() -> None:
    assert Progress(mission="m", state="waiting").speed == 0.0
