# SPDX-License-Identifier: Apache-2.0
"""What every derived object has in common: a model of its parameters, and how it is computed.

A kind is one small class: a pydantic model whose fields are the keys in YAML, the names it depends
on, and :meth:`DerivedObject.compute`, a pure function of a :class:`View`. What cannot be computed
is refused with :class:`NotDerivableError`, whose text says what is missing or degenerate; the scene
then keeps the last frame as stale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from behavior_scene.detections import Array
from behavior_scene.library import NO_SHAPE, GraspAnnotation, Shape
from behavior_scene.tracking.tracks import Track
from behavior_scene.yaml_models import StrictModel

LEAST_LENGTH = 1e-4
"""[m] Shorter horizontal vectors have no direction (the reference's squared norm of 1e-8)."""


class NotDerivableError(Exception):
    """The object cannot be computed now; the text says which input is missing or degenerate."""


class View(Protocol):
    """What derived objects are computed from."""

    def pose(self, name: str) -> Array:
        """world_T_name of an object or frame; raises `NotDerivableError`."""

    def shape(self, name: str) -> Shape:
        """Shape of an object; raises `NotDerivableError`."""

    def grasp(self, name: str, grasp: str) -> GraspAnnotation:
        """Grasp annotation of an object's class; raises `NotDerivableError`."""

    def tracks(self, classes: Sequence[str]) -> list[Track]:
        """Stable tracks of these classes."""

    def points(self) -> Array:
        """Points of the newest cloud in the fixed frame (N x 3) [m]; raises `NotDerivableError`."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What came out."""

    world_T_object: Array
    shape: Shape = NO_SHAPE
    text: str = ""
    """What is to be said of it."""


class DerivedObject(StrictModel):
    """Base of all kinds; each adds a field `kind` with its own name."""

    uses_points: ClassVar[bool] = False
    """Whether a new cloud changes it."""

    def sources(self) -> tuple[str, ...]:
        """Objects and frames that it depends on."""
        raise NotImplementedError

    def compute(self, view: View) -> Derived:
        """The object as it is now; raises `NotDerivableError`."""
        raise NotImplementedError


def upright(position: Array, yaw: float) -> Array:
    """4x4 pose at `position` [m], z up, x turned by `yaw` [rad] about the vertical."""
    pose = np.eye(4)
    c, s = math.cos(yaw), math.sin(yaw)
    pose[:2, :2] = [[c, -s], [s, c]]
    pose[:3, 3] = position
    return pose


def horizontal_direction(offset: Array, what: str) -> Array:
    """Unit vector along the horizontal part of `offset`; raises `NotDerivableError` if it has none.

    Args:
        offset: [m].
        what: of what it is the offset, for the error.
    """
    flat = np.array([offset[0], offset[1], 0.0])
    length = float(np.linalg.norm(flat))
    if not length > LEAST_LENGTH:
        raise NotDerivableError(f"{what} lie vertically above each other: no direction follows")
    return flat / length


def tilt(pose: Array) -> float:
    """Angle between the vertical and the nearest axis of a pose [rad]."""
    return math.acos(min(1.0, float(np.max(np.abs(pose[2, :3])))))


def nearest(tracks: Sequence[Track], position: Array) -> Track | None:
    """The track nearest to a position [m]; None: there is no track."""
    return min(
        tracks,
        key=lambda track: float(np.linalg.norm(track.world_T_object[:3, 3] - position)),
        default=None,
    )
