# SPDX-License-Identifier: Apache-2.0
"""From instant detections to tracks that keep their identity.

Image by image: the tracks are predicted to its time, its detections are assigned to them such that
the total cost is least (`association`), and position, velocity and orientation are filtered
(`motion_model`, `orientation_filter`). What is left over starts a new track, unless the library
says that all instances of the class are known already: then one of them must have jumped, which is
believed when a second detection confirms the place (a single one may be false). How tracks are
believed and forgotten: `tracks`. Same input, same output, to the last bit: nothing here is random
and nothing reads a clock.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_scene.detections import Array, Defect, Detection
from behavior_scene.library import ObjectClass, ObjectLibrary
from behavior_scene.tracking.assignment import Indices
from behavior_scene.tracking.association import Expectations, Matches, associate, expectations
from behavior_scene.tracking.doubles import EDGE_SHARE, Reports, neighbours, same_object
from behavior_scene.tracking.measurements import Measurements, measurements
from behavior_scene.tracking.motion_model import Motion, Traits, corrected, newborn
from behavior_scene.tracking.noise_estimate import Noise, learned
from behavior_scene.tracking.orientation_filter import turned
from behavior_scene.tracking.parameters import TrackerParameters
from behavior_scene.tracking.tracks import Constants, Track

MAXIMUM_DETECTORS = 100
"""The newest stamp is remembered for so many detectors, the latest heard of."""
IMAGE_SPREAD = 0.05
"""[s] detections with stamps no further apart are taken for one image."""
_EYE = np.eye(3)
_Looked = tuple[Detection, ObjectClass, bool]
"""A detection, its class, and whether it is sure enough to start a track."""
SIZE_GAIN = 0.3
"""Part of the way that a track's size goes towards that of a detection."""
UNKNOWN_NOISE = 2.0
"""Times its class's `position_deviation` the noise of a new thing may be."""
ALONG = 0.2
"""[m/s] that two tracks of one thing differ by at most."""
REMEMBERED = 60.0
"""[s] after which what was forgotten gets its name back no more."""
MOST_REMEMBERED = 1000
"""Forgotten tracks whose names are known, the latest ones."""


