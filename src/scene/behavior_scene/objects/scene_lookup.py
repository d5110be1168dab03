# SPDX-License-Identifier: Apache-2.0
"""What derived objects and selections see of the scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from behavior_scene.derived import NotDerivableError
from behavior_scene.detections import Array
from behavior_scene.library import GraspAnnotation, ObjectLibrary, Shape
from behavior_scene.objects.records import ObjectRecord
from behavior_scene.tracking.tracks import Track

PointsProvider = Callable[[], tuple[Array, float] | None]
"""The newest cloud: points in the fixed frame (N x 3) [m] and their stamp [s]; None: none yet."""


@dataclass(frozen=True, slots=True)
class SceneLookup:
    """Objects first, then frames.

    A track's name stands for the object that follows it, whatever that is called: what is derived
    from an automatic object goes on when somebody sets up one of another name on its track.
    """

    records: Mapping[str, ObjectRecord]
    current_pose: Callable[[ObjectRecord], Array]
    frame_pose: Callable[[str], Array | None]
    stable_tracks: Callable[[], Sequence[Track]]
    cloud: PointsProvider
    library: ObjectLibrary

    def pose(self, name: str) -> Array:
        """world_T_name of an object or frame; raises `NotDerivableError`."""
        record = self.find(name)
        pose = self.frame_pose(name) if record is None else self.current_pose(record)
        if pose is None:
            raise NotDerivableError(f"'{name}' is neither an object of the scene nor a known frame")
        return pose

    def find(self, name: str) -> ObjectRecord | None:
        """The object of this name, or the one that follows the track of this name."""
        found = self.records.get(name)
        if found is not None:
            return found
        return next(
            (r for r in self.records.values() if r.track is not None and r.track.name == name), None
        )

    def shape(self, name: str) -> Shape:
        """Shape of an object; raises `NotDerivableError`."""
        return self._record(name).shape

    def grasp(self, name: str, grasp: str) -> GraspAnnotation:
        """Grasp annotation of an object's class; raises `NotDerivableError`."""
        record = self._record(name)
        object_class = self.library.classes.get(record.class_id)
        found = None if object_class is None else object_class.grasp(grasp)
        if found is None:
            known = [] if object_class is None else [entry.name for entry in object_class.grasps]
            raise NotDerivableError(
                f"the object library has no grasp '{grasp}' for '{name}'; it has {known}"
            )
        return found

    def tracks(self, classes: Sequence[str]) -> list[Track]:
        """Stable tracks of these classes."""
        return [track for track in self.stable_tracks() if track.object_class.name in classes]

    def points(self) -> Array:
        """Points of the newest cloud in the fixed frame; raises `NotDerivableError`."""
        cloud = self.cloud()
        if cloud is None:
            raise NotDerivableError("no cloud has been received yet")
        return cloud[0]

    def _record(self, name: str) -> ObjectRecord:
        record = self.find(name)
        if record is None:
            raise NotDerivableError(f"'{name}' is no object of the scene")
        return record
