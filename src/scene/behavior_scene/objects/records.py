# SPDX-License-Identifier: Apache-2.0
"""What the scene keeps of one object, and how it looks in a snapshot."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from behavior_motion.object_state import ObjectState
from behavior_scene.derived import Derived, DerivedObject
from behavior_scene.detections import Array, frozen
from behavior_scene.library import NO_SHAPE, Color, ObjectClass, Shape
from behavior_scene.objects.attachment import Attachment, LinkPose
from behavior_scene.objects.definitions import Definition, kind_of
from behavior_scene.objects.snapshot import SceneObject
from behavior_scene.tracking.tracks import Track

_SMALLEST = 1e-3
"""[m] Edge of a detected object whose size the detector does not know."""
UNKNOWN_COVARIANCE, AT_REST = frozen(np.zeros((6, 6))), frozen(np.zeros(3))
FRAME_COLOR: Color = (0.9, 0.9, 0.2, 1.0)
"""Of objects that are mere frames."""


@dataclass(slots=True)
class ObjectRecord:
    """One object; the scene changes it."""

    name: str
    definition: Definition | None
    """None: it became an object by being tracked."""
    world_T_object: Array
    """Where it was last found, neither frozen nor carried."""
    class_id: str = ""
    shape: Shape = NO_SHAPE
    color: Color = FRAME_COLOR
    track: Track | None = None
    """What it follows now."""
    confidence: float = 1.0
    last_seen: float = 0.0
    covariance: Array = field(default_factory=lambda: UNKNOWN_COVARIANCE)
    """6x6."""
    velocity: Array = field(default_factory=lambda: AT_REST)
    """[m/s]."""
    frozen_pose: Array | None = None
    frozen_at: float = 0.0
    attachment: Attachment | None = None
    text: str = ""
    """What is to be said of it."""
    failed: bool = False
    """It is derived, and could not be computed the last time."""
    sources: tuple[str, ...] = ()
    restored: str = ""
    """It comes from the memory and was not found since: what is to be said of that."""
    cloud_stamp: float = 0.0
    """Of the cloud that it was computed from."""
    history: deque[tuple[float, Array]] = field(default_factory=deque)

    @property
    def is_kept(self) -> bool:
        """Whether it is where it is whatever is seen: frozen, or carried by a link."""
        return self.frozen_pose is not None or self.attachment is not None

    @property
    def followed(self) -> str:
        """Name of the track that an automatic object follows, or followed last."""
        # Those of files of before have no sources, and were called like their tracks.
        return self.sources[0] if self.sources else self.name

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return "detected" if self.definition is None else kind_of(self.definition)

    @property
    def derived(self) -> DerivedObject | None:
        """Its definition if it is derived."""
        return self.definition if isinstance(self.definition, DerivedObject) else None

    def pose(self, link_pose: LinkPose) -> Array:
        """Where it is: frozen, carried by its link, or as it was last found; 4x4."""
        if self.frozen_pose is not None:
            return self.frozen_pose
        attachment = self.attachment
        if attachment is not None and attachment.link_T_object is not None:
            link = link_pose(attachment.link, None)
            if link is not None:
                return frozen(link @ attachment.link_T_object)
        return self.world_T_object

    def follow(self, track: Track) -> None:
        """Take over what a track tells."""
        self.track = track
        object_class = track.object_class
        self.class_id = object_class.name
        self.shape, self.color = _shape(object_class, track), object_class.color
        self.world_T_object = track.world_T_object
        self.last_seen = track.newest.stamp
        self.covariance, self.velocity = track.covariance, track.velocity
        self.sources = (track.name,)
        self.text = self.restored = ""

    def lose_track(self) -> None:
        """Its track is gone; what it told last is kept."""
        self.confidence, self.track = self.mean_confidence(), None

    def mean_confidence(self) -> float:
        """How sure its detections are, 0..1."""
        return self.confidence if self.track is None else float(self.track.confidence)

    def take(self, derived: Derived, sources: tuple[str, ...]) -> None:
        """Take over what was computed."""
        self.world_T_object = frozen(derived.world_T_object)
        self.shape, self.text, self.failed = derived.shape, derived.text, False
        self.sources, self.restored = sources, ""

    def state(self, now: float, stale_after: float, lost_after: float) -> tuple[ObjectState, str]:
        """State at `now` [s], and why."""
        if self.frozen_pose is not None:
            return ObjectState.FROZEN, self.text
        if self.attachment is not None:
            return ObjectState.ATTACHED, self.text
        if self.derived is not None:
            return (ObjectState.STALE if self.failed else ObjectState.TRACKED), self.text
        if self.restored:
            return ObjectState.STALE, self.restored
        unseen = now - self.last_seen
        if self.track is not None and unseen <= stale_after:
            return ObjectState.TRACKED, self.text
        lost = unseen > lost_after
        return (
            ObjectState.LOST if lost else ObjectState.STALE,
            self.text or f"not seen for {unseen:.1f} s",
        )

    def scene_object(self, pose: Array, state: ObjectState, text: str) -> SceneObject:
        """The object as a snapshot shows it."""
        moving = state is ObjectState.TRACKED and self.derived is None
        x, y, z = self.velocity.tolist() if moving else (0.0, 0.0, 0.0)
        return SceneObject(
            name=self.name,
            class_id=self.class_id,
            state=state,
            world_T_object=pose,
            velocity=(x, y, z),
            covariance=tuple(self.covariance.ravel().tolist()),
            shape=self.shape,
            color=self.color,
            confidence=self.mean_confidence(),
            last_seen=self.last_seen,
            attached_link="" if self.attachment is None else self.attachment.link,
            kind=self.kind,
            sources=self.sources,
            text=text,
        )


def _shape(object_class: ObjectClass, track: Track) -> Shape:
    if object_class.shape is not None:
        return object_class.shape
    x, y, z = (max(float(edge), _SMALLEST) for edge in track.size)
    return Shape("box", (x, y, z))
