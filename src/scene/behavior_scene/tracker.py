# SPDX-License-Identifier: Apache-2.0
"""From instant detections to tracks that keep their identity.

Per class: the detections of one image are assigned to the tracks such that the sum of distances is
least (Hungarian method, `scipy.optimize.linear_sum_assignment`), pairs further apart than the
class's gate being forbidden. What is left over starts a new track, unless the library says that
all instances are known already: then one of them must have jumped, which is believed when a second
detection confirms the place (a single one may be false). Same input, same output: nothing here is
random and nothing reads a clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from scipy.optimize import linear_sum_assignment

from behavior_scene.detections import Array, Detection, frozen
from behavior_scene.library import ObjectClass, ObjectLibrary
from behavior_scene.pose_filter import PoseFilter

CONFIDENCE_GAIN = 0.3
"""Part of the way that a track's confidence goes to the one of each new detection."""
VELOCITY_GAIN = 0.4
_FORBIDDEN = 1e6


@dataclass(slots=True)
class Track:
    """An object followed over time."""

    name: str
    object_class: ObjectClass
    newest: Detection
    """As the detector sent it, not filtered."""
    world_T_object: Array
    """Filtered pose, 4x4, read-only."""
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    """[m/s] in the world frame, from the filtered positions."""
    confidence: float = 0.0
    jump: Detection | None = None
    """Detection that would move the track beyond its gate, waiting to be confirmed."""

    def update(self, detection: Detection) -> None:
        """Take over a detection that belongs to this track."""
        dt = detection.stamp - self.newest.stamp
        pose_filter = PoseFilter(self.object_class.time_constant, self.object_class.snap_distance)
        pose = pose_filter.step(self.world_T_object, detection.world_T_object, dt)
        if dt > 0.0:
            speed = (pose[:3, 3] - self.world_T_object[:3, 3]) / dt
            self.velocity = self.velocity + VELOCITY_GAIN * (speed - self.velocity)
        self.confidence += CONFIDENCE_GAIN * (detection.confidence - self.confidence)
        self.newest, self.jump = detection, None
        self.world_T_object = frozen(pose)

    def restart(self, detection: Detection) -> None:
        """Continue at another place: the object was moved while nobody looked."""
        self.newest, self.jump = detection, None
        self.world_T_object = detection.world_T_object
        self.velocity = np.zeros(3)
        self.confidence = detection.confidence

    def place(self, world_T_object: Array) -> None:
        """Say where the object is, better than its detections tell, and that it rests there."""
        self.world_T_object = frozen(world_T_object)
        self.velocity = np.zeros(3)


class Tracker:
    """All tracks of a scene; see the module's text for the rules."""

    def __init__(self, library: ObjectLibrary) -> None:
        self._library = library
        self.tracks: dict[str, Track] = {}
        self._created: dict[str, int] = defaultdict(int)

    def update(
        self, detections: Iterable[Detection], expected: Mapping[str, Array] = MappingProxyType({})
    ) -> list[Track]:
        """Assign the detections of one image.

        Args:
            detections: of the image.
            expected: 4x4 poses by track name where they are known better than by the last
                detection (objects that a hand carries about).

        Returns:
            The tracks that were seen in the image.
        """
        by_class: dict[str, list[Detection]] = defaultdict(list)
        for detection in detections:
            by_class[detection.class_id].append(detection)
        seen: list[Track] = []
        for class_id, group in by_class.items():
            object_class = self._library.get(class_id)
            if object_class is not None:
                seen += self._update_class(object_class, group, expected)
        return seen

    def _update_class(
        self, object_class: ObjectClass, group: list[Detection], expected: Mapping[str, Array]
    ) -> list[Track]:
        tracks = [t for t in self.tracks.values() if t.object_class.name == object_class.name]
        poses = [expected.get(track.name, track.newest.world_T_object) for track in tracks]
        pairs = [
            (tracks[row], group[column]) for row, column in _assign(poses, group, object_class.gate)
        ]
        for track, detection in pairs:
            track.update(detection)
        seen = [track for track, _ in pairs]
        used = {id(detection) for _, detection in pairs}
        rest = sorted((d for d in group if id(d) not in used), key=lambda d: -d.confidence)
        for detection in rest:
            free = [track for track in tracks if not any(track is other for other in seen)]
            if object_class.instances == 0 or len(tracks) < object_class.instances:
                track = self._create(object_class, detection)
                tracks.append(track)
                seen.append(track)
            elif free:
                track = min(free, key=lambda t: _distance(t.newest, detection))
                if track.jump and _distance(track.jump, detection) <= object_class.gate:
                    track.restart(detection)
                    seen.append(track)
                else:
                    track.jump = detection
        return seen

    def _create(self, object_class: ObjectClass, detection: Detection) -> Track:
        number = self._created[object_class.name]
        self._created[object_class.name] += 1
        single = object_class.instances == 1
        name = object_class.name if single else f"{object_class.name}_{number}"
        track = Track(
            name=name,
            object_class=object_class,
            newest=detection,
            world_T_object=detection.world_T_object,
            confidence=detection.confidence,
        )
        self.tracks[name] = track
        return track


def _assign(poses: list[Array], detections: list[Detection], gate: float) -> list[tuple[int, int]]:
    """Indices of pairs with the least sum of distances; none of them beyond the gate."""
    if not poses or not detections:
        return []
    at = np.array([pose[:3, 3] for pose in poses])
    to = np.array([detection.world_T_object[:3, 3] for detection in detections])
    cost = np.linalg.norm(at[:, None, :] - to[None, :, :], axis=2)
    rows, columns = linear_sum_assignment(np.where(cost <= gate, cost, _FORBIDDEN))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if cost[i, j] <= gate]


def _distance(first: Detection, second: Detection) -> float:
    return float(np.linalg.norm(first.world_T_object[:3, 3] - second.world_T_object[:3, 3]))
