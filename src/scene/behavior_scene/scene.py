# SPDX-License-Identifier: Apache-2.0
"""The scene: tracks become objects that can be frozen, attached to a link and asked about.

The class keeps no clock and knows no ROS: the time of every call and the poses of links come from
outside, so that a recorded run gives the same scene again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from behavior_scene.detections import Array, Defect, Detection, frozen
from behavior_scene.intake import Intake, IntakeParameters
from behavior_scene.library import ObjectLibrary, Shape
from behavior_scene.objects import ObjectState, SceneObject, Snapshot
from behavior_scene.tracker import Track, Tracker

LinkPose = Callable[[str, float | None], Array | None]
"""world_T_link (4x4) of a link at a time [s] (None: newest), or None if it is not known (yet)."""


IMAGE_SPREAD = 0.05
"""[s] detections of one message may be stamped this much before it."""
REMEMBERED = 10
"""Number of detections kept of each object: the poses of links may arrive after them."""


class UnknownObjectError(KeyError):
    """No object bears this name."""


class UnknownLinkError(KeyError):
    """The pose of this link is not known."""


@dataclass(frozen=True, slots=True)
class SceneParameters:
    """Times [s] and lengths [m] of the scene's rules."""

    stale_after: float = 1.0
    """Not seen for longer: STALE."""
    lost_after: float = 5.0
    """Not seen for longer: LOST."""
    attached_tolerance: float = 0.05
    """A held object seen further than this from where the hand holds it has left the hand ..."""
    detach_confirmations: int = 2
    """... when this many detections in a row say so."""
    maximum_age: float = 2.0
    """Older detections are not used."""
    future_tolerance: float = 0.25
    """Detections may be stamped this much ahead of the clock."""
    maximum_detections: int = 500
    """More than this in one image are not looked at."""
    history: float = 60.0
    """How long past poses can be asked for."""


