# SPDX-License-Identifier: Apache-2.0
"""What a preview found, for people and for programs. No ROS."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_bringup.errors import BringupError
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.trees import MissionTrees
from behavior_sim.recordings.motion_summary import MotionSummary


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A mission as it went in the copy of the world."""

    mission: str
    parameters: Mapping[str, str]
    success: bool
    reason: str
    """What the executor said at the end, or why there was no end."""
    duration: float
    """Of the mission [s simulated]."""
    begin: LiveState
    """The real stack when it was copied."""
    end: LiveState
    """The copy when the mission had ended."""
    motion: MotionSummary
    trees: MissionTrees = field(default_factory=MissionTrees)
    """The mission's trees in the real stack when the preview began."""
    begun: float = 0.0
    """When the mission began, in the recording's time [s]."""
    motions: Path | None = None
    """File of the motions that were planned, until the next preview."""
    motions_text: str = field(default="", repr=False)
    """What stands in that file, which the next preview writes anew."""
    planned: int = 0
    """How many these are."""
    notes: list[str] = field(default_factory=list)
    """Where the copy differs from the real stack."""
    wall: Mapping[str, float] = field(default_factory=dict)
    """Where time went [s, wall]: `start` of processes, `set` of the world, `run` of the mission,
    `rest` of what moves after it, `analysis` of the recording."""

    @property
    def speed(self) -> float:
        """Of the mission's run, times real time."""
        return self.duration / max(self.wall.get("run", 0.0), 1e-6)

    @property
    def speed_of_all(self) -> float:
        """Of the whole preview, times real time."""
        return self.duration / max(sum(self.wall.values()), 1e-6)

    def lines(self) -> Iterator[str]:
        """The preview for a reader, without the verdict."""
        motion = self.motion
        yield f"The {motion.mover} moves {motion.length:.2f} m."
        for touch in motion.touched:
            links = ", ".join(touch.links)
            yield f"Touches {touch.name} at {self._since(touch.time):.1f} s ({links})."
        if not motion.touched:
            yield "Touches nothing."
        if (near := motion.clearance) is not None:
            yield (
                f"Keeps {1e3 * near.distance:.0f} mm from everything else: least at"
                f" {self._since(near.time):.1f} s, {near.link} from {near.name}."
            )
        for note in self.notes:
            yield f"Note: {note}."
        parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.wall.items())
        yield (
            f"{self.speed:.1f}x real time while it ran, {self.speed_of_all:.1f}x with all else"
            f" ({parts})."
        )

    def _since(self, time: float) -> float:
        """A time of the recording as one of the mission [s]."""
        return max(0.0, time - self.begun)

    def row(self) -> dict[str, Any]:
        """The preview for a file of JSON: lengths in metres, times in seconds since its begin."""
        motion, near = self.motion, self.motion.clearance
        return {
            "mission": self.mission,
            "parameters": dict(self.parameters),
            "success": self.success,
            "reason": self.reason,
            "duration_s": round(self.duration, 3),
            "tool_path": [
                [round(self._since(float(time)), 3), *(round(float(value), 4) for value in place)]
                for time, place in zip(motion.times, motion.tool, strict=True)
            ],
            "tool_path_length_m": round(motion.length, 4),
            "touched": [
                {
                    "name": touch.name,
                    "time_s": round(self._since(touch.time), 3),
                    "links": list(touch.links),
                }
                for touch in motion.touched
            ],
            "clearance": near
            and {
                "distance_m": round(near.distance, 4),
                "time_s": round(self._since(near.time), 3),
                "link": near.link,
                "name": near.name,
            },
            "begin": self.begin.row(),
            "end": self.end.row(),
            "tree_files": dict(self.trees.files),
            "tree_revisions": dict(self.trees.revisions),
            "motions": str(self.motions) if self.motions else "",
            "planned_motions": self.planned,
            "notes": self.notes,
            "wall_s": {name: round(seconds, 3) for name, seconds in self.wall.items()},
            "times_real_time": round(self.speed, 2),
            "times_real_time_of_all": round(self.speed_of_all, 2),
        }

    def write(self, file: Path) -> None:
        """Write the row as JSON; parent folders are made.

        Raises:
            BringupError: that is not possible.
        """
        text = json.dumps(self.row(), indent=1) + "\n"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BringupError(
                f"The preview cannot be written to {file}: {error.strerror}; name another file"
                " with --json"
            ) from error
