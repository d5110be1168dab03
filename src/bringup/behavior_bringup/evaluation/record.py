# SPDX-License-Identifier: Apache-2.0
"""An episode that is to be run, and the record of one that was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

SUCCESS, FAILURE = "success", "failure"
OVER_MEMORY, LOST = "memory", "lost"
"""Ended because its processes took too much memory; because its worker died each time."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One run of a job that is to be done."""

    seed: int
    """Of the start state, the noise, the disturbances and the variation."""
    variant: str = ""
    """Tells episodes of one seed apart, such as the levels of a search; empty: there is one."""
    variation: Mapping[str, float] = field(default_factory=dict)
    """What is different from the world's file: value by factor, see `variation`."""

    @property
    def key(self) -> tuple[str, int]:
        """Tells it from all others of its evaluation."""
        return self.variant, self.seed

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Self:
        """Of JSON's types."""
        return cls(**data)


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """What became of an episode."""

    seed: int
    outcome: str
    """`success`, `failure`, `memory` (over the bound) or `lost` (the worker died each time)."""
    reason: str
    sim_time_s: float | None
    """Of the mission; None: it did not end."""
    wall_time_s: float
    mission_result: str = ""
    """What the executor said."""
    disturbances: list[str] = field(default_factory=list)
    """What was done to the robot, with the simulated time into the mission."""
    not_disturbed: list[str] = field(default_factory=list)
    """What was planned but did not happen, and why."""
    parts: list[dict[str, Any]] = field(default_factory=list)
    """The like things that it did or failed to do: `behavior_sim.judging.Part` each."""
    variant: str = ""
    """See `Episode`."""
    variation: dict[str, float] = field(default_factory=dict)
    """See `Episode`."""
    recording: str = ""
    """File with the recording, as seen from the store's folder or absolute; empty: none."""
    peak_memory_mb: float | None = None
    """Most that the worker's processes had at once, pages that they share counted once [MB]."""
    host: str = ""
    """Machine that ran it."""
    component_metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The components' own statistics at its end."""

    @property
    def key(self) -> tuple[str, int]:
        """That of its episode."""
        return self.variant, self.seed

    @property
    def succeeded(self) -> bool:
        """Whether the job was done."""
        return self.outcome == SUCCESS
