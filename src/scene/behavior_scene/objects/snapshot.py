# SPDX-License-Identifier: Apache-2.0
"""What behaviours act on: objects, and the snapshot that holds all of them at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from behavior_motion.object_state import ObjectState
from behavior_scene.detections import Array
from behavior_scene.library import Color, Shape


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object at one instant."""

    name: str
    class_id: str
    state: ObjectState
    world_T_object: Array
    """4x4, read-only [m]."""
    velocity: tuple[float, float, float]
    """[m/s] in the world frame."""
    covariance: tuple[float, ...]
    """36 numbers, row-major x y z roll pitch yaw; all 0: unknown."""
    shape: Shape
    color: Color
    confidence: float
    last_seen: float
    """Stamp of the newest detection [s]."""
    attached_link: str = ""
    kind: str = "detected"
    """How it comes about: "detected", or how it is derived ("approach", "hybrid", ...)."""
    sources: tuple[str, ...] = ()
    """Tracks, objects and frames that it is computed from."""
    text: str = ""
    """Why it is stale, lost or cannot be computed; empty: nothing to say."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All objects at one instant; never changes, so it may be kept and compared."""

    revision: int
    """Grows with every change of the scene."""
    stamp: float
    """[s]."""
    objects: Mapping[str, SceneObject] = field(default_factory=lambda: MappingProxyType({}))
