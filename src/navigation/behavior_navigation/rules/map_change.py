# SPDX-License-Identifier: Apache-2.0
"""Changing the map under a robot.

::

    IDLE -> DISABLING -> LOADING -> REPUBLISH -> RESET_ROUTE -> RESET_LOCALIZATION
         -> WAIT_LOCALIZATION -> ENABLING -> IDLE

The tree goes through the phases; this keeps the books. Whatever fails on the way, the phase is
FAILED and the modules stay disabled, until a later change succeeds: another request, or the same
one again with the next mission. While a tile is being loaded the newest request counts.

A map loader that refuses a tile before it touched the map in force, because it does not know it,
leaves that one there: the modules are enabled again, and the robot drives on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from behavior_navigation.rules.state import MapPhase, MapState, NavigationState
from behavior_ros.node.elapsed import Elapsed
from behavior_tree.cause import Cause


@dataclass(frozen=True, slots=True)
class TileRequest:
    """Which tile is wanted."""

    tile_id: str
    map_url: str = ""
    """Empty: the map loader knows where it lies."""
    id: int = 0
    """Of the outside request; 0: it has none."""

    @property
    def name(self) -> str:
        """For reports: its own, or where it lies."""
        return self.tile_id or self.map_url


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """How loading a tile ended."""

    request_id: int
    success: bool
    text: str = ""
    acquired: float = 0.0
    """[s] from which on the map holds."""
    kept: bool = False
    """Without success: the map that was in force still is."""


class MapWorld(Protocol):
    """What the change needs of the world."""

    def load(self, request_id: int, tile: TileRequest) -> None:
        """Have the map loader load a tile; what it loads already is given up."""

    def stop_loading(self) -> None:
        """Give up what is being loaded."""

    def republish(self, acquired: float) -> None:
        """Have the maps published again, as of this time [s]."""


class MapChange:
    """At most one change at a time."""

    def __init__(
        self,
        state: NavigationState,
        world: MapWorld,
        *,
        enabled: bool = True,
        load_timeout: float = 20.0,
    ) -> None:
        """Start with the map that is there.

        Args:
            state: shared by all managers; the map's section is written here.
            world: does the work.
            enabled: tiles are loaded at all (``use_tile_loader``).
            load_timeout: [s] that the map loader may take.
        """
        self.state = state
        self.world = world
        self.enabled = enabled
        self.load_timeout = load_timeout
        self.loads = 0
        """Loads begun."""
        self.changes = 0
        """Changes completed."""
        self.failures = 0
        """Changes failed."""
        self._wanted: TileRequest | None = None
        self._current: TileRequest | None = None
        self._url = ""
        """Where the tile in force was loaded from; empty: the map loader knew."""
        self._load_id = 0
        self._loading = Elapsed(lambda: self.state.now)
        self._answer: LoadAnswer | None = None

    @property
    def map(self) -> MapState:
        """The section of the state that is written here."""
        return self.state.map

    @property
    def requested(self) -> bool:
        """Whether a tile is to be loaded."""
        return self.enabled and self._wanted is not None

    @property
    def loaded(self) -> bool:
        """Whether the map that is wanted is in force."""
        return self._wanted is None and self.map.phase is MapPhase.IDLE

    # -- what happens from outside -----------------------------------------------------------------

    def request(self, tile: TileRequest) -> bool:
        """Want a tile; False: it is there or under way already, so nothing is to be done."""
        newest = self._wanted
        if newest is not None:
            same = newest.tile_id == tile.tile_id and newest.map_url == tile.map_url
            if same or (tile.id and tile.id == newest.id):
                return False
        elif self.map.phase is MapPhase.IDLE and self._is_in_force(tile):
            return False
        self._wanted = tile
        self.map.requested = tile.name
        return True

    def answer(self, answer: LoadAnswer) -> bool:
        """The map loader answers; False: nobody waits for this one."""
        if answer.request_id != self._load_id or self.map.phase is not MapPhase.LOADING:
            return False
        self._answer = answer
        return True

    def mission_started(self) -> None:
        """A change that failed is tried again: the robot cannot drive without it."""
        self.map.refused = self.map.refusal = ""
        if self.map.phase is MapPhase.FAILED and self._wanted is None:
            self._wanted = self._current

    def mission_ended(self) -> None:
        """The tree is gone: a change that it was in the middle of has failed."""
        if self.map.phase not in (MapPhase.IDLE, MapPhase.FAILED):
            self.fail(f"the mission ended in phase {self.map.phase.name}")

    # -- what nodes do -----------------------------------------------------------------------------

    def enter(self, phase: MapPhase) -> str:
        """Go on to a phase; returns why that must not be, empty: done."""
        present = self.map.phase
        if phase is MapPhase.DISABLING:
            if self._wanted is None:
                return "no tile is wanted"
            self._current, self.map.text = self._wanted, ""
        elif not MapPhase.IDLE < present < MapPhase.FAILED or phase < present:
            return f"phase {phase.name} cannot follow {present.name}"
        self.map.phase = phase
        return ""

    def load(self) -> str:
        """Begin to load the tile; returns why not, empty: begun."""
        if not self.enabled:
            return "maps are not changed here: the parameter use_tile_loader is false"
        problem = self.enter(MapPhase.LOADING)
        if not problem:
            self._begin_load()
        return problem

    def wait_result(self) -> str | None:
        """Look for the map loader's answer; None: not yet, empty: loaded, otherwise why not.

        A newer request that has come meanwhile takes the place of the one being loaded.
        """
        if self.map.phase is not MapPhase.LOADING or self._current is None:
            return "no tile is being loaded"
        if self._wanted is not None and self._wanted is not self._current:
            self._current = self._wanted
            self._begin_load()
            return None
        if self._answer is not None:
            return "" if self._answer.success else self._answer.text or "the map loader refused"
        if self._loading() > self.load_timeout:
            self.world.stop_loading()
            return f"the map loader did not answer within {self.load_timeout:g} s"
        return None

    def stop_loading(self) -> None:
        """Nobody waits for the tile any more."""
        self._load_id += 1
        self.world.stop_loading()

    def republish(self) -> str:
        """Have the maps published again; returns why not, empty: done."""
        if self._answer is None or not self._answer.success:
            return "no tile was loaded"
        problem = self.enter(MapPhase.REPUBLISH)
        if not problem:
            self.world.republish(self._answer.acquired)
        return problem

    @property
    def kept(self) -> bool:
        """Whether the map loader refused the tile without touching the map in force."""
        loading = self.map.phase is MapPhase.LOADING
        return loading and self._answer is not None and self._answer.kept

    def keep(self) -> str:
        """The change is over, the old map in force; returns why that cannot be, empty: done."""
        if self._current is None or self._answer is None or not self._answer.kept:
            return "no tile was refused"
        self.map.phase, self.map.refused = MapPhase.IDLE, self._current.name
        self.map.refusal = Cause.of(self._answer.text).at(f"tile '{self._current.name}'")
        if self._wanted is self._current:
            self._wanted, self.map.requested = None, ""
        self._current = None
        return ""

    @property
    def localized(self) -> bool:
        """Whether the robot knows its place in the new map."""
        place = self.state.localization
        tile = self._current.tile_id if self._current is not None else ""
        # How the localizer calls a map that was asked for without a name nobody knows.
        return place.good and (not tile or place.map_id in ("", tile))

    def complete(self) -> str:
        """The new map is in force; returns why that cannot be, empty: done."""
        if self._current is None or self.map.phase is not MapPhase.ENABLING:
            return f"the change is not over: phase {self.map.phase.name}"
        self.map.phase, self.map.tile_id = MapPhase.IDLE, self._current.tile_id
        self._url = self._current.map_url
        self.changes += 1
        if self._wanted is not None and self._is_in_force(self._wanted):
            self._wanted, self.map.requested = None, ""
        return ""

    def fail(self, why: str) -> None:
        """Give the change up; a newer request stays."""
        if self.map.phase is MapPhase.FAILED:
            return
        if self.map.phase is MapPhase.LOADING:
            self.stop_loading()
        tile = self._current.name if self._current is not None else self.map.requested
        if self.map.phase is not MapPhase.IDLE:
            phase = self.map.phase.name.lower().replace("_", " ")
            why = Cause.of(why).at(f"tile '{tile}', {phase}")
        self.map.phase, self.map.text = MapPhase.FAILED, why
        self.failures += 1
        if self._current is None:
            self._current = self._wanted
        if self._wanted is self._current:
            self._wanted = None

    def _is_in_force(self, tile: TileRequest) -> bool:
        return tile.tile_id == self.map.tile_id and tile.map_url in ("", self._url)

    def _begin_load(self) -> None:
        assert self._current is not None
        self._load_id += 1
        self._loading, self._answer = Elapsed(lambda: self.state.now), None
        self.loads += 1
        self.world.load(self._load_id, self._current)
