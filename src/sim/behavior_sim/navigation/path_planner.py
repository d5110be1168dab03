# SPDX-License-Identifier: Apache-2.0
"""The regional path planner (rpp): a free path along the maneuver, searched on a grid.

Where the maneuver itself is free it is the path, up to where it folds back on itself: what comes
then is planned when the robot is there. Otherwise the cheapest path within a corridor
around it is searched (Dijkstra over 8 neighbours): cost grows with nearness to obstacles and with
distance to the maneuver. The result is shortened and rounded as far as it stays free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from behavior_motion.planar_pose import Points, Pose2D
from behavior_sim.navigation.grid import Grid, Mask, nearest_on, resampled, up_to_fold

SPACING = 0.1
"""[m] between the points of a path."""
OFF_ROUTE = 2.0
"""[m] from the maneuver beyond which the robot is off the route."""
_CORRIDOR = 1.7
"""[m] to either side of the maneuver in which is searched."""
_JOIN = 0.2, 0.8
"""[m] ahead, where a path from on the maneuver and from beside it joins it."""
_DRIVEN_ON = 1.0
"""[m] that the robot may have driven since the maneuver was told."""
_SHORTEST = 1.0
"""[m] that a path must have left when its end is cut off at an obstacle."""


class Mode(IntEnum):
    """How the planners work (`PlannerOperationMode`)."""

    IDLE = 0
    NOMINAL = 1
    FALLBACK = 2


class Reason(IntEnum):
    """Why planning failed (`PathPlannerHealth`)."""

    NONE = 0
    NO_PATH = 1
    START_OCCUPIED = 2
    GOAL_OCCUPIED = 3
    TIMEOUT = 4
    OFF_ROUTE = 5
    NO_MAP = 6


@dataclass(frozen=True, slots=True)
class Maneuver:
    """What to drive along."""

    points: Points
    """[m] (n, 2) in the map."""
    goal: Pose2D
    final: bool
    """The goal's heading counts, and it is the end of the route."""
    identity: int = 0
    place: float = 0.0
    """[m] along the points, where the robot was when it was told: what comes before is done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One cycle's outcome."""

    points: Points
    """[m] (n, 2) from the robot on; empty: stand."""
    goal: Pose2D
    final: bool
    mode: Mode
    reason: Reason = Reason.NONE
    text: str = ""
    reroute: bool = False
    """The way is blocked for so long that another route is worth its while."""
    compute_time: float = 0.0
    """[s] of wall time."""
    cycle: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether there is a path, or none is needed."""
        return self.reason is Reason.NONE


class _Failed(Exception):
    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class PathPlanner:
    """Plans in the loaded tile.

    Args:
        radius: of the robot [m].
        patience: [s] that the way may be blocked before another route is recommended.
        max_cells: size of the largest search; what is larger counts as out of time.
    """

    def __init__(self, radius: float, *, patience: float = 3.0, max_cells: int = 60_000) -> None:
        self._radius = radius
        self._patience = patience
        self._max_cells = max_cells
        self._blocked_since = math.inf
        self._followed: Maneuver | None = None
        self._place = 0.0

    def plan(
        self, now: float, robot: Pose2D, maneuver: Maneuver | None, grid: Grid | None, mode: Mode
    ) -> Plan:
        """One cycle; the grid is the tile's with the obstacles seen, None where there is no map."""
        if mode is Mode.IDLE or maneuver is None:
            self._blocked_since = math.inf
            return Plan(np.zeros((0, 2)), robot, False, mode)
        # A fallback path keeps further away from everything.
        margin = 0.16 if mode is Mode.FALLBACK else 0.06
        line, to_end = self._ahead(robot, maneuver)
        try:
            points = self._path(robot, line, grid, self._radius + margin)
        except _Failed as failure:
            return self._failed(now, maneuver, mode, failure)
        self._blocked_since = math.inf
        reaches = to_end and math.dist(points[-1], maneuver.points[-1]) < SPACING
        return Plan(points, maneuver.goal, maneuver.final and reaches, mode)

    def _ahead(self, robot: Pose2D, maneuver: Maneuver) -> tuple[Points, bool]:
        """What is to be driven next of a maneuver, and whether it leads to its end.

        A maneuver that is told but once is followed from where the robot has come to since.
        """
        if maneuver is not self._followed:
            self._followed, self._place = maneuver, maneuver.place
        points, begin, to_end = up_to_fold(maneuver.points, self._place)
        line = resampled(points, SPACING)
        index, _ = _nearest(line, robot)
        self._place = begin + index * SPACING
        return line[index:], to_end

    def _failed(self, now: float, maneuver: Maneuver, mode: Mode, failure: _Failed) -> Plan:
        blocked = failure.reason in (Reason.NO_PATH, Reason.OFF_ROUTE) or (
            failure.reason is Reason.GOAL_OCCUPIED and not maneuver.final
        )
        self._blocked_since = min(self._blocked_since, now) if blocked else math.inf
        return Plan(
            np.zeros((0, 2)),
            maneuver.goal,
            maneuver.final,
            mode,
            failure.reason,
            str(failure),
            reroute=now - self._blocked_since >= self._patience,
        )

    def _path(self, robot: Pose2D, line: Points, grid: Grid | None, radius: float) -> Points:
        if grid is None:
            raise _Failed(Reason.NO_MAP, "there is no map")
        _, aside = _nearest(line, robot)
        if not grid.inside(np.vstack([line, robot.position])).all():
            raise _Failed(Reason.NO_MAP, "the maneuver leaves the loaded tile: load the next one")
        if aside > OFF_ROUTE:
            raise _Failed(
                Reason.OFF_ROUTE, f"the robot is {aside:.1f} m from its route: ask for a new one"
            )
        if grid.clearance_at(robot.position) <= self._radius - 0.5 * grid.resolution:
            raise _Failed(Reason.START_OCCUPIED, "the robot stands in an obstacle: clear it")
        line = self._free_end(line, grid, radius, robot)
        direct = self._joined(robot, line)
        if (grid.clearance_at(direct) > radius).all():
            return direct
        return self._search(robot, line, grid, radius)

    def _free_end(self, line: Points, grid: Grid, radius: float, robot: Pose2D) -> Points:
        """The maneuver up to its last free point, where an obstacle stands on its end.

        Whether it still stands there when the robot comes is not known before.
        """
        free = grid.clearance_at(line) > radius
        if free[-1]:
            return line
        index, _ = _nearest(line, robot)
        last = int(np.flatnonzero(free)[-1]) if free.any() else 0
        if (last - index) * SPACING < _SHORTEST:
            raise _Failed(Reason.GOAL_OCCUPIED, "an obstacle stands where the maneuver ends")
        return line[: last + 1]

    @staticmethod
    def _joined(robot: Pose2D, line: Points) -> Points:
        """Straight from the robot to the maneuver a little ahead, then along it."""
        index, aside = _nearest(line, robot)
        near, far = _JOIN
        join = min(near + 2.0 * aside, far) + aside
        ahead = min(index + round(join / SPACING), len(line) - 1)
        return resampled(np.vstack([robot.position, line[ahead:]]), SPACING)

    def _search(self, robot: Pose2D, line: Points, grid: Grid, radius: float) -> Points:
        part = _window(robot, line, grid)
        rows, columns = part.occupied.shape
        if rows * columns > self._max_cells:
            raise _Failed(
                Reason.TIMEOUT,
                f"{rows * columns} cells cannot be searched in time: shorten the horizon",
            )
        clearance = grid.clearance[
            round((part.y - grid.y) / grid.resolution) :,
            round((part.x - grid.x) / grid.resolution) :,
        ][:rows, :columns]
        aside = _distance_to(line, part)
        near_robot = _distance_to(robot.position[None, :], part) < 2.0 * radius
        free = (clearance > radius) & (aside < _CORRIDOR)
        # Out of a narrow place the robot may always go.
        free |= near_robot & (clearance > self._radius - 0.5 * grid.resolution)
        cost = 1.0 + 4.0 * np.exp(-(clearance - radius) / 0.25) + 0.4 * aside**2
        start, goal = (
            tuple(int(i) for i in part.cells(point)) for point in (robot.position, line[-1])
        )
        cells = _cheapest(free, cost, start, goal)
        if cells is None:
            raise _Failed(Reason.NO_PATH, "no free path along the route")
        points = (cells[:, ::-1] + 0.5) * part.resolution + [part.x, part.y]
        points[0], points[-1] = robot.position, line[-1]
        return _rounded(points, grid, radius)


