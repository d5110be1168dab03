# SPDX-License-Identifier: Apache-2.0
"""From the points seen of one object to its pose, size, and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from behavior_scene.detections import Array
from behavior_scene.detector.box_fit import fit_resting_box, fit_upright_box
from behavior_scene.detector.settings import ClassSettings
from behavior_scene.detector.surface import visible_area, visible_centroid
from behavior_scene.library import Shape

ANGLES = np.deg2rad(np.arange(0.0, 90.0, 1.0))
"""Turns tried for an upright box [rad]; after 90 degrees its outline is the same."""
_AXES = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
_MANY = 500
"""More points than these do not make a turn surer."""
_FLOOR = 1e-3
"""[m] depth cameras are not better than this."""
_TURN_DEVIATION = 0.05
"""[rad] of a turn that was found."""
_LEVEL_DEVIATION = 0.01
"""[rad] by which what stands upright may lean."""
_RIM = 0.002
"""Part of the points beyond an outline: they may be noise."""
_ROUNDS = 5
"""Of fitting a ball; each takes away most of the error."""
_NO_TURN = math.pi**2 / 3
"""[rad^2] variance of a turn that nothing is known of."""


@dataclass(frozen=True, slots=True)
class View:
    """How an object's points were seen."""

    eye: Array
    """(3,) where the camera is, in the frame of the points [m]."""
    level: bool
    """Whether z of that frame is up."""
    area: float
    """Of the object's pixels, across the line of sight [m^2]."""
    kept: float
    """Part of the object's pixels that the points stand for."""
    pixel: float
    """What a pixel covers at the object [m]."""

    def sight(self, point: Array) -> Array:
        """Direction (3,) from a point to the camera."""
        ray = self.eye - point
        return np.asarray(ray / max(float(np.linalg.norm(ray)), 1e-9))


@dataclass(frozen=True, slots=True)
class Estimate:
    """One object in space, in the frame that its points were given in."""

    class_id: str
    score: float
    """0..1"""
    pose: Array
    """4x4 [m]."""
    size: tuple[float, float, float]
    """Edges of the box around it, in its own frame [m]."""
    covariance: Array
    """6x6 of x y z roll pitch yaw [m, rad]."""
    points: int
    """How many there were."""
    visible: float
    """Part of the silhouette that is seen, about 0..1; NaN: the shape is not known."""
    misfit: float = math.nan
    """Mean distance of the points from the box fitted to them [m]; NaN: none was."""


def inliers(points: Array, threshold: float) -> Array:
    """Points (n, 3) without those far off.

    The distance from the median is compared with its own median and spread: `threshold` counts
    robust standard deviations (1.4826 times the median absolute deviation).
    """
    distance = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    middle = np.median(distance)
    spread = 1.4826 * np.median(np.abs(distance - middle))
    kept: Array = points[distance <= middle + threshold * max(float(spread), _FLOOR)]
    return kept


