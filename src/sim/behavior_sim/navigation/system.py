# SPDX-License-Identifier: Apache-2.0
"""The whole navigation without ROS: the world and everything that drives in it, in one clockwork.

`step` lets one time step pass and runs each module at its rate, always in the same order: the same
seed and the same inputs at the same steps give the same outputs. What the modules put out is
collected as events and handed to whoever listens for their type.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import NavigationConfig
from behavior_sim.navigation.evidence import EvidenceGrid
from behavior_sim.navigation.localizer import LocalizationStatus, Localizer
from behavior_sim.navigation.map_loader import Loaded, MapLoader
from behavior_sim.navigation.path_planner import Maneuver, Mode, PathPlanner, Plan, Reason
from behavior_sim.navigation.routes import PlannedRoute, RoutePlanner
from behavior_sim.navigation.speed import SpeedDecision, SpeedZone
from behavior_sim.navigation.state import NavigationState
from behavior_sim.navigation.tracker import Tracker, Tracking, TrajectoryCode
from behavior_sim.navigation.world import NavigationWorld, unknown

TIMESTEP = 0.02
"""[s]"""
ENTITIES = ("localizer", "egm", "rpp", "sdm", "tp")
"""What may be switched on and off, in the order of data."""
_RATES = {
    "localizer": 10.0,
    "scan": 5.0,
    "odometry": 12.5,
    "sdm": 5.0,
    "rpp": 5.0,
    "tp": 12.5,
    "status": 5.0,
    "truth": 10.0,
}
"""[Hz]; the modules run in this order."""

_E = TypeVar("_E")


@dataclass(frozen=True, slots=True)
class OdometryEvent:
    """What the wheels tell."""

    pose: Pose2D
    """Of the base in `odom`."""
    linear: float
    """[m/s]"""
    angular: float
    """[rad/s]"""


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """What the speed decision maker chose."""

    limit: float
    """[m/s]"""
    why: str


@dataclass(frozen=True, slots=True)
class Command:
    """Velocity that the trajectory planner wants."""

    linear: float
    angular: float


@dataclass(frozen=True, slots=True)
class MapChanged:
    """A tile is in force, or was asked for once more."""

    tile: str


@dataclass(frozen=True, slots=True)
class TruthEvent:
    """Where everything really is."""

    robot: Pose2D
    linear: float
    angular: float


class NavigationSystem:
    """World, localizer, planners, tracker and loader.

    Args:
        config: the world.
        seed: of all noise.
        localization_noise: standard deviation [m].
        loading_delay: [s] that loading a tile takes.
        patience: [s] that a way may be blocked before another route is recommended.
    """

    def __init__(
        self,
        config: NavigationConfig,
        *,
        seed: int = 0,
        localization_noise: float = 0.015,
        loading_delay: float = 1.0,
        patience: float = 3.0,
    ) -> None:
        self.config = config
        self._localization_noise = localization_noise
        self._loading_delay = loading_delay
        self._patience = patience
        self._listeners: dict[type, list[Callable[[Any], None]]] = defaultdict(list)
        self._every = {name: round(1.0 / (rate * TIMESTEP)) for name, rate in _RATES.items()}
        self.steps = 0
        self._cycle = 0
        self.enabled = dict.fromkeys(ENTITIES, True)
        self._begin(seed)

    def reset(self, seed: int, state: NavigationState | None = None) -> None:
        """Everything as in the beginning, but for the time and for what is switched off.

        Args:
            seed: of all noise.
            state: that was observed elsewhere; None: the world's own start.

        Raises:
            UnknownName: the state has a tile or a frame that the world has not; nothing changes.
        """
        if state is not None:  # before anything is given up
            _refuse_unknown(self.config, state)
        given_up = self.loader.cancel(self.now, "the world was reset")
        if given_up is not None:
            self._emit(given_up)
        self._begin(seed, state)
        self._emit(MapChanged(self.loader.tile))

    def _begin(self, seed: int, state: NavigationState | None = None) -> None:
        config, robot = self.config, self.config.robot
        self.world = NavigationWorld(config, seed)
        self.world.time = self.now
        if state is not None:
            self.world.put(state)
        self.localizer = Localizer(seed, noise=self._localization_noise)
        tile = state.tile if state is not None else ""
        self.loader = MapLoader(config, self.world.walls, self._loading_delay, tile)
        self.routes = RoutePlanner(config, self.world.walls)
        self.evidence = EvidenceGrid()
        self.planner = PathPlanner(robot.radius, patience=self._patience)
        self.speed = SpeedDecision(robot.radius, robot.max_linear)
        self.tracker = Tracker(
            robot.radius, robot.max_linear, robot.max_angular, robot.linear_acceleration
        )
        self.maneuver: Maneuver | None = None
        self.mode = Mode.IDLE
        self._plan: Plan | None = None
        self._planned_at = -math.inf
        self._limit: float | None = None
        self._limited_at = -math.inf
        self._tracking = Tracking()
        self._faults: dict[str, tuple[int, float]] = {}
        box = config.tiles[self.loader.tile]
        self.localizer.start(self.world.robot, self.world.odometry, self.loader.tile, box)
        if state is not None and not state.located:
            self.localizer.lose(self.now, 0.0)
        self._localization = self.localizer.step(self.now, self.world.robot, self.world.odometry)
        self.evidence.use_map(self.loader.grid)

    @property
    def now(self) -> float:
        """[s]"""
        return self.steps * TIMESTEP

    @property
    def estimate(self) -> Pose2D:
        """Where the robot believes to be; the modules know no other pose."""
        return self._localization.correction @ self.world.odometry

    def on(self, event: type[_E], listener: Callable[[_E], None]) -> None:
        """Call `listener` with every event of a type."""
        self._listeners[event].append(listener)

    # -- inputs

    def drive(self, linear: float, angular: float) -> None:
        """The base's velocity command [m/s, rad/s]."""
        self.world.base.command(linear, angular, self.now)

    def set_mode(self, mode: Mode) -> None:
        """Choose how the planners work; idle counts at once."""
        self.mode = mode
        if mode is Mode.IDLE:
            self._plan = None

    def set_maneuver(self, maneuver: Maneuver | None) -> None:
        """Choose what to drive along."""
        self.maneuver = maneuver

    def request_route(
        self, start: Pose2D | None, goal: Pose2D, avoid: list[str]
    ) -> PlannedRoute | None:
        """A route; from the robot where no start is given; None: the planner is silent."""
        if self._failing("route"):
            return None
        return self.routes.plan(start or self.estimate, goal, avoid)

    def reset_localization(self) -> bool:
        """Have the localizer search; returns whether it works at all."""
        if self.enabled["localizer"]:
            self.localizer.reset(self.now)
        return self.enabled["localizer"]

    def republish_maps(self) -> None:
        """Tell of the map in force once more."""
        self._emit(MapChanged(self.loader.tile))

    def switch(self, entity: str, on: bool) -> None:
        """Switch a module on or off; what is switched on begins anew."""
        if on and not self.enabled[entity]:
            self._restart(entity)
        self.enabled[entity] = on

    def _restart(self, entity: str) -> None:
        if entity == "egm":
            self.evidence.clear()
        elif entity == "rpp":
            self._plan, self.maneuver = None, None
        elif entity == "sdm":
            self._limit = None
        elif entity == "tp":
            self._plan = None

    def fail(self, what: str, cause: int, duration: float) -> None:
        """Let `route`, `planner` or `trajectory` fail with a cause for `duration` [s]."""
        self._faults[what] = (cause, self.now + duration)

    def _failing(self, what: str) -> int:
        """Cause of a fault on command; 0: none."""
        cause, until = self._faults.get(what, (0, -math.inf))
        return cause if self.now < until else 0

    # -- time

    def step(self) -> None:
        """Let one time step pass."""
        self.steps += 1
        self.world.step(TIMESTEP)
        loaded = self.loader.step(self.now)
        if loaded is not None:
            self._take_tile(loaded)
        for name, every in self._every.items():
            if self.steps % every == 0:
                getattr(self, f"_run_{name}")()

    def _take_tile(self, loaded: Loaded) -> None:
        if loaded.code == 0:
            self.localizer.use_map(loaded.tile, self.config.tiles[loaded.tile])
            self.evidence.use_map(self.loader.grid)
            self._plan = None
            self._emit(MapChanged(loaded.tile))
        self._emit(loaded)

    def _run_odometry(self) -> None:
        base = self.world.base
        self._emit(OdometryEvent(self.world.odometry, base.linear, base.angular))

    def _run_localizer(self) -> None:
        if self.enabled["localizer"]:
            self._localization = self.localizer.step(
                self.now, self.world.robot, self.world.odometry
            )
            self._emit(self._localization)

    def _run_scan(self) -> None:
        scan = self.world.scan()
        self._emit(scan)
        located = self.localizer.status is LocalizationStatus.GOOD
        if self.enabled["egm"] and located:
            self.evidence.step(self.now, self.estimate, scan)

    def _run_sdm(self) -> None:
        if not self.enabled["sdm"]:
            return
        zones = [
            SpeedZone(name, np.array(region.polygon), region.speed_limit)
            for name, region in self.config.regions.items()
            if region.speed_limit > 0.0
        ]
        limit, why = self.speed.limit(self.estimate, self._plan, zones, self.evidence.grid)
        self._limit, self._limited_at = limit, self.now
        self._emit(SpeedLimit(limit, why))

    def _run_rpp(self) -> None:
        if not self.enabled["rpp"]:
            return
        begin = time.perf_counter()
        self._cycle += 1
        # Without evidence of what is around there is no map to drive by.
        blind = not self.enabled["egm"] or self.now - self.evidence.updated > 1.0
        plan = self.planner.plan(
            self.now,
            self.estimate,
            self.maneuver,
            None if blind else self.evidence.grid,
            self.mode,
        )
        cause = self._failing("planner")
        if cause and self.mode is not Mode.IDLE:
            plan = replace(
                plan, points=np.zeros((0, 2)), reason=Reason(cause), text="failure on command"
            )
        plan = replace(plan, compute_time=time.perf_counter() - begin, cycle=self._cycle)
        self._plan, self._planned_at = plan, self.now
        self._emit(plan)

    def _run_tp(self) -> None:
        if not self.enabled["tp"]:
            return
        fresh = self._limit is not None and self.now - self._limited_at < 1.0
        self._tracking = self.tracker.track(
            self.now,
            self.estimate,
            self.world.base.linear,
            self._plan,
            self._planned_at,
            mode=self.mode,
            limit=self._limit if fresh else None,
            grid=self.evidence.grid,
        )
        cause = self._failing("trajectory")
        if cause and self.mode is not Mode.IDLE:
            self._tracking = Tracking(status=TrajectoryCode(cause))
        self._emit(Command(self._tracking.linear, self._tracking.angular))

    def _run_status(self) -> None:
        if self.enabled["tp"]:
            self._emit(self._tracking)

    def _run_truth(self) -> None:
        base = self.world.base
        self._emit(TruthEvent(self.world.robot, base.linear, base.angular))

    def _emit(self, event: object) -> None:
        for listener in self._listeners[type(event)]:
            listener(event)


def _refuse_unknown(config: NavigationConfig, state: NavigationState) -> None:
    if state.tile not in config.tiles:
        raise unknown("tile", state.tile, config.tiles)
    for name in state.frames:
        if name not in config.frames:
            raise unknown("frame", name, config.frames)