def _nearest(line: Points, robot: Pose2D) -> tuple[int, float]:
    """Where the robot is on a line (n, 2) that begins where it was; also its distance [m].

    Further along the line may come by the robot again.
    """
    return nearest_on(line[: round(_DRIVEN_ON / SPACING) + 1], robot.x, robot.y)


def _window(robot: Pose2D, line: Points, grid: Grid) -> Grid:
    """The part of the grid around the maneuver, on the grid's cells."""
    both = np.vstack([line, robot.position])
    left, low, right, high = grid.box
    (x0, y0), (x1, y1) = both.min(axis=0) - _CORRIDOR, both.max(axis=0) + _CORRIDOR

    def snapped(value: float, origin: float) -> float:
        return origin + round((value - origin) / grid.resolution) * grid.resolution

    box = (
        snapped(max(x0, left), grid.x),
        snapped(max(y0, low), grid.y),
        snapped(min(x1, right), grid.x),
        snapped(min(y1, high), grid.y),
    )
    return Grid.empty(box, grid.resolution)


def _distance_to(points: Points, part: Grid) -> NDArray[np.float64]:
    """Distance of each cell to the nearest of the points [m]."""
    marks = np.ones(part.occupied.shape, dtype=bool)
    rows, columns = part.cells(points[part.inside(points)])
    marks[rows, columns] = False
    distances: NDArray[np.float64] = part.resolution * distance_transform_edt(marks)
    return distances


