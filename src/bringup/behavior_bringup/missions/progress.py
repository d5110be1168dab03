# SPDX-License-Identifier: Apache-2.0
"""Shows how a mission gets on: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

# Plain lines: say something at least this often [s of wall time].
QUIET_AT_MOST = 10.0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One look at a running mission."""

    mission: str
    state: str
    summary: str = ""
    """The job in one line, e.g. the tower so far."""
    active_path: str = ""
    skill: str = ""
    phase: str = ""
    simulated: float = 0.0
    """[s] since the mission began."""
    wall: float = 0.0
    """[s] since the mission began."""

    @property
    def doing(self) -> str:
        """Skill and phase."""
        return f"{self.skill}: {self.phase}" if self.skill and self.phase else self.skill

    @property
    def speed(self) -> float:
        """Simulated seconds per second of wall time."""
        return self.simulated / self.wall if self.wall > 0 else 0.0


def plain_line(progress: Progress) -> str:
    """One line for a log."""
    parts = [f"[{progress.simulated:6.1f} s sim {progress.wall:6.1f} s wall] {progress.state}"]
    parts += [part for part in (progress.doing, progress.active_path) if part]
    parts += [progress.summary] if progress.summary else []
    return "  ".join(parts)


def panel(progress: Progress) -> Panel:
    """The live picture for a terminal."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", justify="right", no_wrap=True)
    grid.add_column()
    times = (
        f"{progress.simulated:.1f} s simulated, {progress.wall:.1f} s wall"
        f" ({progress.speed:.1f}x real time)"
    )
    for label, value in (
        ("mission", f"{progress.mission} ({progress.state})"),
        ("tree", progress.active_path or "-"),
        ("skill", progress.doing or "-"),
        ("so far", progress.summary or "-"),
        ("time", times),
    ):
        grid.add_row(label, Text(value))
    return Panel(grid, title="behavior", title_align="left")


class ProgressDisplay:
    """Shows every progress handed to `update`; use it as a context manager."""

    def __init__(self, console: Console) -> None:
        """Write to that console."""
        self._console = console
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._last_key: tuple[str, ...] = ()
        self._last_wall = 0.0

    def __enter__(self) -> ProgressDisplay:
        """Begin."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; the last picture stays on the terminal."""
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Show it; as a plain line only when something changed."""
        if self._live is not None:
            self._live.update(panel(progress), refresh=True)
            return
        key = (progress.state, progress.skill, progress.phase, progress.summary)
        if key != self._last_key or progress.wall - self._last_wall >= QUIET_AT_MOST:
            self._last_key, self._last_wall = key, progress.wall
            self._console.print(plain_line(progress), highlight=False, markup=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
