# SPDX-License-Identifier: Apache-2.0
"""A free spot on the table to put a block down. No ROS."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Disc:
    """A circle on the table that a spot must not lie in [m]."""

    x: float
    y: float
    radius: float
    essential: bool = False
    """Never given up; others are when there is no room."""


TOUCHING = 0.075
"""[m] Nearer than this, two 0.0515 m cubes touch at some yaw."""
BASE_RADIUS = 0.3
"""[m] Nearer to its base the arm cannot put anything down."""


def table_discs(
    centres: Iterable[tuple[float, float]], *, clearance: float, base_clearance: float
) -> list[Disc]:
    """The circles to keep out of.

    Args:
        centres: of other blocks and of the tower's place, x y [m].
        clearance: between centres [m].
        base_clearance: from the robot's base, the origin [m].
    """
    places = list(centres)
    return [
        Disc(0.0, 0.0, BASE_RADIUS, essential=True),
        Disc(0.0, 0.0, base_clearance),
        *(Disc(x, y, TOUCHING, essential=True) for x, y in places),
        *(Disc(x, y, clearance) for x, y in places),
    ]


@dataclass(frozen=True)
class TableArea:
    """Where spots may lie: a rectangle, no further than ``reach`` from the robot's base [m]."""

    x_min: float = 0.3
    x_max: float = 0.65
    y_min: float = -0.2
    y_max: float = 0.3
    reach: float = 0.7

    @classmethod
    def of(cls, numbers: Sequence[float], *, reach: float) -> TableArea:
        """The rectangle x_min, x_max, y_min, y_max [m].

        Raises:
            ValueError: not four numbers, or an empty rectangle.
        """
        if len(numbers) != 4:
            raise ValueError(f"area must be x_min;x_max;y_min;y_max [m], not {list(numbers)}")
        x_min, x_max, y_min, y_max = numbers
        return cls(x_min, x_max, y_min, y_max, reach)

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            ValueError: empty rectangle.
        """
        if self.x_min >= self.x_max or self.y_min >= self.y_max:
            raise ValueError(
                f"the area x {self.x_min}..{self.x_max}, y {self.y_min}..{self.y_max} is empty"
            )


def sample_free_spot(
    area: TableArea, discs: Sequence[Disc], rng: random.Random, *, tries: int = 500
) -> tuple[float, float] | None:
    """Draw a spot outside all discs, uniformly over what is free.

    When no draw is free of all discs, the one that lies deepest inside by the least is taken,
    provided that it is outside the essential discs.

    Returns:
        x, y [m], or None when all draws lie in essential discs or beyond the reach.
    """
    best: tuple[float, float] | None = None
    least = math.inf
    for _ in range(tries):
        x = rng.uniform(area.x_min, area.x_max)
        y = rng.uniform(area.y_min, area.y_max)
        if math.hypot(x, y) > area.reach:
            continue
        depth = 0.0
        for disc in discs:
            inside = disc.radius - math.hypot(x - disc.x, y - disc.y)
            if inside > 0.0:
                depth = math.inf if disc.essential else max(depth, inside)
                if depth >= least:
                    break
        if depth == 0.0:
            return x, y
        if depth < least:
            best, least = (x, y), depth
    return best