def _cheapest(
    free: Mask, cost: NDArray[np.float64], start: tuple[int, ...], goal: tuple[int, ...]
) -> NDArray[np.intp] | None:
    """Cells (n, 2) of the cheapest path over 8 neighbours; None: there is none."""
    height, width = free.shape
    for row, column in (start, goal):
        if not (0 <= row < height and 0 <= column < width and free[row, column]):
            return None
    index = np.arange(height * width).reshape(height, width)
    sources, targets, weights = [], [], []
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        one = (slice(0, height - dr), slice(max(0, -dc), width - max(0, dc)))
        other = (slice(dr, height), slice(max(0, dc), width + min(0, dc)))
        both = free[one] & free[other]
        sources.append(index[one][both])
        targets.append(index[other][both])
        weights.append(0.5 * math.hypot(dr, dc) * (cost[one] + cost[other])[both])
    graph = csr_array(
        (np.concatenate(weights), (np.concatenate(sources), np.concatenate(targets))),
        shape=(height * width, height * width),
    )
    first, last = int(index[start]), int(index[goal])
    distances, previous = dijkstra(graph, directed=False, indices=[first], return_predecessors=True)
    if not math.isfinite(distances[0, last]):
        return None
    cells = [last]
    while cells[-1] != first:
        cells.append(int(previous[0, cells[-1]]))
    return np.stack(np.unravel_index(cells[::-1], free.shape), axis=-1)


def _rounded(points: Points, grid: Grid, radius: float) -> Points:
    """The path without needless corners, the others rounded where that stays free."""
    kept = [0]
    while kept[-1] < len(points) - 1:
        far = min(kept[-1] + 30, len(points) - 1)
        while far > kept[-1] + 1 and not grid.line_is_free(points[kept[-1]], points[far], radius):
            far = max(kept[-1] + 1, far - 4)
        kept.append(far)
    path = resampled(points[kept], SPACING)
    smooth = path.copy()
    for _ in range(6):
        smooth[1:-1] = 0.25 * smooth[:-2] + 0.5 * smooth[1:-1] + 0.25 * smooth[2:]
    tight = grid.clearance_at(smooth) <= np.minimum(radius, grid.clearance_at(path))
    return np.where(tight[:, None], path, smooth)