class Tracker:
    """All tracks of a scene; see the module's text for the rules."""

    def __init__(self, library: ObjectLibrary, parameters: TrackerParameters | None = None) -> None:
        self.parameters = parameters or TrackerParameters()
        """For tracks that begin from now on."""
        self.tracks: dict[str, Track] = {}
        """All that are followed, by name, the oldest first."""
        self.defects: Counter[Defect] = Counter()
        """Detections that neither continued a track nor could start one, and why."""
        self._library = library
        self._created: dict[str, int] = defaultdict(int)
        self._free: dict[str, list[int]] = defaultdict(list)
        """Numbers of what was never believed to be a thing, the smallest first: they come again."""
        self._time = -np.inf
        self._heard: dict[str, float] = {}
        self._gone: dict[str, Track] = {}

    def configure(self, changes: Mapping[str, Any]) -> TrackerParameters:
        """Change parameters for the tracks that begin from now on; returns all of them.

        Raises:
            TrackerParameterError: a name is unknown or a value out of its range; nothing changed.
        """
        self.parameters = self.parameters.changed(changes)
        return self.parameters

    def update(
        self,
        detections: Iterable[Detection],
        expected: Mapping[str, Array] = MappingProxyType({}),
        *,
        stamp: float | None = None,
        detector: str = "",
    ) -> list[Track]:
        """Assign the detections of one image of one detector.

        Images of several detectors may come in any order; a detection older than what its track
        has seen already counts for as much as it still tells. The time of a call grows with the
        number of detections and tracks, and a little with the product of both.

        Args:
            detections: of the image.
            expected: 4x4 poses by track name where they are known better than by the last
                detection (objects that a hand carries about).
            stamp: time of the image [s], in case that nothing was detected; None: the newest of
                the detections.
            detector: who sent it.

        Returns:
            The tracks that were seen in the image.
        """
        for track in self.tracks.values():
            track.expect(detector)
        usable = self._looked_at(detections)
        # By the image: single detections may be older, where they have stamps of their own.
        self._follow_clock(
            detector, stamp if stamp is not None or not usable else usable[-1][0].stamp
        )
        stamps = [detection.stamp for detection, _, _ in usable]
        seen: list[Track] = []
        start = 0
        for stop in range(1, len(usable) + 1):
            if stop == len(usable) or stamps[stop] > stamps[start] + IMAGE_SPREAD:
                seen += self._update_image(usable[start:stop], expected)
                start = stop
        if stamp is not None and stamp > self._time:
            self.age(stamp)
        return list(dict.fromkeys(seen))

    def age(self, now: float) -> None:
        """Forget what was not seen for long; `update` does it up to the newest image.

        Args:
            now: current time [s], on the clock of the stamps.
        """
        self._time = max(self._time, now)
        kept: dict[str, Track] = {}
        for name, track in self.tracks.items():
            if track.age(self._time):
                kept[name] = track
            elif track.confirmed:
                self._gone[name] = track
            else:
                self._free_name(track)
        self.tracks = kept
        while len(self._gone) > MOST_REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _follow_clock(self, detector: str, stamp: float | None) -> None:
        """Notice that the clock was set back: each detector stamps its images in order.

        Where it was, everything seen so far counts as that much earlier: the images go on at their
        pace, and things as they went.
        """
        if stamp is None:
            return
        before = self._heard.pop(detector, -np.inf)
        if stamp < before - IMAGE_SPREAD:
            by = stamp - before
            for track in (*self.tracks.values(), *self._gone.values()):
                track.shift(by)
            self._heard = {name: heard + by for name, heard in self._heard.items()}
            self._time += by
        self._heard[detector] = stamp
        if len(self._heard) > MAXIMUM_DETECTORS:
            del self._heard[next(iter(self._heard))]

    def _update_image(
        self, looked: Sequence[_Looked], expected: Mapping[str, Array]
    ) -> list[Track]:
        image, classes, acceptable = zip(*looked, strict=True)
        stamp = image[-1].stamp
        found = measurements(image, classes)
        sure = np.array(acceptable)
        tracks = list(self.tracks.values())
        there = expectations(tracks, stamp, expected)
        matches = associate(there, found, sure)
        matches = _without_doubles(there, found, classes, matches)
        self._correct(there, found, matches)
        seen = [tracks[row] for row in matches.rows.tolist()]
        left = sure.copy()
        left[matches.columns] = False
        if not sure.all():
            unsure = int((~sure).sum()) - int((~sure[matches.columns]).sum())
            if unsure:
                self.defects[Defect.LOW_CONFIDENCE] += unsure
        self._reclassify(seen)
        fresh = self._no_doubles(found, classes, left.nonzero()[0], matches.columns, seen)
        seen += self._found_elsewhere(found, classes, fresh, seen)
        seen = self._merged(seen)
        seen = self._one_in_a_place(seen, expected)
        doubtful = [track for track in seen if not track.confirmed]
        self.age(stamp)
        same = self._reunited([track for track in doubtful if track.confirmed])
        return [same.get(track.name, track) for track in seen]

    def _reunited(self, confirmed: Sequence[Track]) -> dict[str, Track]:
        """Give new tracks the identity of those that were lost before.

        What begins after something of its class was last seen, where that may have gone meanwhile,
        is that: it was pushed, or turned while it was hidden.

        Args:
            confirmed: tracks that have just turned out to be things.

        Returns:
            The older track by name of the newer one, which is dropped.
        """
        same: dict[str, Track] = {}
        for track in confirmed:
            known, first = track.object_class, track.first
            lost = self._remembered(track)
            lost += [
                (_distance(other.newest, first), other)
                for other in self.tracks.values()
                if other.object_class.name == known.name
                and other.confirmed
                and other.newest.stamp < first.stamp
            ]
            near = [
                (distance, other)
                for distance, other in lost
                if distance <= known.gate + known.maximum_speed * (first.stamp - other.newest.stamp)
            ]
            if near:
                _, older = min(near, key=lambda pair: pair[0])
                older.take_over(track)
                same[track.name] = older
                del self.tracks[track.name]
                self._gone.pop(older.name, None)
                self.tracks[older.name] = older
        return same

    def _remembered(self, track: Track) -> list[tuple[float, Track]]:
        """What was forgotten and may be this new track, with distances [m]: it was there."""
        oldest = track.first.stamp - REMEMBERED
        self._gone = {name: t for name, t in self._gone.items() if t.newest.stamp >= oldest}
        found = [
            (_distance(other.newest, track.first), other)
            for other in self._gone.values()
            if other.object_class.name == track.object_class.name
        ]
        return [(distance, t) for distance, t in found if distance <= track.object_class.gate]

    def _reclassify(self, seen: Sequence[Track]) -> None:
        """Let tracks be of the class that their detections say, where numbers do not count.

        Until it is confirmed, nobody knows a track, and it takes a name of its class; afterwards
        it keeps its name, being the same thing.
        """
        for track in seen:
            known = self._library.get(track.classes.best)
            if known is None or known.name == track.object_class.name:
                continue
            if known.instances or track.object_class.instances:
                continue
            if not track.doubts(known.name):
                continue
            before = track.name
            track.reclassify(before if track.confirmed else self._new_name(known), known)
            self.tracks = {t.name: t for t in self.tracks.values()}

    def _no_doubles(
        self,
        found: Measurements,
        classes: Sequence[ObjectClass],
        left: Indices,
        taken: Indices,
        seen: Sequence[Track],
    ) -> Indices:
        """Those left over that tell of nothing that the image tells of already."""
        if not left.size:
            return left
        variances = found.noise.trace(axis1=1, axis2=2) / 3.0
        each = _reports(found, classes, variances)
        # Of what is new nobody knows yet how noisy it is, unless the detector tells.
        doubtful = np.where(found.given, variances, UNKNOWN_NOISE**2 * variances)
        for column, track in zip(taken.tolist(), seen, strict=True):
            doubtful[column] = max(variances[column], track.measured_variance)
        noisy = _as_noisy(_reports(found, classes, doubtful))
        given, fresh = set(taken.tolist()), []
        order = sorted(left.tolist(), key=lambda i: -found.detections[i].confidence)
        for i, near in zip(order, neighbours(noisy, order), strict=True):
            # Things of different classes may be stacked: those count as told, without doubt.
            alike = [j for j in near if j in given and classes[j] is classes[i]]
            others = [j for j in near if j in given and classes[j] is not classes[i]]
            if (
                same_object(each.of([i]), noisy.of(alike)).any()
                or same_object(each.of([i]), each.of(others)).any()
            ):
                self.defects[Defect.DOUBLE] += 1
            else:
                given.add(i)
                fresh.append(i)
        return np.array(sorted(fresh), dtype=np.intp)

    def _merged(self, seen: Sequence[Track]) -> list[Track]:
        """Drop new tracks that turn out to follow what an older one follows.

        A double far off may start a track, but its estimate comes near before it is valid.
        """
        tracks = list(self.tracks.values())
        current = set(map(id, seen))
        young = [
            row
            for row, track in enumerate(tracks)
            if id(track) in current and not (track.valid or track.object_class.instances)
        ]
        dropped: set[str] = set()
        if young:
            estimates = _estimates(tracks)
            for row, near in zip(young, neighbours(estimates, young), strict=True):
                older = [other for other in near if _goes_before(tracks, other, row, dropped)]
                if same_object(estimates.of([row]), estimates.of(older)).any():
                    dropped.add(tracks[row].name)
        for name in dropped:
            self._free_name(self.tracks.pop(name))
        return [track for track in seen if track.name not in dropped]

    def _one_in_a_place(self, seen: Sequence[Track], expected: Mapping[str, Array]) -> list[Track]:
        """Of two tracks that take turns, seen now this and now that where there is room for one
        thing, keep the older: what it follows has drawn the other to it, which has lost its own.
        """
        current = {track.name for track in seen}
        for track in seen:
            if track.rival in current:
                track.rival = ""
        tracks = [
            track
            for track in self.tracks.values()
            if track.confirmed and not track.object_class.instances and track.name not in expected
        ]
        unseen = [row for row, track in enumerate(tracks) if track.name not in current]
        if not seen or not unseen:
            return list(seen)
        reports = _estimates(tracks)
        places = replace(reports, variances=np.zeros(len(tracks)))  # in one place, however noisy
        same: dict[str, Track] = {}
        for row, near in zip(unseen, neighbours(places, unseen), strict=True):
            track = tracks[row]
            others = [i for i in near if tracks[i].name in current and _alike(tracks[i], track)]
            for i in np.array(others)[same_object(places.of([row]), places.of(others))].tolist():
                other = tracks[i]
                if other.rival != track.name or other.name in same:
                    track.rival = other.name
                elif (track.first.stamp, row) < (other.first.stamp, i):
                    track.take_over(other)
                    same[other.name] = track
                else:
                    same[track.name] = other
                    break
        for name in same:
            del self.tracks[name]
        return [same.get(track.name, track) for track in seen]

    def _looked_at(self, detections: Iterable[Detection]) -> list[_Looked]:
        """Those of accepted classes that are not too unsure for anything, by stamp."""
        classes: dict[str, tuple[ObjectClass | None, float, float]] = {}
        usable: list[_Looked] = []
        for detection in detections:
            if detection.class_id not in classes:
                classes[detection.class_id] = self._thresholds(detection.class_id)
            known, least, acceptance = classes[detection.class_id]
            if known is None:
                self.defects[Defect.UNKNOWN_CLASS] += 1
            elif detection.confidence < least:
                self.defects[Defect.LOW_CONFIDENCE] += 1
            else:
                usable.append((detection, known, detection.confidence >= acceptance))
        usable.sort(key=lambda entry: entry[0].stamp)
        return usable

    def _thresholds(self, class_id: str) -> tuple[ObjectClass | None, float, float]:
        """A class, and the confidences of what is looked at and of what may start a track."""
        known = self._library.get(class_id)
        own = None if known is None else known.acceptance_confidence
        acceptance = self.parameters.acceptance_confidence if own is None else own
        return known, min(self.parameters.minimum_confidence, acceptance), acceptance

    def _correct(self, there: Expectations, found: Measurements, matches: Matches) -> None:
        """Take over the detections that belong to tracks."""
        if not matches.rows.size:
            return
        rows, columns = matches.rows, matches.columns
        tracks = [there.tracks[row] for row in rows.tolist()]
        traits, before = there.traits.of(rows), there.motion.of(rows)
        learned_before = there.noise.of(rows)
        position, given = found.positions[columns], found.given[columns]
        measured_noise = learned_before.variance[:, None, None] * _EYE
        noise = np.where(given[:, None, None], found.noise[columns], measured_noise)
        late = np.maximum(there.times[rows] - found.stamps[columns], 0.0)
        if late.any():
            # Where the thing is now, had it gone on from where it was seen.
            mean, covariance = before.moments()
            position = position + late[:, None] * mean[:, 3:]
            noise = noise + (late**2)[:, None, None] * covariance[:, 3:, 3:]
        after = corrected(before, position, noise).packed()
        (jumped,) = (matches.jumps & (late <= IMAGE_SPREAD)).nonzero()
        if jumped.size:
            after[jumped] = newborn(position[jumped], noise[jumped], traits.of(jumped)).packed()
        rotation, variance = turned(
            np.array([track.world_T_object for track in tracks])[:, :3, :3],
            np.array([track.rotation_variance for track in tracks]),
            _least_turned(tracks, found.poses[columns]),
            found.turn_noise[columns],
            dt=there.dt[rows],
            time_constant=traits.time_constant,
        )
        _store(tracks, there.times[rows], after, rotation, variance)
        self._learn_noise(tracks, found, matches, learned_before)
        known, sizes = np.array([track.size for track in tracks]), found.sizes[columns]
        averaged = np.where(known > 0.0, known + SIZE_GAIN * (sizes - known), sizes).tolist()
        density = matches.log_densities.tolist()
        for track, column, size, log_density in zip(
            tracks, columns.tolist(), averaged, density, strict=True
        ):
            track.see(found.detections[column], size, log_density)

    @staticmethod
    def _learn_noise(
        tracks: Sequence[Track], found: Measurements, matches: Matches, before: Noise
    ) -> None:
        columns = matches.columns
        rows = learned(
            before,
            found.stamps[columns],
            found.positions[columns],
            np.array([track.constants.position_deviation for track in tracks]),
            ~(found.given[columns] | matches.jumps),
        ).packed()
        rows.flags.writeable = False
        for track, row in zip(tracks, rows, strict=True):
            track.noise = row

    def _found_elsewhere(
        self,
        found: Measurements,
        classes: Sequence[ObjectClass],
        left: Indices,
        seen: Sequence[Track],
    ) -> list[Track]:
        """What sure detections that continue no track tell: new tracks, or some that jumped."""
        if not left.size:
            return []
        members: dict[str, list[Track]] = defaultdict(list)
        for track in self.tracks.values():
            members[track.object_class.name].append(track)
        taken = set(map(id, seen))
        free = {name: [t for t in of if id(t) not in taken] for name, of in members.items()}
        births = self._births(found, classes, left)
        order = sorted(range(len(left)), key=lambda i: -found.detections[int(left[i])].confidence)
        tracks = []
        for i in order:
            known, detection = classes[left[i]], found.detections[int(left[i])]
            if known.instances == 0 or len(members[known.name]) < known.instances:
                if len(self.tracks) >= self.parameters.maximum_tracks:
                    self.defects[Defect.TOO_MANY] += 1
                    continue
                track = Track.begun(
                    self._new_name(known),
                    known,
                    self.parameters,
                    detection,
                    motion=births[i],
                    noise=found.noise[left[i]],
                    turn_noise=float(found.turn_noise[left[i]]),
                )
                self.tracks[track.name] = track
                members[known.name].append(track)
                tracks.append(track)
            elif free.get(known.name):
                track = min(free[known.name], key=lambda t: _distance(t.newest, detection))
                if track.jump and _confirms(track.jump, detection, known.gate):
                    track.restart(detection)
                    free[known.name].remove(track)
                    tracks.append(track)
                else:
                    track.jump = detection
        return tracks

    def _births(self, found: Measurements, classes: Sequence[ObjectClass], left: Indices) -> Array:
        """Rows of `Motion` of those detections."""
        some = {classes[i].name: Constants.of(classes[i], self.parameters) for i in left}
        known = np.array([some[classes[i].name] for i in left])
        traits = Traits(known[:, 1], known[:, 2])
        rows = newborn(found.positions[left], found.noise[left], traits).packed()
        rows.flags.writeable = False
        return rows

    def _new_name(self, object_class: ObjectClass) -> str:
        if object_class.instances == 1:
            return object_class.name
        while True:
            free = self._free[object_class.name]
            if free:
                number = heapq.heappop(free)
            else:
                number = self._created[object_class.name]
                self._created[object_class.name] += 1
            name = f"{object_class.name}_{number}"
            namesake = self._library.classes.get(name)
            # What there is one of is called like its class, which may look like a number of ours.
            if namesake is None or namesake.instances != 1:
                return name

    def _free_name(self, track: Track) -> None:
        """Let the name of a track that was never confirmed be given again."""
        name, _, number = track.name.rpartition("_")
        if not track.confirmed and name == track.object_class.name and number.isdecimal():
            heapq.heappush(self._free[name], int(number))


