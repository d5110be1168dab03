# SPDX-License-Identifier: Apache-2.0
"""Tiles of a larger map, and which one the robot needs next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
        in must show where it stands.

        Args:
            current: name of the tile in force; one that is not listed says nothing.
            robot: its position [m].
            ahead: the route's point `lookahead` ahead, or again the robot [m].
        """
        known = {tile.name: tile for tile in self.tiles}
        present = known.get(current)
        if present is None:
            return None
        others = [tile for tile in self.tiles if tile is not present and tile.contains(*robot)]
        lost = not present.contains(*robot, self.margin)
        if not lost and present.contains(*ahead):
            return None
        for tile in others:
            if tile.contains(*ahead):
                return tile.name
        return others[0].name if lost and others else None


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
