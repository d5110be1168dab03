# SPDX-License-Identifier: Apache-2.0
"""The scene: tracks become objects that can be frozen, attached to a link and asked about.

The class keeps no clock and knows no ROS: the time of every call and the poses of links come from
outside, so that a recorded run gives the same scene again.

An object comes about in one of two ways. *Automatic*: a track of a class whose library entry says
so becomes an object of the track's name. *Set up*: a definition tells which track a named object
follows, or how it is derived from others. A track that a set-up object follows makes no automatic
one. Objects never expire: whatever happens to what they follow, they keep their last pose, stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from behavior_scene.attachment import Attachment, AttachmentRules, LinkPose
from behavior_scene.color import Hsv, mean_color
from behavior_scene.definitions import Definition, computing_order
from behavior_scene.derived import DerivedObject, NotDerivableError
from behavior_scene.detections import Array, Defect, Detection, frozen
from behavior_scene.expression import ExpressionError
from behavior_scene.intake import Intake, IntakeParameters
from behavior_scene.library import Color, ObjectLibrary
from behavior_scene.objects import ObjectState, SceneObject, Snapshot
from behavior_scene.records import Record
from behavior_scene.saved_objects import SavedObject
from behavior_scene.scene_view import PointsProvider, SceneView
from behavior_scene.selection import DetectedObject
from behavior_scene.tracker import Tracker
from behavior_scene.tracker_parameters import TrackerParameters
from behavior_scene.tracks import Track

IMAGE_SPREAD = 0.05
"""[s] detections of one message may be stamped this much before it."""


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
    automatic: bool = True
    """Tracks become objects by themselves, unless the library says otherwise for their class."""
    minimum_history: int = 5
    """Detections that a track must have for an object to be set up on it."""
    tracker: TrackerParameters = field(default_factory=TrackerParameters)
    """When tracks are believed and forgotten, at first; `Scene.tracker.configure` changes it."""
    attachment: AttachmentRules = field(default_factory=AttachmentRules)
    """When an object is held, and when it is let go."""
    points_period: float = 0.2
    """Points are looked at for objects that are found in them at most this often."""
    maximum_age: float = 2.0
    """Older detections are not used."""
    future_tolerance: float = 0.25
    """Detections may be stamped this much ahead of the clock."""
    maximum_detections: int = 500
    """More than this in one image are not looked at."""
    history: float = 60.0
    """How long past poses can be asked for."""


class Scene:
    """Objects of the world as far as they are known. Not thread-safe: one owner calls it."""

    def __init__(
        self,
        library: ObjectLibrary,
        link_pose: LinkPose,
        parameters: SceneParameters | None = None,
        *,
        cloud: PointsProvider = lambda: None,
        color_of: Callable[[Track], Hsv | None] = lambda track: None,
        tell: Callable[[str], None] = lambda text: None,
        first_revision: int = 0,
    ) -> None:
        """Make an empty scene.

        Args:
            library: what is known of the classes.
            link_pose: where frames of the robot are.
            parameters: of the rules.
            cloud: where the points for objects that are found in points come from.
            color_of: mean colour of the points of a track; None: not known.
            tell: is told, for a log, what the scene did that nobody asked for.
            first_revision: larger than all of a scene that ran before, so that whoever saw that
                one is not taken for having seen this one.
        """
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
        self.tracker = Tracker(library, self.parameters.tracker)
        """Follows what the detectors see; `configure` changes its parameters."""
        self.library = library
        self._link_pose = link_pose
        self._cloud = cloud
        self._points: tuple[Array, float] | None = None
        self._points_taken = -np.inf
        self._color_of = color_of
        self._tell = tell
        self._records: dict[str, Record] = {}
        self._order: list[str] = []
        """Names of all records, each after those that it is computed from."""
        self._dismissed: set[str] = set()
        """Tracks that make no automatic object, because it was deleted."""
        self._departed: set[str] = set()
        """Frames that objects once had: TF remembers them, the scene does not."""
        self._revision = first_revision
        self._view = SceneView(
            records=self._records,
            current_pose=self._pose,
            frame_pose=self.frame_pose,
            stable_tracks=lambda: [t for t in self.tracker.tracks.values() if t.confirmed],
            cloud=lambda: self._points,
            library=library,
        )

    @property
    def defects(self) -> Counter[Defect]:
        """How many detections could not be used, and why."""
        return self.intake.defects + self.tracker.defects

    @property
    def accepted(self) -> int:
        """How many detections were let in."""
        return self.intake.accepted

    @property
    def revision(self) -> int:
        """Grows with every change of the scene."""
        return self._revision

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """Definitions of the objects that have been set up."""
        return {
            name: record.definition
            for name, record in self._records.items()
            if record.definition is not None
        }

    # ------------------------------------------------------------------ detections

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
        seen = self.tracker.update(usable, self._held_poses(), stamp=stamp, detector=detector)
        # First those that are there already: a restored object may look for one of the tracks.
        self._follow_tracks(now)
        for track in seen:
            if track.confirmed:
                self._make_automatic(track)
        for record in self._records.values():
            if record.attachment is not None:
                self._check_attachment(record, record.attachment, usable, stamp, now)
        self._derive(now)
        self._revision += 1
        self._remember(now)
        return True

    def _make_automatic(self, track: Track) -> None:
        """Make an object of a track, unless somebody wants otherwise."""
        name = track.name
        if name in self._records or name in self._dismissed:
            return
        if not (self.parameters.automatic and track.object_class.automatic):
            return
        if track.name in self._followed():
            return
        record = Record(name, None, track.world_T_object)
        record.follow(track)
        self._add(record)

    def _followed(self) -> set[str]:
        """Names of the tracks that objects follow."""
        return {r.track.name for r in self._records.values() if r.track is not None}

    def _follow_tracks(self, now: float) -> None:
        """Have every detected object take over its track, or look for another if that is gone."""
        for record in list(self._records.values()):
            track = record.track
            if track is not None and self.tracker.tracks.get(track.name) is track:
                record.follow(track)
            elif record.derived is None:
                record.lose_track()
                found = self._search(record, now)
                if found is not None:
                    record.follow(found)

    def _search(self, record: Record, now: float) -> Track | None:
        """Another track for an object whose own is gone, or that was restored."""
        if record.frozen_pose is not None or record.attachment is not None:
            return None
        if record.definition is None:
            track = self.tracker.tracks.get(record.name)
            return None if track is None or track.name in self._followed() else track
        assert isinstance(record.definition, DetectedObject)
        found = self._choose(record.definition, record.name, now, 1)
        return found if isinstance(found, Track) else None

    def _choose(
        self, definition: DetectedObject, name: str, now: float, minimum_history: int
    ) -> Track | str:
        """Track for a definition, or why there is none."""
        taken = {
            record.track.name
            for record in self._records.values()
            if record.track is not None and record.definition is not None and record.name != name
        }
        history = max(definition.minimum_history or minimum_history, 1)
        known = [t for t in self._view.tracks([definition.class_id]) if t.name not in taken]
        fresh = [
            track
            for track in known
            if len(track.history) >= history
            and now - track.newest.stamp <= self.parameters.stale_after
        ]
        try:
            found = definition.choose(
                {track.name: track for track in fresh}, self._view.pose, self._looks, now
            )
        except (NotDerivableError, ExpressionError) as error:
            return str(error)
        if found is not None:
            return found
        if not known:
            return f"no free track of class '{definition.class_id}'"
        return (
            f"none of {len(known)} tracks of class '{definition.class_id}' will do: "
            f"{len(fresh)} have been seen {history} times and within the last "
            f"{self.parameters.stale_after:g} s; see `where`, `color` and `region`"
        )

    def _looks(self, track: Track, measured: bool) -> tuple[Hsv | None, int]:
        """Colour and number of detections of a track."""
        hsv = self._color_of(track) if measured else _hsv(track.object_class.color)
        return hsv, len(track.history)

    # ------------------------------------------------------------------ changes

    def establish(
        self, name: str, definition: Definition, now: float, minimum_history: int = 0
    ) -> str:
        """Make an object as defined, in place of one that bears the name, if it can be made now.

        Args:
            name: of the object, which is not frozen nor attached afterwards.
            definition: how it comes about.
            now: [s].
            minimum_history: detections that its track must have; 0: the scene's default.

        Returns:
            Empty, or why it cannot be made now; then nothing was changed.

        Raises:
            DefinitionError: it would depend on itself.
        """
        computing_order({**self.definitions, name: definition})
        if isinstance(definition, DetectedObject):
            wanted = minimum_history or self.parameters.minimum_history
            found = self._choose(definition, name, now, wanted)
            if isinstance(found, str):
                return found
            record = Record(name, definition, found.world_T_object)
            record.follow(found)
            double = self._records.get(found.name)
            if double is not None and double.definition is None and found.name != name:
                self._remove(found.name)
        else:
            if definition.uses_points:
                self._take_points(now)
            try:
                derived = definition.compute(self._view)
            except NotDerivableError as error:
                return str(error)
            record = Record(name, definition, derived.world_T_object)
            record.take(derived, definition.sources())
            record.last_seen = now
            record.cloud_stamp = self._points[1] if self._points else 0.0
        self._add(record)
        self._derive(now)
        self._revision += 1
        return ""

    def place(self, name: str, definition: Definition | None, world_T_object: Array) -> None:
        """Put an object somewhere without looking, frozen there: for previews."""
        record = Record(name, definition, frozen(world_T_object))
        if isinstance(definition, DetectedObject):
            object_class = self.library.get(definition.class_id)
            record.class_id = definition.class_id
            if object_class is not None and object_class.shape is not None:
                record.shape, record.color = object_class.shape, object_class.color
        record.frozen_pose, record.text = record.world_T_object, "nominal pose, not perceived"
        self._add(record)
        self._revision += 1

    def attach(self, name: str, link: str, now: float | None = None) -> None:
        """Let an object move with a link; see `behavior_scene.attachment`.

        Args:
            name: of the object.
            link: name of a frame.
            now: [s]; None: the time of the newest detection of the object.

        Raises:
            UnknownObjectError: no such object.
            UnknownLinkError: the link's pose is not known.
        """
        record = self._record(name)
        if self._link_pose(link, None) is None:
            raise UnknownLinkError(link)
        seen, resting = record.last_seen, record.world_T_object
        if record.frozen_pose is not None:
            seen, resting = record.frozen_at, record.frozen_pose
        elif record.track is not None:
            seen, resting = record.track.newest.stamp, record.track.newest.world_T_object
        since = seen if now is None else now
        record.attachment = Attachment(
            link=link,
            since=since,
            resting=resting,
            seen=min(seen, since),
            at_rest=record.frozen_pose is not None,
            size=float(np.linalg.norm(record.shape.half_extents)),
            rules=self.parameters.attachment,
        )
        record.frozen_pose, record.text = None, ""
        self._complete(record, since)
        self._revision += 1

    def detach(self, name: str) -> None:
        """Let an object stay where it is and follow its detections again.

        Raises:
            UnknownObjectError: no such object.
        """
        record = self._record(name)
        if record.attachment is not None:
            self._let_go(record, "")
            self._revision += 1

    def freeze(self, names: Iterable[str], frozen_: bool, now: float | None = None) -> None:
        """Hold the poses of objects, or let them follow their detections again; no names: all.

        Raises:
            UnknownObjectError: one of the names is unknown; nothing was changed.
        """
        records = [self._record(name) for name in names] or list(self._records.values())
        for record in records:
            record.frozen_pose = frozen(self._pose(record)) if frozen_ else None
            record.frozen_at = record.last_seen if now is None else now
        self._revision += 1

    def delete(self, names: Iterable[str]) -> None:
        """Forget objects; names without one are no error. Tracks make no objects of them again."""
        for name in names:
            record = self._records.get(name)
            if record is not None:
                if record.track is not None and record.definition is None:
                    self._dismissed.add(name)
                self._remove(name)
        self._revision += 1

    def clear(self) -> None:
        """Forget all objects, and which ones were deleted."""
        for name in list(self._records):
            self._remove(name)
        self._dismissed.clear()
        self._revision += 1

    def saved(self, now: float) -> list[SavedObject]:
        """All objects as they are kept in a memory."""
        objects = self.snapshot(now).objects
        return [
            SavedObject.of(record, objects[name].world_T_object, objects[name].state)
            for name, record in self._records.items()
        ]

    def restore(
        self, objects: Iterable[SavedObject], text: str, *, keep_others: bool = False
    ) -> None:
        """Take over saved objects, stale until they are found again.

        Args:
            objects: in the fixed frame.
            text: what is to be said of those that were not found since.
            keep_others: keep objects that are not among them, too.

        Raises:
            DefinitionError: they depend on themselves; nothing was changed.
        """
        saved = {entry.name: entry for entry in objects}
        others = {n: d for n, d in self.definitions.items() if keep_others and n not in saved}
        computing_order(
            {**others, **{n: e.definition for n, e in saved.items() if e.definition is not None}}
        )
        for name in [name for name in self._records if name not in saved and not keep_others]:
            self._remove(name)
        for entry in saved.values():
            self._add(entry.record(text))
        self._revision += 1

    def _add(self, record: Record) -> None:
        old = self._records.get(record.name)
        if old is not None:
            record.history = old.history
        self._records[record.name] = record
        self._departed.discard(record.name)
        self._dismissed.discard(record.name)
        self._sort()

    def _remove(self, name: str) -> None:
        del self._records[name]
        self._departed.add(name)
        self._sort()

    def _sort(self) -> None:
        self._order = computing_order(self.definitions)

    # ------------------------------------------------------------------ questions

    def snapshot(self, now: float) -> Snapshot:
        """All objects at `now` [s]."""
        for record in self._records.values():
            self._complete(record, now)
        self._derive(now)
        objects: dict[str, SceneObject] = {}
        detected = [name for name, record in self._records.items() if record.derived is None]
        derived = [name for name in self._order if name not in detected]
        for name in [*detected, *derived]:
            objects[name] = self._object(self._records[name], objects, now)
        ordered = {name: objects[name] for name in self._records}
        return Snapshot(self._revision, now, MappingProxyType(ordered))

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

    def frame_pose(self, name: str) -> Array | None:
        """world_T_frame of a frame that is no object, or None."""
        return None if name in self._departed else self._link_pose(name, None)

    def _object(self, record: Record, others: Mapping[str, SceneObject], now: float) -> SceneObject:
        state, text = record.state(now, self.parameters.stale_after, self.parameters.lost_after)
        if record.derived is not None:
            found = (self._view.find(name) for name in record.sources)
            sources = [others[r.name] for r in found if r is not None and r.name in others]
            record.confidence = min((source.confidence for source in sources), default=1.0)
            unsure = [s.name for s in sources if s.state in (ObjectState.STALE, ObjectState.LOST)]
            if state is ObjectState.TRACKED:
                record.last_seen = min((source.last_seen for source in sources), default=now)
                if unsure:
                    state, text = ObjectState.STALE, f"'{unsure[0]}' is not seen"
        return record.scene_object(self._pose(record), state, text)

    def _record(self, name: str) -> Record:
        try:
            return self._records[name]
        except KeyError:
            raise UnknownObjectError(name) from None

    def _pose(self, record: Record) -> Array:
        if record.frozen_pose is not None:
            return record.frozen_pose
        attachment = record.attachment
        if attachment is not None and attachment.link_T_object is not None:
            link = self._link_pose(attachment.link, None)
            if link is not None:
                return frozen(link @ attachment.link_T_object)
        return record.world_T_object

    def _remember(self, now: float) -> None:
        for record in self._records.values():
            history = record.history
            if history and now < history[-1][0]:
                history.clear()  # the clock was set back
            history.append((now, self._pose(record)))
            while history[0][0] < now - self.parameters.history:
                history.popleft()

    # ------------------------------------------------------------------ derived objects

    def _derive(self, now: float) -> None:
        """Compute all derived objects anew; those that cannot be keep their pose as stale."""
        for name in self._order:
            record = self._records.get(name)
            derived = None if record is None else record.derived
            if record is None or derived is None or record.frozen_pose is not None:
                continue
            if derived.uses_points:
                self._take_points(now)
                stamp = self._points[1] if self._points else np.inf
                if stamp == record.cloud_stamp:
                    continue
                record.cloud_stamp = stamp
            self._compute(record, derived)

    def _compute(self, record: Record, derived: DerivedObject) -> None:
        try:
            record.take(derived.compute(self._view), derived.sources())
        except NotDerivableError as error:
            record.failed, record.text = True, str(error)

    def _take_points(self, now: float) -> None:
        """Have the newest points at hand; getting them costs time, so not too often."""
        if not 0.0 <= now - self._points_taken < self.parameters.points_period:
            self._points, self._points_taken = self._cloud(), now

    # ------------------------------------------------------------------ attached objects

    def _held_poses(self) -> dict[str, Array]:
        """Where links carry their objects now, for the tracker to look there."""
        return {
            record.track.name: self._pose(record)
            for record in self._records.values()
            if record.attachment is not None and record.track is not None
        }

    def _complete(self, record: Record, now: float) -> None:
        if record.attachment is not None:
            self._give_up(record, record.attachment.complete(self._link_pose, now))

    def _check_attachment(
        self,
        record: Record,
        attachment: Attachment,
        detections: list[Detection],
        stamp: float,
        now: float,
    ) -> None:
        """Compare a held object with an image; let go of it when it is elsewhere."""
        reason = attachment.complete(self._link_pose, now)
        if not reason and record.track is not None:
            track, gate = record.track, record.track.object_class.gate
            seen = track.jump or track.newest
            if seen.stamp >= stamp - IMAGE_SPREAD:
                attachment.note(seen.stamp, seen.world_T_object)
            attachment.note_image(
                stamp,
                [
                    detection.world_T_object[:3, 3]
                    for detection in detections
                    if detection.class_id == record.class_id
                ],
            )
            reason = attachment.check(self._link_pose, gate, track.object_class.instances)
        self._give_up(record, reason)

    def _give_up(self, record: Record, reason: str) -> None:
        """Let go of an object if there is a reason; its newest detection tells where it is."""
        if not reason:
            return
        self._tell(f"'{record.name}' is not held any more: {reason}")
        track = record.track
        if track is None:
            self._let_go(record, f"not held: {reason}")
            return
        record.attachment = None
        track.restart(track.jump or track.newest)
        record.follow(track)
        record.text = f"not held: {reason}"
        self._revision += 1

    def _let_go(self, record: Record, text: str) -> None:
        """Leave an object where it is."""
        pose = frozen(self._pose(record))
        record.attachment, record.world_T_object, record.text = None, pose, text
        if record.track is not None and record.frozen_pose is None:
            record.track.place(pose)


def _hsv(color: Color) -> Hsv:
    """Colour of red, green, blue [0..1]."""
    red, green, blue = (round(255 * part) for part in color[:3])
    packed = np.array([(red << 16) | (green << 8) | blue], dtype=np.uint32)
    hsv = mean_color(packed)
    assert hsv is not None
    return hsv