def _without_doubles(
    there: Expectations, found: Measurements, classes: Sequence[ObjectClass], matches: Matches
) -> Matches:
    """Without those that tell of the same place as another, where it is that other's: nothing but
    a push explains them, or what they would continue was elsewhere before.
    """
    steady = ~(matches.jumps | _elsewhere(there, found, matches))
    if steady.all() or not steady.any():
        return matches
    variances = found.noise.trace(axis1=1, axis2=2) / 3.0
    learned = there.noise.variance[matches.rows]
    variances[matches.columns] = np.maximum(variances[matches.columns], learned)
    reports = _reports(found, classes, variances)
    others = _as_noisy(reports.of(matches.columns[steady].tolist()))
    keep = steady.copy()
    for k in (~steady).nonzero()[0].tolist():
        keep[k] = not same_object(reports.of([int(matches.columns[k])]), others).any()
    return Matches(
        matches.rows[keep], matches.columns[keep], matches.jumps[keep], matches.log_densities[keep]
    )


def _elsewhere(there: Expectations, found: Measurements, matches: Matches) -> NDArray[np.bool_]:
    """Which detections are so far from where their tracks should be as two things are at least."""
    moved = there.centres[matches.rows] - found.positions[matches.columns]
    edge = found.sizes[matches.columns].min(axis=1)
    return np.asarray((edge > 0.0) & (np.linalg.norm(moved, axis=1) > EDGE_SHARE * edge))


