# SPDX-License-Identifier: Apache-2.0
"""What happened in a run, enough to draw it and to judge it."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from typing import TypeVar

from behavior_motion.planar_pose import Points, Pose2D
from behavior_sim.navigation.config import Box, NavigationConfig
from behavior_sim.navigation.path_planner import Mode

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Moment:
    """The truth at one time."""

    time: float
    """[s]"""
    robot: Pose2D
    speed: float
    """[m/s]"""
    people: tuple[tuple[float, float], ...] = ()
    """[m]"""


@dataclass(frozen=True, slots=True)
class RouteTaken:
    """A route that was planned."""

    time: float
    """[s]"""
    points: Points
    """[m] (n, 2)"""
    edges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """Where the robot was to go."""

    name: str
    pose: Pose2D


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth a mark on the map."""

    time: float
    """[s]"""
    text: str
    x: float
    """[m]"""
    y: float
    """[m]"""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that stood in the way for a while."""

    time: float
    """[s] from which on."""
    box: Box
    until: float = math.inf
    """[s] when it was taken away."""


@dataclass(frozen=True, slots=True)
class FrameMoved:
    """A frame that was put elsewhere."""

    time: float
    """[s]"""
    name: str
    before: Pose2D
    after: Pose2D


@dataclass
class NavigationRecording:
    """One run, from its first moment to its last."""

    config: NavigationConfig
    moments: list[Moment] = field(default_factory=list)
    modes: list[tuple[float, Mode]] = field(default_factory=list)
    """Changes of the planners' mode."""
    localization: list[tuple[float, bool]] = field(default_factory=list)
    """Changes between good and not."""
    paused: list[tuple[float, bool]] = field(default_factory=list)
    """Changes between paused and not."""
    tiles: list[tuple[float, str]] = field(default_factory=list)
    """Changes of the tile in force."""
    routes: list[RouteTaken] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    frames: list[FrameMoved] = field(default_factory=list)

    @property
    def start(self) -> float:
        """[s]"""
        return self.moments[0].time if self.moments else 0.0

    @property
    def end(self) -> float:
        """[s]"""
        return self.moments[-1].time if self.moments else 0.0

    def mode_at(self, time: float) -> Mode:
        """How the planners worked."""
        return value_at(self.modes, time, Mode.IDLE)

    def moment_at(self, time: float) -> Moment:
        """The truth at a time, the newest one before it."""
        index = bisect.bisect_right(self.moments, time, key=lambda moment: moment.time)
        return self.moments[max(index - 1, 0)]


def value_at(changes: list[tuple[float, _T]], time: float, before: _T) -> _T:
    """What a sequence of changes (time, value) amounts to at a time."""
    index = bisect.bisect_right(changes, time, key=lambda change: change[0])
    return changes[index - 1][1] if index else before


def note(changes: list[tuple[float, _T]], time: float, value: _T) -> None:
    """Append a value to a sequence of changes, if it is one."""
    if not changes or changes[-1][1] != value:
        changes.append((time, value))
