# SPDX-License-Identifier: Apache-2.0
"""From the points seen of one object to its pose, size, and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from behavior_scene.detections import Array
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
_NO_TURN = math.pi**2 / 3
"""[rad^2] variance of a turn that nothing is known of."""


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


def estimate(
    points: Array,
    *,
    class_id: str,
    score: float,
    settings: ClassSettings,
    shape: Shape | None,
    eye: Array,
    level: bool,
    seen_area: float,
    kept: float,
    pixel: float,
) -> Estimate:
    """Make the most of the points of an object.

    Args:
        points: (n, 3) [m].
        class_id: what it is.
        score: how sure that is.
        settings: of the class.
        shape: of the class; None: not known.
        eye: (3,) where the camera is, in the frame of the points.
        level: whether z of that frame is up.
        seen_area: of the object's pixels, across the line of sight [m^2].
        kept: part of the object's pixels that the points stand for.
        pixel: what a pixel covers at the object [m].
    """
    middle = points.mean(axis=0)
    upright = level and settings.orientation == "upright"
    turn, edges = _turn_and_edges(points, shape, upright)
    sight = (eye - middle) / max(float(np.linalg.norm(eye - middle)), 1e-9)
    spread = np.cov(points.T) / len(points) + (_FLOOR**2 + (0.3 * pixel) ** 2) * np.eye(3)
    pose, visible = np.eye(4), math.nan
    pose[:3, :3], pose[:3, 3] = turn, middle
    if shape is not None:
        x, y, z = (2.0 * half for half in shape.half_extents)
        edges = (x, y, z)
        expected = _expected(shape, turn, sight, upright, kept)
        visible = min(1.0, seen_area / expected.area)
        spread += ((1.0 - visible) * max(edges) / 2.0) ** 2 * np.eye(3)
    if shape is not None and settings.center == "shape":
        pose[:3, 3] -= expected.offset
    else:
        # The middle of the faces seen: how far behind it that of the object is, nobody knows.
        spread += (max(edges) / 2.0) ** 2 / 3.0 * np.outer(sight, sight)
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = spread
    covariance[3:, 3:] = np.diag(_turn_variances(shape, upright))
    return Estimate(class_id, score, pose, edges, covariance, len(points), visible)


def _turn_variances(shape: Shape | None, upright: bool) -> list[float]:
    """Of roll, pitch, yaw [rad^2]."""
    if not upright:
        return [_NO_TURN] * 3
    round_about = shape is not None and shape.kind != "box"
    return [_LEVEL_DEVIATION**2] * 2 + [_NO_TURN if round_about else _TURN_DEVIATION**2]