def _reports(found: Measurements, classes: Sequence[ObjectClass], variances: Array) -> Reports:
    turned = np.array([known.compare_orientation for known in classes], dtype=bool)
    return Reports(found.poses, variances, found.sizes, turned)


def _as_noisy(reports: Reports) -> Reports:
    """With the noise of a double besides their own: it is as noisy as they are."""
    return replace(reports, variances=2.0 * reports.variances)


def _estimates(tracks: Sequence[Track]) -> Reports:
    """Where tracks are, as if their newest detections had told it."""
    return Reports(
        np.array([track.world_T_object for track in tracks]),
        np.array([track.measured_variance for track in tracks]),
        np.array([track.size for track in tracks]),
        np.array([track.object_class.compare_orientation for track in tracks], dtype=bool),
    )


def _alike(track: Track, other: Track) -> bool:
    """Whether what one follows may be taken for what the other does, by the detector of one."""
    known = track.object_class.name == other.object_class.name
    return known and track.newest.detector in other.detectors


def _goes_before(tracks: Sequence[Track], first: int, row: int, dropped: set[str]) -> bool:
    """Whether another track is older and goes along with one."""
    other, track = tracks[first], tracks[row]
    older = (other.first.stamp, first) < (track.first.stamp, row)
    apart = float(np.linalg.norm(other.velocity - track.velocity))
    return older and other.name not in dropped and apart <= ALONG


