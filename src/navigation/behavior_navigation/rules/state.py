# SPDX-License-Identifier: Apache-2.0
"""What the navigation managers know, in one place.

Every section is written by one manager only, before a tick or by its tree nodes within it; all
others read. So every node of a tick sees the same, and rules can be tested without managers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum

from behavior_executor.missions.mission import Code, failed
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_tree.cause import Cause


class Level(IntEnum):
    """Who moves the robot (``AutonomyLevel``)."""

    HALTED = 0
    MANUAL = 1
    TELEOPERATION = 2
    AUTONOMOUS = 3


class PlannerMode(IntEnum):
    """How the path planner works (``PlannerOperationMode``)."""

    IDLE = 0
    NOMINAL = 1
    FALLBACK = 2


class ActionPhase(IntEnum):
    """Where the action that the robot carries out is in its life."""

    IDLE = 0
    ACCEPTED = 1
    TILE_LOADING = 2
    WAIT_ROUTE = 3
    NAVIGATING = 4
    COMPLETED = 5
    FAILED = 6
    CANCELED = 7


class MapPhase(IntEnum):
    """Step of a change of the map."""

    IDLE = 0
    DISABLING = 1
    LOADING = 2
    REPUBLISH = 3
    RESET_ROUTE = 4
    RESET_LOCALIZATION = 5
    WAIT_LOCALIZATION = 6
    ENABLING = 7
    FAILED = 8


@dataclass(slots=True)
class LocalizationState:
    """Written by the system health manager."""

    fresh: bool = False
    """A result arrived within its maximum age."""
    good: bool = False
    """Fresh, and the localizer trusts it."""
    pose: Pose2D | None = None
    """Of the robot in the map, brought to now through the static frame; None: never known."""
    map_id: str = ""
    """Map that the pose refers to."""
    score: float = 0.0
    failures: int = 0
    """Edges from good to not good."""
    reason: str = "no localization result yet"
    """Why it is not good; empty: it is."""
    bad_for: float = 0.0
    """[s] since it was good, 0 while it is."""
    frame: str = "map"
    """That the pose is given in."""
    driven: float | None = None
    """[m] that the robot has driven since ever, by its odometry; None: there is none."""


@dataclass(slots=True)
class AutonomyState:
    """Written by the autonomy level manager."""

    selected: Level = Level.MANUAL
    effective: Level = Level.MANUAL
    deadman_enabled: bool = False
    deadman_alive: bool = True
    heartbeat_age: float = math.inf
    """[s]"""

    @property
    def may_drive(self) -> bool:
        """Whether the autonomy moves the robot."""
        return self.effective is Level.AUTONOMOUS


@dataclass(slots=True)
class ActionState:
    """Written by the action manager."""

    phase: ActionPhase = ActionPhase.IDLE
    action_id: str = ""
    goal: FramedPose | None = None
    """As asked for."""
    goal_in_map: Pose2D | None = None
    """As it is pursued."""
    goal_reached: bool = False
    route_id: str = ""
    """Empty: there is no route."""
    route_length: float = 0.0
    """[m]"""
    distance_remaining: float = -1.0
    """[m] along the route, -1 when not driving."""
    waiting_since: float = -math.inf
    """[s] node time of the first unanswered route request."""
    reroutes: int = 0
    """Routes requested after the first one."""
    paused: bool = False
    text: str = ""
    """Why it failed, a `Cause`; or what is to be said of its success."""

    @property
    def active(self) -> bool:
        """Whether there is an action to carry out."""
        return ActionPhase.IDLE < self.phase < ActionPhase.COMPLETED


@dataclass(slots=True)
class PlannerState:
    """Written by the planner manager."""

    mode: PlannerMode = PlannerMode.IDLE
    reason: str = "not started"
    health_fresh: bool = False
    reroute_wanted: bool = False
    """The mode's rule asks for a new route that avoids `blocked_edges`."""
    failed: bool = False
    """So many failures that the action must be given up."""
    why_failed: str = ""
    reset_wanted: bool = False
    """The localization has been bad for longer than its grace."""


@dataclass(slots=True)
class MapState:
    """Written by the map manager."""

    phase: MapPhase = MapPhase.IDLE
    tile_id: str = ""
    """Tile in force; empty: the first one was not loaded by us."""
    requested: str = ""
    """Tile asked for."""
    text: str = ""
    """Why the change failed."""
    refused: str = ""
    """Tile that was asked for in vain; the map in force was kept, and is driven on."""
    refusal: str = ""
    """Why, in plain words."""

    @property
    def changing(self) -> bool:
        """Whether no maneuver may be published now."""
        return self.phase is not MapPhase.IDLE

    def failure(self, why: str) -> Cause:
        """What a mission fails with for want of a map."""
        return failed(Code.MAP_FAILED, Cause.of(why).at("the map was not changed"))


@dataclass(slots=True)
class NavigationState:
    """All sections."""

    now: float = 0.0
    """[s] node time of this tick."""
    localization: LocalizationState = field(default_factory=LocalizationState)
    autonomy: AutonomyState = field(default_factory=AutonomyState)
    action: ActionState = field(default_factory=ActionState)
    planner: PlannerState = field(default_factory=PlannerState)
    map: MapState = field(default_factory=MapState)
    tiles: tuple[str, ...] = ()
    """Names of the tiles that there are; empty: they are not listed."""
    entities: dict[str, bool | None] = field(default_factory=dict)
    """Whether each switchable module is enabled; None: not known."""

    @property
    def disabled(self) -> tuple[str, ...]:
        """The switchable modules that are known not to be enabled."""
        return tuple(name for name, enabled in self.entities.items() if enabled is False)