@dataclass(slots=True)
class _Record:
    """What the scene knows of an object beyond its track."""

    track: Track
    frozen_pose: Array | None = None
    link: str = ""
    link_T_object: Array | None = None
    disagreements: int = 0
    seen: deque[tuple[float, Array]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """Stamps and poses of the latest detections, not filtered."""
    unchecked: deque[tuple[float, Array]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """Those since it was attached that were not compared with the link yet."""
    history: deque[tuple[float, Array]] = field(default_factory=deque)


class Scene:
    """Objects of the world as far as they are known. Not thread-safe: one owner calls it."""

    def __init__(
        self, library: ObjectLibrary, link_pose: LinkPose, parameters: SceneParameters | None = None
    ) -> None:
        self.parameters = parameters or SceneParameters()
        self.intake = Intake(
            library,
            IntakeParameters(
                maximum_age=self.parameters.maximum_age,
                future_tolerance=self.parameters.future_tolerance,
                maximum_detections=self.parameters.maximum_detections,
            ),
        )
        """Lets detections in and counts the others."""
        self._link_pose = link_pose
        self.tracker = Tracker(library)
        """Follows what the detectors see; `configure` changes its parameters."""
        self._records: dict[str, _Record] = {}
        self._revision = 0

    @property
    def defects(self) -> Counter[Defect]:
        """How many detections could not be used, and why."""
        return self.intake.defects

    @property
    def accepted(self) -> int:
        """How many detections were let in."""
        return self.intake.accepted

    def update(
        self,
        detections: Iterable[Detection | Defect],
        stamp: float,
        now: float,
        detector: str = "",
    ) -> bool:
        """Take in the detections of one image.

        Args:
            detections: of the image; defects among them are counted.
            stamp: time of the image [s]; the images of one detector must arrive in order.
            now: current time [s].
            detector: who sent it.

        Returns:
            True when the image was used, False when its stamp was refused (counted in `defects`).
        """
        usable = self.intake.admit(detections, detector=detector, stamp=stamp, now=now)
        if usable is None:
            return False
        for track in self.tracker.update(usable, self._held_poses()):
            self._records.setdefault(track.name, _Record(track))
        for record in self._records.values():
            self._note_detection(record, stamp)
            self._complete_attachment(record)
            self._check_held(record)
        self._revision += 1
        self._remember(now)
        return True

    def attach(self, name: str, link: str) -> None:
        """Let an object move with a link, as it sits relative to it in the newest image.

        The unfiltered detection is paired with the link's pose at the time of the image: the
        filtered pose of an object that is being lifted lags behind.

        Raises:
            UnknownObjectError: no such object.
            UnknownLinkError: the link's pose is not known.
        """
        record = self._record(name)
        newest = self._link_pose(link, None)
        if newest is None:
            raise UnknownLinkError(link)
        record.link, record.link_T_object = link, None
        if record.frozen_pose is not None:
            record.link_T_object = frozen(np.linalg.solve(newest, record.frozen_pose))
        record.frozen_pose, record.disagreements = None, 0
        record.unchecked.clear()
        self._complete_attachment(record)
        self._revision += 1

    def detach(self, name: str) -> None:
        """Let an object stay where it is and follow its detections again.

        Raises:
            UnknownObjectError: no such object.
        """
        record = self._record(name)
        if record.link:
            record.track.place(self._pose(record))
            record.link, record.link_T_object = "", None
            self._revision += 1

    def freeze(self, names: Iterable[str], frozen_: bool) -> None:
        """Hold the poses of objects, or let them follow their detections again; no names: all.

        Raises:
            UnknownObjectError: one of the names is unknown; nothing was changed.
        """
        records = [self._record(name) for name in names] or list(self._records.values())
        for record in records:
            record.frozen_pose = frozen(self._pose(record)) if frozen_ else None
        self._revision += 1

    def snapshot(self, now: float) -> Snapshot:
        """All objects at `now` [s]."""
        for record in self._records.values():
            self._complete_attachment(record)
        objects = {name: self._object(record, now) for name, record in self._records.items()}
        return Snapshot(self._revision, now, MappingProxyType(objects))

    def pose_at(self, name: str, time: float) -> Array:
        """Where an object was at `time` [s] (nearest remembered pose at or before it).

        Raises:
            UnknownObjectError: no such object.
        """
        record = self._record(name)
        pose = self._pose(record) if not record.history else record.history[0][1]
        for stamp, known in record.history:
            if stamp > time:
                break
            pose = known
        return pose

    def _complete_attachment(self, record: _Record) -> None:
        """Find how an attached object sits in its link, from the newest image that tells.

        Poses of links may arrive after the images: until both are known of one time, the object is
        attached, but stays where it was seen.
        """
        if not record.link or record.link_T_object is not None:
            return
        for stamp, pose in reversed(record.seen):
            link_then = self._link_pose(record.link, stamp)
            if link_then is not None:
                record.link_T_object = frozen(np.linalg.solve(link_then, pose))
                return

    def _held_poses(self) -> dict[str, Array]:
        """Where links carry their objects now, for the tracker to look there."""
        return {name: self._pose(record) for name, record in self._records.items() if record.link}

    @staticmethod
    def _note_detection(record: _Record, stamp: float) -> None:
        seen = record.track.jump or record.track.newest
        if seen.stamp >= stamp - IMAGE_SPREAD and (
            not record.seen or seen.stamp > record.seen[-1][0]
        ):
            record.seen.append((seen.stamp, seen.world_T_object))
            if record.link:
                record.unchecked.append((seen.stamp, seen.world_T_object))

    def _check_held(self, record: _Record) -> None:
        """Compare a held object with its detections; let go of it when they keep disagreeing.

        A detection is compared with the link's pose at its own time, as soon as that is known.
        """
        while record.unchecked and record.link_T_object is not None:
            stamp, seen = record.unchecked[0]
            link_then = self._link_pose(record.link, stamp)
            if link_then is None:
                return
            record.unchecked.popleft()
            held = link_then @ record.link_T_object
            apart = float(np.linalg.norm(held[:3, 3] - seen[:3, 3]))
            agrees = apart <= self.parameters.attached_tolerance
            record.disagreements = 0 if agrees else record.disagreements + 1
            if record.disagreements >= self.parameters.detach_confirmations:
                record.link, record.link_T_object, record.disagreements = "", None, 0
                record.unchecked.clear()
                record.track.restart(record.track.jump or record.track.newest)

    def _remember(self, now: float) -> None:
        for record in self._records.values():
            record.history.append((now, self._pose(record)))
            while record.history[0][0] < now - self.parameters.history:
                record.history.popleft()

    def _record(self, name: str) -> _Record:
        try:
            return self._records[name]
        except KeyError:
            raise UnknownObjectError(name) from None

    def _pose(self, record: _Record) -> Array:
        if record.frozen_pose is not None:
            return record.frozen_pose
        if record.link_T_object is not None:
            link = self._link_pose(record.link, None)
            if link is not None:
                return frozen(link @ record.link_T_object)
        return record.track.world_T_object

    def _state(self, record: _Record, now: float) -> ObjectState:
        unseen = now - record.track.newest.stamp
        if record.frozen_pose is not None:
            return ObjectState.FROZEN
        if record.link:
            return ObjectState.ATTACHED
        if unseen > self.parameters.lost_after:
            return ObjectState.LOST
        if unseen > self.parameters.stale_after:
            return ObjectState.STALE
        return ObjectState.TRACKED

    def _object(self, record: _Record, now: float) -> SceneObject:
        track, state = record.track, self._state(record, now)
        moving = state is ObjectState.TRACKED
        shape = track.object_class.shape
        if shape is None:
            shape = Shape("box", tuple(max(edge, 1e-3) for edge in track.newest.size))
        x, y, z = track.velocity.tolist() if moving else (0.0, 0.0, 0.0)
        return SceneObject(
            name=track.name,
            class_id=track.object_class.name,
            state=state,
            world_T_object=self._pose(record),
            velocity=(x, y, z),
            covariance=track.newest.covariance,
            shape=shape,
            color=track.object_class.color,
            confidence=track.confidence,
            last_seen=track.newest.stamp,
            attached_link=record.link,
        )