def _least_turned(tracks: Sequence[Track], poses: Array) -> Array:
    """Rotations of detected poses, those of symmetric things as their tracks saw them before."""
    rotations = poses[:, :3, :3].copy()
    for i, track in enumerate(tracks):
        symmetry = track.object_class.symmetry
        if symmetry is not None:
            rotations[i] = symmetry.nearest(poses[i], track.world_T_object)[:3, :3]
    return rotations


def _store(
    tracks: Sequence[Track], times: Array, motion: Array, rotation: Array, variance: Array
) -> None:
    """Put the rows of the estimates into the tracks, as read-only views of common arrays."""
    mean, spread = Motion.unpacked(motion).moments()
    poses = np.zeros((len(tracks), 4, 4))
    poses[:, :3, :3], poses[:, :3, 3], poses[:, 3, 3] = rotation, mean[:, :3], 1.0
    covariance = np.zeros((len(tracks), 6, 6))
    covariance[:, :3, :3] = spread[:, :3, :3]
    covariance[:, 3:, 3:] = variance[:, None, None] * _EYE
    velocity = mean[:, 3:]
    for array in (motion, poses, covariance, mean, velocity):
        array.flags.writeable = False
    rows = zip(
        tracks, times.tolist(), motion, variance.tolist(), poses, covariance, velocity, strict=True
    )
    for track, time, row, turn_variance, pose, spread_of_pose, speed in rows:
        track.time, track.motion, track.rotation_variance = time, row, turn_variance
        track.world_T_object, track.covariance, track.velocity = pose, spread_of_pose, speed


def _confirms(jump: Detection, detection: Detection, gate: float) -> bool:
    """Whether a later detection tells the same place."""
    return detection.stamp > jump.stamp and _distance(jump, detection) <= gate


def _distance(first: Detection, second: Detection) -> float:
    return float(np.linalg.norm(first.world_T_object[:3, 3] - second.world_T_object[:3, 3]))
