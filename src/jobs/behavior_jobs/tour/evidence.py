# SPDX-License-Identifier: Apache-2.0
"""What was heard during a run: the recording that is drawn, and what it is judged by."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from behavior_sim.navigation.config import NavigationConfig
from behavior_sim.navigation.recording import NavigationRecording


class Cause(IntEnum):
    """Why a route was asked for (`RouteRequest`)."""

    NEW_ACTION = 0
    GOAL_MOVED = 1
    REROUTE = 2
    RETRY = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a route."""

    time: float
    """[s]"""
    number: int
    cause: Cause
    avoid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """A route, as an answer to a request."""

    time: float
    """[s]"""
    number: int
    edges: tuple[str, ...]
    text: str
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class Located:
    """A verdict of the localizer that differs from the one before."""

    time: float
    """[s]"""
    good: bool
    tile: str


@dataclass(frozen=True, slots=True)
class StateChange:
    """A mission's feedback that differs from the one before in its state."""

    time: float
    """[s]"""
    state: str


@dataclass
class Evidence:
    """Everything."""

    config: NavigationConfig
    recording: NavigationRecording = field(init=False)
    asked: list[Asked] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    located: list[Located] = field(default_factory=list)
    failures: list[tuple[float, str]] = field(default_factory=list)
    """Planning cycles that failed, and why."""
    states: list[StateChange] = field(default_factory=list)
    done: list[tuple[float, str]] = field(default_factory=list)
    """Interventions, by the name of the cue."""
    refused: list[str] = field(default_factory=list)
    """Interventions that the simulation refused."""
    figures: dict[str, float] = field(default_factory=dict)
    """The newest numbers of the world about itself."""

    def __post_init__(self) -> None:
        """Begin an empty recording."""
        self.recording = NavigationRecording(self.config)

    def done_at(self, cue: str) -> float | None:
        """When an intervention happened [s]; None: it did not."""
        return next((time for time, name in self.done if name == cue), None)
