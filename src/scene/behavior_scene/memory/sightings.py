# SPDX-License-Identifier: Apache-2.0
"""Which of all poses of an object are worth remembering."""

from __future__ import annotations

from dataclasses import dataclass, field

from scipy.spatial.transform import Rotation

from behavior_motion.object_state import ObjectState
from behavior_motion.pose_difference import angle_between, distance_between
from behavior_scene.detections import Array
from behavior_scene.memory.store import Sighted
from behavior_scene.objects.snapshot import SceneObject, Snapshot

_GONE = (ObjectState.STALE, ObjectState.LOST)
FORGOTTEN_NAMES = 10_000
"""The newest sightings of so many objects are compared with."""


@dataclass(slots=True)
class SightingFilter:
    """Notes an object when it is new, has moved, was not noted for long, or goes out of sight.

    So a thing at rest costs little, and the newest note of a thing that is gone is where it was
    seen last.
    """

    frame: str
    """Fixed frame of the snapshots."""
    distance: float = 0.01
    """[m]."""
    angle: float = 0.1
    """[rad]."""
    period: float = 30.0
    """[s]."""
    _noted: dict[str, SceneObject] = field(default_factory=dict)

    def choose(self, snapshot: Snapshot) -> list[Sighted]:
        """What is worth remembering of a snapshot."""
        found = []
        for obj in snapshot.objects.values():
            if obj.kind != "detected" or obj.last_seen <= 0.0:
                continue
            before = self._noted.get(obj.name)
            if before is None or self._worthwhile(before, obj):
                self._noted.pop(obj.name, None)
                self._noted[obj.name] = obj
                found.append(self._sighted(obj))
        while len(self._noted) > FORGOTTEN_NAMES:
            del self._noted[next(iter(self._noted))]
        return found

    def _worthwhile(self, before: SceneObject, obj: SceneObject) -> bool:
        if obj.last_seen == before.last_seen:
            return False
        if obj.state in _GONE or not 0.0 <= obj.last_seen - before.last_seen < self.period:
            return True
        return _differ(before.world_T_object, obj.world_T_object, self.distance, self.angle)

    def _sighted(self, obj: SceneObject) -> Sighted:
        x, y, z = obj.world_T_object[:3, 3].tolist()
        qx, qy, qz, qw = Rotation.from_matrix(obj.world_T_object[:3, :3]).as_quat().tolist()
        return Sighted(
            name=obj.name,
            class_id=obj.class_id,
            frame=self.frame,
            stamp=obj.last_seen,
            position=(x, y, z),
            quaternion=(qx, qy, qz, qw),
            confidence=obj.confidence,
        )


def _differ(first: Array, second: Array, distance: float, angle: float) -> bool:
    return distance_between(first, second) > distance or angle_between(first, second) > angle
