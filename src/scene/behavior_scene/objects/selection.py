# SPDX-License-Identifier: Apache-2.0
"""Which track an object follows when several would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import ConfigDict, Field, field_validator, model_validator

from behavior_motion.collision.convex import ConvexShape, contains, convex_shape
from behavior_motion.errors import MotionError
from behavior_scene.clouds.color import Hsv, HsvRange
from behavior_scene.detections import Array
from behavior_scene.objects.expression import ExpressionError, TrackExpression
from behavior_scene.tracking.tracks import Track
from behavior_scene.yaml_models import FixedPose, Length, Number, StrictModel, Unit

LONGEST_CONDITION = 512
"""[characters] of `where`, which is asked of every track."""
Degrees = Annotated[Number, Field(ge=0.0, le=360.0)]


class ColorBounds(StrictModel):
    """Bounds of a colour; hue is an angle: a range from 330 to 30 runs through 0."""

    of: Literal["class", "points"] = "class"
    """The class's colour in the object library, or the mean of the points in the track's box."""
    hue: tuple[Degrees, Degrees] = (0.0, 360.0)
    """[deg]"""
    saturation: tuple[Unit, Unit] = (0.0, 1.0)
    value: tuple[Unit, Unit] = (0.0, 1.0)

    @model_validator(mode="after")
    def _not_empty(self) -> ColorBounds:
        self.bounds()
        return self

    def bounds(self) -> HsvRange:
        """The same as a range."""
        return HsvRange(*self.hue, *self.saturation, *self.value)


class Region(StrictModel):
    """A shape in a frame; tracks whose position lies outside do not count."""

    frame: str
    """Object or frame."""
    shape: Literal["box", "sphere", "cylinder", "capsule"]
    size: tuple[Length, ...]
    """[m] box: x y z; sphere: radius; cylinder and capsule: height radius."""
    pose: FixedPose = FixedPose()
    """Of the shape in the frame."""

    @model_validator(mode="after")
    def _possible(self) -> Region:
        try:
            self.body()
        except MotionError as error:
            raise ValueError(str(error)) from error
        return self

    def body(self) -> ConvexShape:
        """The shape."""
        return convex_shape(self.shape, self.size)

    def contains(self, position: Array, world_T_frame: Array) -> bool:
        """Tell whether a position in the world [m] lies within."""
        local = np.linalg.solve(world_T_frame @ self.pose.matrix(), np.append(position, 1.0))[:3]
        return bool(contains(self.body(), local[None])[0])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A track, and what it is judged by beside its own fields."""

    track: Track
    distance: float
    """From the object's `near` [m]."""
    hsv: Hsv | None
    history: int
    """Number of its detections."""


def track_fields(candidate: Candidate, now: float) -> dict[str, float | str]:
    """What expressions may use of a track; lengths in metres, angles of hue in degrees."""
    track = candidate.track
    x, y, z = track.world_T_object[:3, 3].tolist()
    vx, vy, vz = np.asarray(track.velocity).tolist()
    hsv = candidate.hsv or Hsv(math.nan, math.nan, math.nan)
    return {
        "name": track.name,
        "class_id": track.object_class.name,
        "confidence": float(track.confidence),
        "age": now - track.newest.stamp,
        "history": float(candidate.history),
        "distance": candidate.distance,
        "x": x,
        "y": y,
        "z": z,
        "vx": vx,
        "vy": vy,
        "vz": vz,
        "speed": math.hypot(vx, vy, vz),
        "hue": hsv.hue,
        "saturation": hsv.saturation,
        "value": hsv.value,
    }


_EXAMPLE: dict[str, float | str] = {
    **{"name": "cup_0", "class_id": "cup"},
    **dict.fromkeys(("confidence", "age", "history", "distance", "speed"), 0.5),
    **dict.fromkeys(("x", "y", "z", "vx", "vy", "vz", "hue", "saturation", "value"), 0.5),
}


class DetectedObject(StrictModel):
    """An object that follows one track of a class, until that track is gone."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    kind: Literal["detected"] = "detected"
    class_id: str = Field(alias="class", min_length=1)
    """What the detector calls it."""
    select: Literal["closest", "confident"] = "closest"
    """Of several tracks, the one closest to `near`, or the one with the best confidence."""
    near: str = ""
    """Object or frame that `closest` and the field `distance` refer to; empty: the origin."""
    color: ColorBounds | None = None
    region: Region | None = None
    where: str = Field(default="", max_length=LONGEST_CONDITION)
    """Expression over fields of the track, such as `confidence > 0.5 and z < 0.4`."""
    minimum_history: int = Field(default=0, ge=0)
    """Number of detections that the track must have; 0: the scene's default."""

    @field_validator("where")
    @classmethod
    def _readable(cls, where: str) -> str:
        if where:
            try:
                TrackExpression(where, _EXAMPLE)
            except ExpressionError as error:
                raise ValueError(str(error)) from error
        return where

    @cached_property
    def _condition(self) -> TrackExpression | None:
        return TrackExpression(self.where, _EXAMPLE) if self.where else None

    def sources(self) -> tuple[str, ...]:
        """Objects and frames that the choice depends on."""
        frames = (self.near, self.region.frame if self.region else "")
        return tuple(frame for frame in frames if frame)

    def choose(
        self,
        tracks: Mapping[str, Track],
        pose: Callable[[str], Array],
        looks: Callable[[Track, bool], tuple[Hsv | None, int]],
        now: float,
    ) -> Track | None:
        """The track to follow, or None if none of them will do.

        Args:
            tracks: free, stable ones of the class, by name.
            pose: world_T_name of an object or frame; its errors pass through.
            looks: colour of a track, measured or not, and number of its detections.
            now: [s].

        Raises:
            ExpressionError: the condition cannot be evaluated for a track.
        """
        origin = pose(self.near)[:3, 3] if self.near else np.zeros(3)
        measured = self.color is not None and self.color.of == "points"
        candidates = [
            Candidate(
                track,
                float(np.linalg.norm(track.world_T_object[:3, 3] - origin)),
                *looks(track, measured),
            )
            for track in tracks.values()
        ]
        fitting = [candidate for candidate in candidates if self._fits(candidate, pose, now)]
        if self.select == "confident":
            best = max(fitting, key=lambda c: (c.track.confidence, -c.distance), default=None)
        else:
            best = min(fitting, key=lambda c: c.distance, default=None)
        return None if best is None else best.track

    def _fits(self, candidate: Candidate, pose: Callable[[str], Array], now: float) -> bool:
        if candidate.history < self.minimum_history:
            return False
        if self.color is not None and (
            candidate.hsv is None or not self.color.bounds().contains(candidate.hsv)
        ):
            return False
        if self.region is not None:
            position = candidate.track.world_T_object[:3, 3]
            if not self.region.contains(position, pose(self.region.frame)):
                return False
        return self._condition is None or self._condition.holds(track_fields(candidate, now))
