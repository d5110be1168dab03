# SPDX-License-Identifier: Apache-2.0
"""Tiles of a larger map, and which one the robot needs next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from behavior_navigation.rules.polyline import Points, Polyline


@dataclass(frozen=True, slots=True)
class Tile:
    """A rectangle of the map, in the frame of routes [m]."""

    name: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def contains(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point lies in it, or no more than `margin` [m] outside."""
        return (
            self.x_min - margin <= x <= self.x_max + margin
            and self.y_min - margin <= y <= self.y_max + margin
        )


@dataclass(frozen=True, slots=True)
class TileRule:
    """When another tile is needed."""

    tiles: tuple[Tile, ...] = ()
    lookahead: float = 1.5
    """[m] along the route; a tile that ends within is changed where the next one begins."""
    margin: float = 0.3
    """[m] that the robot may be outside of its tile, so that noise at a border changes nothing."""

    def needed(
        self, current: str, robot: tuple[float, float], ahead: tuple[float, float]
    ) -> str | None:
        """The tile to load now; None: the present one will do, or there is nothing better.

        The robot changes tiles where it is on both, if they overlap: the map that it is localized
        in should show where it stands.

        Args:
            current: name of the tile in force; one that is not listed says nothing.
            robot: its position [m].
            ahead: the route's point `lookahead` ahead, or again the robot [m].
        """
        known = {tile.name: tile for tile in self.tiles}
        present = known.get(current)
        if present is None:
            return None
        lost = not present.contains(*robot, self.margin)
        if not lost and present.contains(*ahead):
            return None
        others = [tile for tile in self.tiles if tile is not present]
        here = [tile for tile in others if tile.contains(*robot)]
        there = [tile for tile in others if tile.contains(*ahead)]
        best = [tile for tile in here if tile in there]
        # Tiles that only touch: there is no place on both.
        found = best or (here if lost else there)
        return found[0].name if found else None

    @property
    def names(self) -> list[str]:
        """Of all tiles."""
        return sorted(tile.name for tile in self.tiles)

    @property
    def extents(self) -> str:
        """Where the tiles lie, in plain words."""
        return ", ".join(
            f"'{t.name}' is ({t.x_min:g}, {t.y_min:g}) to ({t.x_max:g}, {t.y_max:g})"
            for t in self.tiles
        )

    def unknown(self, name: str) -> bool:
        """Whether tiles are listed, and none has this name."""
        return bool(self.tiles) and self.find(name) is None

    def outside(self, x: float, y: float) -> bool:
        """Whether tiles are listed, and a point [m] lies on none of them."""
        return bool(self.tiles) and not any(tile.contains(x, y) for tile in self.tiles)

    def find(self, name: str) -> Tile | None:
        """The tile of this name."""
        return next((tile for tile in self.tiles if tile.name == name), None)


EDGE = 0.1
"""[m] What leaves a tile is cut this much before: on the edge itself there may be no map."""


def stretch_within(
    tile: Tile, route: Polyline, s: float, start: float, end: float
) -> tuple[float, float]:
    """The part of a stretch of a route around a place that lies well in a tile.

    Args:
        tile: the tile.
        route: in the frame of the tile.
        s: arc length of the place [m].
        start: of the stretch [m], at most `s`.
        end: of the stretch [m], at least `s`.

    Returns:
        The arc lengths of its ends; an end of the stretch where it does not leave the tile, and
        both if the place itself lies outside.
    """
    if not tile.contains(*route.point(s)):
        return start, end
    behind = _way_within(tile, route.slice(start, s)[::-1])
    ahead = _way_within(tile, route.slice(s, end))
    # Not the sum of its pieces: by the last digit the end of a route would never be reached.
    return start if behind is None else s - behind, end if ahead is None else s + ahead


def _way_within(tile: Tile, points: Points) -> float | None:
    """Length of a polyline (m, 2) that begins in the tile, up to where it first leaves it [m].

    None: it does not.
    """
    low, high = np.array([tile.x_min, tile.y_min]), np.array([tile.x_max, tile.y_max])
    outside = np.flatnonzero(((points < low) | (points > high)).any(axis=1))
    if not len(outside):
        return None
    last = int(outside[0])
    steps = np.diff(points[: last + 1], axis=0)
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    begin, step = points[last - 1], steps[-1]
    beyond = np.where(step > 0.0, high, low)
    shares = np.divide(beyond - begin, step, out=np.ones(2), where=np.abs(step) > 1e-9)
    way = lengths[:-1].sum() + lengths[-1] * min(1.0, max(0.0, shares.min()))
    return max(0.0, float(way) - EDGE)


def read_tiles(lines: Iterable[str]) -> tuple[Tile, ...]:
    """The tiles in a list parameter, one entry ``name;x_min;y_min;x_max;y_max`` [m] each.

    Raises:
        ValueError: names the entry that is malformed.
    """
    tiles = [_tile(line.split(";")) for line in lines if line.strip()]
    names = [tile.name for tile in tiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"tiles named twice: {', '.join(twice)}")
    return tuple(tiles)


def _tile(parts: Sequence[str]) -> Tile:
    try:
        name, *numbers = (part.strip() for part in parts)
        tile = Tile(name, *map(float, numbers))
    except (TypeError, ValueError):
        tile = Tile("", math.nan, math.nan, math.nan, math.nan)
    if not (tile.name and tile.x_min < tile.x_max and tile.y_min < tile.y_max):
        raise ValueError(f"tile '{';'.join(parts)}': write name;x_min;y_min;x_max;y_max in metres")
    return tile
