# SPDX-License-Identifier: Apache-2.0
"""The speed decision maker (sdm): how fast the robot may drive where it is and where it goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_motion.planar_pose import Points, Pose2D
from behavior_sim.navigation.grid import Grid, in_polygon
from behavior_sim.navigation.path_planner import Plan

_AHEAD = 1.0
"""[m] along the path that a zone counts beforehand."""
_NARROW = 0.25
"""[m] beside the footprint below which a place is narrow."""
_NARROW_SPEED = 0.5
"""[m/s]"""


@dataclass(frozen=True, slots=True)
class SpeedZone:
    """A polygon with a speed limit."""

    name: str
    polygon: Points
    """[m] (n, 2)"""
    limit: float
    """[m/s]"""


class SpeedDecision:
    """Chooses the speed limit.

    Args:
        radius: of the robot [m].
        nominal: [m/s] where nothing asks for less.
    """

    def __init__(self, radius: float, nominal: float) -> None:
        self._radius = radius
        self._nominal = nominal

    def limit(
        self, robot: Pose2D, plan: Plan | None, zones: list[SpeedZone], grid: Grid | None
    ) -> tuple[float, str]:
        """The limit [m/s] and what asks for it; empty: nothing does."""
        points = robot.position[None, :]
        if plan is not None and len(plan.points):
            points = np.vstack([points, plan.points[: round(_AHEAD / 0.1)]])
        limits = [(self._nominal, "")]
        for zone in zones:
            if any(in_polygon(zone.polygon, x, y) for x, y in points[::3]):
                limits.append((zone.limit, zone.name))
        if grid is not None and grid.clearance_at(points).min() < self._radius + _NARROW:
            limits.append((_NARROW_SPEED, "narrow"))
        return min(limits)