def upright_turn(points: Array) -> tuple[float, tuple[float, float]]:
    """Turn about z [rad] of the smallest rectangle around points from above, and its edges [m].

    Of the turns in steps of a degree the one with the least area counts (rotating calipers without
    the hull: for some hundred points trying all is as quick, and does not depend on one point).
    """
    flat = points[:: max(1, len(points) // _MANY), :2]
    along, beside = flat @ _AXES, flat @ np.stack([-_AXES[1], _AXES[0]])
    edges = np.stack([np.ptp(along, axis=0), np.ptp(beside, axis=0)])
    best = int(np.argmin(edges[0] * edges[1]))
    return float(ANGLES[best]), (float(edges[0, best]), float(edges[1, best]))


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _turn_and_edges(
    points: Array, shape: Shape | None, upright: bool
) -> tuple[Array, tuple[float, float, float]]:
    """Rotation (3, 3) of the object and the edges [m] of the box around its points in it."""
    width, depth, height = np.ptp(points, axis=0).tolist()
    if not upright or (shape is not None and shape.kind != "box"):
        return np.eye(3), (width, depth, height)
    angle, (width, depth) = upright_turn(points)
    if shape is not None:
        x, y = 2.0 * shape.half_extents[0], 2.0 * shape.half_extents[1]
        if abs(width - x) + abs(depth - y) > abs(width - y) + abs(depth - x):
            angle, width, depth = angle + math.pi / 2, depth, width
    return _about_z(angle), (width, depth, height)


@dataclass(frozen=True)
class _Seen:
    """What is seen of a shape: silhouette [m^2] and middle of the surface from the centre (3,)."""

    area: float
    offset: Array


def _expected(shape: Shape, turn: Array, sight: Array, posed: bool, kept: float) -> _Seen:
    """What an unhidden shape shows to a camera in the direction `sight`.

    Where the turn is not known, the ball of the same volume stands for the shape.
    """
    if not posed and shape.kind != "sphere":
        volume = 8.0 * float(np.prod(shape.half_extents))
        if shape.kind == "cylinder":
            volume *= math.pi / 4.0
        shape = Shape("sphere", ((volume * 3.0 / (4.0 * math.pi)) ** (1.0 / 3.0),))
    direction = turn.T @ sight
    return _Seen(visible_area(shape, direction), turn @ visible_centroid(shape, direction, kept))


@dataclass(frozen=True)
class _Placed:
    """Where an object is: rotation (3, 3), centre (3,) [m], the centre's covariance beside that of
    the points (3, 3) [m^2], and how ill the shape fits [m].
    """

    turn: Array
    center: Array
    spread: Array
    misfit: float = math.nan


def _headed(turn: Array, shape: Shape, heading: float) -> Array:
    """Of the turns about the vertical after which a box looks the same, that nearest to `heading`.

    What lies on a side is told as it was found.
    """
    if turn[2, 2] < 0.5:
        return turn
    square = math.isclose(shape.half_extents[0], shape.half_extents[1], rel_tol=1e-3)
    part = math.pi / 2 if square else math.pi
    yaw = math.atan2(turn[1, 0], turn[0, 0])
    return _about_z(yaw + part * round((heading - yaw) / part))


def _fitted_box(points: Array, shape: Shape, seen: View, settings: ClassSettings) -> _Placed:
    half = np.array(shape.half_extents)
    fitted = fit_resting_box if settings.orientation == "resting" else fit_upright_box
    fit = fitted(points, half, seen.eye, len(points) / seen.area)
    spread = fit.turn @ np.diag(fit.uncertain**2) @ fit.turn.T
    return _Placed(fit.turn, fit.center, spread, fit.cost)


def _outlined_box(points: Array, shape: Shape, turn: Array) -> _Placed:
    """The box around the points, its top where they end: of a tray, only floor and rim are seen."""
    local = points @ turn
    half = np.array(shape.half_extents)
    low, high = np.quantile(local, [_RIM, 1.0 - _RIM], axis=0)
    center = (low + high) / 2.0
    center[2] = high[2] - half[2]
    gap = np.maximum(half - (high - low) / 2.0, 0.0)
    gap[2] = 0.0
    return _Placed(turn, turn @ center, turn @ np.diag(gap**2) @ turn.T)


def _fitted_ball(points: Array, radius: float, seen: View) -> _Placed:
    """Least squares of the distances from the centre, by Gauss and Newton."""
    middle = points.mean(axis=0)
    center = middle - 2.0 / 3.0 * radius * seen.sight(middle)
    for _ in range(_ROUNDS):
        rays = points - center
        lengths = np.linalg.norm(rays, axis=1)
        slopes = rays / lengths[:, None]
        # A little inertia: a small patch does not tell where the centre is across it.
        normal = slopes.T @ slopes + 1e-3 * len(points) * np.eye(3)
        center = center + np.linalg.solve(normal, slopes.T @ (lengths - radius))
    return _Placed(np.eye(3), center, np.zeros((3, 3)))


def _from_mean(points: Array, shape: Shape, expected: _Seen, turn: Array, part: float) -> _Placed:
    """The centre that belongs to the mean of the points if nothing hides the object."""
    hidden = (1.0 - part) * max(shape.half_extents)
    return _Placed(turn, points.mean(axis=0) - expected.offset, hidden**2 * np.eye(3))


def _surface(points: Array, turn: Array, edges: tuple[float, ...], seen: View) -> _Placed:
    """The middle of the faces seen: how far behind it that of the object is, nobody knows."""
    middle = points.mean(axis=0)
    sight = seen.sight(middle)
    return _Placed(turn, middle, (max(edges) / 2.0) ** 2 / 3.0 * np.outer(sight, sight))


def estimate(
    points: Array,
    *,
    class_id: str,
    score: float,
    settings: ClassSettings,
    shape: Shape | None,
    seen: View,
) -> Estimate:
    """Make the most of the points of an object.

    Args:
        points: (n, 3) [m].
        class_id: what it is.
        score: how sure that is.
        settings: of the class.
        shape: of the class; None: not known.
        seen: how the points were seen.
    """
    upright = seen.level and settings.orientation != "none"
    turn, edges = _turn_and_edges(points, shape, upright)
    visible = math.nan
    if shape is None:
        placed = _surface(points, turn, edges, seen)
    else:
        x, y, z = (2.0 * half for half in shape.half_extents)
        edges = (x, y, z)
        sight = seen.sight(points.mean(axis=0))
        expected = _expected(shape, turn, sight, upright, seen.kept)
        visible = min(1.0, seen.area / expected.area)
        if settings.center == "surface":
            placed = _surface(points, turn, edges, seen)
        elif settings.center == "fit" and shape.kind == "sphere":
            placed = _fitted_ball(points, shape.size[0], seen)
        elif settings.center == "fit" and shape.kind == "box" and upright:
            placed = _fitted_box(points, shape, seen, settings)
            lying = _expected(shape, placed.turn, sight, upright, seen.kept)
            visible = min(1.0, seen.area / lying.area)
        elif settings.center == "outline" and shape.kind == "box" and upright:
            placed = _outlined_box(points, shape, turn)
        else:
            placed = _from_mean(points, shape, expected, turn, visible)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = placed.turn, placed.center
    if shape is not None and shape.kind == "box" and upright:
        pose[:3, :3] = _headed(placed.turn, shape, settings.heading)
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = placed.spread + np.cov(points.T) / len(points)
    covariance[:3, :3] += (_FLOOR**2 + (0.3 * seen.pixel) ** 2) * np.eye(3)
    covariance[3:, 3:] = np.diag(_turn_variances(shape, upright))
    return Estimate(class_id, score, pose, edges, covariance, len(points), visible, placed.misfit)


def _turn_variances(shape: Shape | None, upright: bool) -> list[float]:
    """Of roll, pitch, yaw [rad^2]."""
    if not upright:
        return [_NO_TURN] * 3
    round_about = shape is not None and shape.kind != "box"
    return [_LEVEL_DEVIATION**2] * 2 + [_NO_TURN if round_about else _TURN_DEVIATION**2]
