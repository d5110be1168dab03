# SPDX-License-Identifier: Apache-2.0
"""The evidence grid map (egm): what the scanner saw that the map does not show.

Cells that a beam ended in hold evidence of an obstacle until a beam goes through them, or for a
while out of sight. The result is the tile's grid with these obstacles, and its clearances.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import binary_dilation

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.grid import Grid, Mask
from behavior_sim.navigation.world import REACH, Scan

_KNOWN = 2
"""Cells around the map's obstacles within which a hit is taken for the map's."""


class EvidenceGrid:
    """Obstacles beside those of the map.

    Args:
        memory: [s] for which what went out of sight is believed.
    """

    def __init__(self, memory: float = 60.0) -> None:
        self._memory = memory
        self._tile: Grid | None = None
        self._known: Mask = np.zeros((0, 0), dtype=bool)
        self._seen = np.zeros((0, 0))
        self.grid: Grid | None = None
        """The tile with the obstacles seen; None: there is no map yet."""
        self.updated = -np.inf
        """[s] time of the newest scan."""

    def use_map(self, tile: Grid | None) -> None:
        """Begin anew on a map."""
        self._tile = tile
        self.grid = None
        self.updated = -np.inf
        if tile is not None:
            self._known = binary_dilation(tile.occupied, iterations=_KNOWN)
            self._seen = np.full(tile.occupied.shape, -np.inf)

    def clear(self) -> None:
        """Forget what was seen."""
        self.use_map(self._tile)

    def step(self, now: float, robot: Pose2D, scan: Scan) -> None:
        """Take in a scan made at the pose `robot` in the map."""
        tile = self._tile
        if tile is None:
            return
        directions = np.stack(
            [np.cos(robot.yaw + scan.angles), np.sin(robot.yaw + scan.angles)], axis=-1
        )
        distances = np.arange(0.0, REACH, tile.resolution)
        along = directions[:, None, :] * distances[None, :, None] + robot.position
        passed = distances[None, :] < scan.ranges[:, None] - 1.5 * tile.resolution
        cleared = along[passed]
        rows, columns = tile.cells(cleared[tile.inside(cleared)])
        self._seen[rows, columns] = -np.inf
        hit = scan.ranges < REACH
        # A beam ends at the surface: the cell behind it is the obstacle's.
        ends = (
            robot.position + directions[hit] * (scan.ranges[hit] + 0.3 * tile.resolution)[:, None]
        )
        rows, columns = tile.cells(ends[tile.inside(ends)])
        self._seen[rows, columns] = now
        obstacles = (self._seen >= now - self._memory) & ~self._known
        if self.grid is None or not np.array_equal(obstacles | tile.occupied, self.grid.occupied):
            self.grid = Grid(obstacles | tile.occupied, tile.resolution, tile.x, tile.y)
        self.updated = now
