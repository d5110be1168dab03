# SPDX-License-Identifier: Apache-2.0
"""Which edges of the waypoint graph an action avoids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from behavior_navigation.rules.polyline import Points


@dataclass(frozen=True, slots=True)
class Piece:
    """An edge of the graph as a part of a route."""

    edge: str
    start: float
    """[m] along the route."""
    end: float
    """[m] along the route."""


class Detours:
    """What one action has learned of the graph: edges avoided, the oldest first."""

    def __init__(self, cooldown: float) -> None:
        """Begin without a route.

        Args:
            cooldown: [s] between two times that the way ahead may be given up.
        """
        self.avoided: tuple[str, ...] = ()
        self._cooldown = cooldown
        self._pieces: list[Piece] = []
        self._given_up = -math.inf

    def take_route(self, points: Points, edges: Sequence[str]) -> None:
        """Another route: points (n, 2) [m], and the edges that it uses.

        A route has a piece from the robot to the graph and one from the graph to the goal, which
        are no edges: whatever the number of points, the edges are taken as its middle pieces.
        """
        steps = np.diff(points, axis=0)
        arc = [0.0, *np.cumsum(np.hypot(steps[:, 0], steps[:, 1])).tolist()]
        first = max(0, (len(steps) - len(edges)) // 2)
        ends = zip(edges, arc[first:], arc[first + 1 :], strict=False)
        self._pieces = [Piece(*piece) for piece in ends]

    def drop_route(self) -> None:
        """There is no route any more; what was learned stays."""
        self._pieces = []

    def ahead(self, s: float, lookahead: float) -> list[Piece]:
        """The edges from an arc length on, as far as `lookahead` [m]."""
        return [each for each in self._pieces if each.start < s + lookahead and each.end > s]

    def avoid(self, edges: Iterable[str]) -> bool:
        """Avoid these from now on; False: all of them are avoided already."""
        new = tuple(edge for edge in edges if edge not in self.avoided)
        self.avoided += new
        return bool(new)

    def give_up_way(self, now: float, s: float, lookahead: float) -> bool:
        """Avoid the way ahead; False: that was done less than the cool-down ago."""
        if 0.0 <= now - self._given_up < self._cooldown:
            return False
        self._given_up = now
        self.avoid(piece.edge for piece in self.ahead(s, lookahead))
        return True
