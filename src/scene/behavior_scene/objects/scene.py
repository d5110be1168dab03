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

from behavior_motion.object_state import ObjectState
from behavior_scene.clouds.color import Hsv
from behavior_scene.detections import Array, Defect, Detection, frozen
from behavior_scene.library import ObjectLibrary
from behavior_scene.objects.attachment import Attachment, AttachmentRules, LinkPose
from behavior_scene.objects.definitions import Definition, DefinitionError, computing_order
from behavior_scene.objects.derivation import Derivation
from behavior_scene.objects.holding import Holding
from behavior_scene.objects.records import ObjectRecord
from behavior_scene.objects.saved_objects import SavedObject
from behavior_scene.objects.scene_lookup import PointsProvider, SceneLookup
from behavior_scene.objects.selection import DetectedObject
from behavior_scene.objects.snapshot import SceneObject, Snapshot
from behavior_scene.objects.track_choice import TrackChoice
from behavior_scene.tracking.intake import Intake, IntakeParameters
from behavior_scene.tracking.parameters import TrackerParameters
from behavior_scene.tracking.tracker import Tracker
from behavior_scene.tracking.tracks import Track


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
        log: Callable[[str], None] = lambda text: None,
        first_revision: int = 0,
    ) -> None:
        """Make an empty scene.

        Args:
            library: what is known of the classes.
            link_pose: where frames of the robot are.
            parameters: of the rules.
            cloud: where the points for objects that are found in points come from.
            color_of: mean colour of the points of a track; None: not known.
            log: is given, in words, what the scene did that nobody asked for.
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
        self._log = log
        self._records: dict[str, ObjectRecord] = {}
        self._order: list[str] = []
        """Names of all records, each after those that it is computed from."""
        self._dismissed: set[str] = set()
        """Tracks that make no automatic object, because it was deleted."""
        self._departed: set[str] = set()
        """Frames that objects once had: TF remembers them, the scene does not."""
        self._revision = first_revision
        self._lookup = SceneLookup(
            records=self._records,
            current_pose=lambda record: record.pose(self._link_pose),
            frame_pose=self.frame_pose,
            stable_tracks=lambda: [t for t in self.tracker.tracks.values() if t.confirmed],
            cloud=lambda: self._derivation.points,
            library=library,
        )
        self._choice = TrackChoice(
            self._records, self.tracker, self._lookup, color_of, self.parameters.stale_after
        )
        self._derivation = Derivation(
            self._records, self._lookup, cloud, self.parameters.points_period
        )
        self._holding = Holding(link_pose)

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

    def knows_links_at(self, stamp: float) -> bool:
        """Whether the links that hold objects are known at a time [s], as far as they ever are."""
        links = {r.attachment.link for r in self._records.values() if r.attachment is not None}
        return all(
            self._link_pose(link, stamp) is not None or self._link_pose(link, None) is None
            for link in links
        )

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
        held = self._holding.poses(self._records.values(), stamp)
        seen = self.tracker.update(usable, held, stamp=stamp, detector=detector)
        # First those that are there already: a restored object may look for one of the tracks.
        self._choice.follow(now)
        self._drop_doubles()
        for track in seen:
            if track.confirmed:
                self._make_automatic(track)
        for record in self._records.values():
            self._note(self._holding.check(record, usable, stamp, now))
        self._derivation.refresh(self._order, now)
        self._revision += 1
        self._remember(now)
        return True

    def _drop_doubles(self) -> None:
        """Remove automatic objects whose tracks set-up ones follow by now."""
        taken = {r.track.name for r in self._records.values() if r.definition and r.track}
        doubles = [
            name
            for name, record in self._records.items()
            if record.definition is None and record.track and record.track.name in taken
        ]
        for name in doubles:
            self._remove(name)

    def _make_automatic(self, track: Track) -> None:
        """Make an object of a track, unless somebody wants otherwise."""
        name = track.name
        if name in self._records or name in self._dismissed:
            return
        if not (self.parameters.automatic and track.object_class.automatic):
            return
        if track.name in self._choice.followed():
            return
        record = ObjectRecord(name, None, track.world_T_object)
        record.follow(track)
        self._add(record)

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
            found = self._choice.choose(definition, name, now, wanted)
            if isinstance(found, str):
                return found
            record = ObjectRecord(name, definition, found.world_T_object)
            record.follow(found)
            double = self._records.get(found.name)
            if double is not None and double.definition is None and found.name != name:
                self._remove(found.name)
        else:
            made = self._derivation.make(name, definition, now)
            if isinstance(made, str):
                return made
            record = made
        self._add(record)
        self._derivation.refresh(self._order, now)
        self._revision += 1
        return ""

    def place(self, name: str, definition: Definition | None, world_T_object: Array) -> None:
        """Put an object somewhere without looking, frozen there: for previews."""
        record = ObjectRecord(name, definition, frozen(world_T_object))
        if isinstance(definition, DetectedObject):
            object_class = self.library.get(definition.class_id)
            record.class_id = definition.class_id
            if object_class is not None and object_class.shape is not None:
                record.shape, record.color = object_class.shape, object_class.color
        record.frozen_pose, record.text = record.world_T_object, "nominal pose, not perceived"
        self._add(record)
        self._revision += 1

    def attach(self, name: str, link: str, now: float | None = None) -> None:
        """Let an object move with a link; see `behavior_scene.objects.attachment`.

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
        carried = record.attachment
        if record.frozen_pose is not None:
            seen, resting = record.frozen_at, record.frozen_pose
        elif record.track is not None:
            seen, resting = record.track.newest.stamp, record.track.newest.world_T_object
        since = seen if now is None else now
        if record.frozen_pose is None and carried is not None and carried.link_T_object is not None:
            if carried.link == link:
                return  # it sits in it as it did
            # Handed over: where its link has brought it, not where it was seen before.
            seen, resting = since, record.pose(self._link_pose)
            record.world_T_object = resting
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
        self._note(self._holding.complete(record, since))
        self._revision += 1

    def detach(self, name: str) -> None:
        """Let an object stay where it is and follow its detections again.

        Raises:
            UnknownObjectError: no such object.
        """
        record = self._record(name)
        if record.attachment is not None:
            self._holding.release(record, "")
            self._revision += 1

    def freeze(self, names: Iterable[str], frozen_: bool, now: float | None = None) -> None:
        """Hold the poses of objects, or let them follow their detections again; no names: all.

        Raises:
            UnknownObjectError: one of the names is unknown; nothing was changed.
        """
        records = [self._record(name) for name in names] or list(self._records.values())
        for record in records:
            record.frozen_pose = frozen(record.pose(self._link_pose)) if frozen_ else None
            record.frozen_at = record.last_seen if now is None else now
        self._revision += 1

    def delete(self, names: Iterable[str]) -> None:
        """Forget objects; names without one are no error. Tracks make no objects of them again."""
        for name in names:
            record = self._records.get(name)
            if record is not None:
                if record.definition is None:
                    self._dismissed.add(record.followed)  # it may come back, and be called so again
                self._remove(name)
        self._revision += 1

    def rename(self, names: Mapping[str, str]) -> None:
        """Call objects otherwise, all at once; what they follow, where and how they are stays.

        Args:
            names: new name by the present one.

        Raises:
            UnknownObjectError: one of the present names is unknown.
            DefinitionError: two would bear one name, others are defined by one of the present
                names, or some would depend on themselves. Nothing was changed in any case.
        """
        records = {name: self._record(name) for name in names}
        order = [names.get(name, name) for name in self._records]
        for name, count in Counter(order).items():
            if count > 1:
                raise DefinitionError(
                    f"{name}: {count} objects would bear this name; rename the other one too"
                )
        for name, definition in self.definitions.items():
            for source in definition.sources():
                if source in names:
                    raise DefinitionError(f"{name}: is defined by {source}: delete it first")
        # What is defined by a frame would be defined by what takes the frame's name.
        computing_order({names.get(name, name): made for name, made in self.definitions.items()})
        kept = dict(zip(order, self._records.values(), strict=True))
        self._departed |= self._records.keys() - kept.keys()
        self._departed -= kept.keys()
        self._dismissed -= set(names.values())
        for name, record in records.items():
            record.name = names[name]
        self._records.clear()  # others look at this very dict
        self._records.update(kept)
        self._sort()
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

    def _add(self, record: ObjectRecord) -> None:
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
            self._note(self._holding.complete(record, now))
        self._derivation.refresh(self._order, now)
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
        pose = record.pose(self._link_pose) if not record.history else record.history[0][1]
        for stamp, known in record.history:
            if stamp > time:
                break
            pose = known
        return pose

    def frame_pose(self, name: str) -> Array | None:
        """world_T_frame of a frame that is no object, or None."""
        return None if name in self._departed else self._link_pose(name, None)

    def _object(
        self, record: ObjectRecord, others: Mapping[str, SceneObject], now: float
    ) -> SceneObject:
        state, text = record.state(now, self.parameters.stale_after, self.parameters.lost_after)
        if record.derived is not None:
            found = (self._lookup.find(name) for name in record.sources)
            sources = [others[r.name] for r in found if r is not None and r.name in others]
            record.confidence = min((source.confidence for source in sources), default=1.0)
            unsure = [s.name for s in sources if s.state in (ObjectState.STALE, ObjectState.LOST)]
            if state is ObjectState.TRACKED:
                record.last_seen = min((source.last_seen for source in sources), default=now)
                if unsure:
                    state, text = ObjectState.STALE, f"'{unsure[0]}' is not seen"
        return record.scene_object(record.pose(self._link_pose), state, text)

    def _record(self, name: str) -> ObjectRecord:
        try:
            return self._records[name]
        except KeyError:
            raise UnknownObjectError(name) from None

    def _note(self, released: str) -> None:
        """Tell that something is not held any more."""
        if released:
            self._log(released)
            self._revision += 1

    def _remember(self, now: float) -> None:
        for record in self._records.values():
            history = record.history
            if history and now < history[-1][0]:
                history.clear()  # the clock was set back
            history.append((now, record.pose(self._link_pose)))
            while history[0][0] < now - self.parameters.history:
                history.popleft()
