# SPDX-License-Identifier: Apache-2.0
"""The map loader: tiles of a larger map, loaded one at a time, which takes time and may fail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from behavior_sim.navigation.config import NavigationConfig
from behavior_sim.navigation.grid import Grid
from behavior_sim.navigation.world import unknown


class LoadCode(IntEnum):
    """How a loading ended (`LoadTile`)."""

    SUCCESS = 0
    LOADING_FAILED = 930
    CANCELED = 941


@dataclass(frozen=True, slots=True)
class Loaded:
    """The end of a loading."""

    request_id: int
    tile: str
    code: LoadCode
    message: str
    time: float
    """[s]"""


@dataclass(slots=True)
class _Loading:
    request_id: int
    tile: str
    start: float


class MapLoader:
    """Loads tiles.

    Args:
        config: the world.
        walls: its whole map.
        delay: [s] that loading takes.
        tile: in force at first; empty: the one that the description begins with.

    Raises:
        UnknownName: there is no such tile.
    """

    def __init__(
        self, config: NavigationConfig, walls: Grid, delay: float = 1.0, tile: str = ""
    ) -> None:
        self._tiles = {name: walls.crop(box) for name, box in config.tiles.items()}
        self._delay = delay
        self._failures: dict[str, int] = {}
        self._loading: _Loading | None = None
        self.tile = tile or config.start.tile
        """The tile in force."""
        self.check(self.tile)

    @property
    def grid(self) -> Grid:
        """The map in force."""
        return self._tiles[self.tile]

    @property
    def request_id(self) -> int | None:
        """Of the running loading; None: nothing is loaded."""
        return None if self._loading is None else self._loading.request_id

    def fail_next(self, tile: str, times: int) -> None:
        """Let the next loadings of a tile fail; of every tile when no name is given.

        Raises:
            UnknownName: there is no such tile.
        """
        if tile:
            self.check(tile)
        for name in [tile] if tile else list(self._tiles):
            self._failures[name] = times

    def check(self, tile: str) -> None:
        """Make sure that there is such a tile.

        Raises:
            UnknownName: there is none.
        """
        if tile not in self._tiles:
            raise unknown("tile", tile, self._tiles)

    def load(self, now: float, request_id: int, tile: str) -> Loaded | None:
        """Begin to load a tile; returns the end of a loading that this one replaces.

        Raises:
            UnknownName: there is no such tile.
        """
        self.check(tile)
        replaced = self.cancel(now, "replaced by a newer request")
        self._loading = _Loading(request_id, tile, now)
        return replaced

    def cancel(self, now: float, why: str = "canceled by the client") -> Loaded | None:
        """Give the running loading up; returns its end, None when nothing is loaded."""
        loading, self._loading = self._loading, None
        if loading is None:
            return None
        return Loaded(loading.request_id, loading.tile, LoadCode.CANCELED, why, now)

    def progress(self, now: float) -> float:
        """Of the running loading, 0..1."""
        if self._loading is None:
            return 0.0
        return min(1.0, (now - self._loading.start) / self._delay) if self._delay > 0.0 else 1.0

    def step(self, now: float) -> Loaded | None:
        """Go on loading; returns the end of it once."""
        loading = self._loading
        if loading is None or self.progress(now) < 1.0:
            return None
        self._loading = None
        if self._failures.get(loading.tile, 0) > 0:
            self._failures[loading.tile] -= 1
            text = f"the file of tile '{loading.tile}' could not be read: ask again"
            return Loaded(loading.request_id, loading.tile, LoadCode.LOADING_FAILED, text, now)
        self.tile = loading.tile
        text = f"tile '{loading.tile}' is loaded"
        return Loaded(loading.request_id, loading.tile, LoadCode.SUCCESS, text, now)
