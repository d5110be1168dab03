# SPDX-License-Identifier: Apache-2.0
"""One thing followed over time, and how it is begun, believed and forgotten.

The life of a track (after the persistent detections of the IHMC behaviour scene): it begins with a
detection; it is *stable* while it is seen often and surely enough; it is *valid* for good if it
was stable at the age of `history_duration`, and is forgotten then if not; a valid track that is no
longer seen coasts for `coasting_duration`. A class of which the number of instances is known has
that many tracks, which are never forgotten: of those the question is only where they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from behavior_scene.detections import Array, Detection, frozen
from behavior_scene.library import ObjectClass
from behavior_scene.tracking.class_evidence import ClassEvidence
from behavior_scene.tracking.history import History
from behavior_scene.tracking.measurements import measurements
from behavior_scene.tracking.motion_model import Traits, newborn
from behavior_scene.tracking.noise_estimate import Noise, unlearned
from behavior_scene.tracking.parameters import TrackerParameters

PLACED_DEVIATION = 1e-3
"""[m], [rad] of the pose of a thing that was placed by somebody who knows."""
LOG_FALSE_DENSITY = math.log(0.1)
"""Of false detections in one image [1/m^3]."""
LOG_MISSED = math.log(0.6)
"""Of the probability that something is not found by a detector that has found it before."""


class Constants(NamedTuple):
    """What the filters and gates need of a track and never changes."""

    gate: float
    """[m]."""
    maximum_speed: float
    """[m/s]."""
    time_constant: float
    """[s] of the filter at rest."""
    countless: float
    """1 if nobody knows how many there are of its class, else 0."""
    position_deviation: float
    """[m]."""

    @classmethod
    def of(cls, known: ObjectClass, parameters: TrackerParameters) -> Constants:
        """Those of a class."""
        own = known.time_constant
        return cls(
            gate=known.gate,
            maximum_speed=known.maximum_speed,
            time_constant=parameters.time_constant if own is None else own,
            countless=float(known.instances == 0),
            position_deviation=known.position_deviation,
        )


@dataclass(slots=True, eq=False)
class Track:
    """An object followed over time.

    The tracker changes it; others read it, and may restart it or place it.
    """

    name: str
    """Unique while the tracker runs."""
    object_class: ObjectClass
    parameters: TrackerParameters
    """In force when the track began."""
    constants: Constants
    newest: Detection
    """As the detector sent it, not filtered."""
    world_T_object: Array
    """Filtered pose at `time`, 4x4, read-only."""
    time: float
    """Of the filters' state [s]."""
    motion: Array
    """Row of a `Motion`: position and velocity, resting and moving."""
    noise: Array
    """Row of a `Noise`: what was learned of the noise of the detections."""
    rotation_variance: float
    """[rad^2] about each axis."""
    first: Detection
    """What it began with."""
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    """[m/s] in the world frame."""
    covariance: Array = field(default_factory=lambda: np.eye(6))
    """6x6 of x y z roll pitch yaw in the world frame, positive definite, read-only."""
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Edges of the bounding box [m], averaged; zeros: unknown."""
    history: History = field(default_factory=History)
    classes: ClassEvidence = field(default_factory=ClassEvidence)
    """What its detections were called."""
    evidence: float = 0.0
    """Logarithm of how much likelier its detections are of one thing than false ones."""
    detectors: set[str] = field(default_factory=set)
    """Those that have seen it."""
    valid: bool = False
    """Was stable when it was old enough to be judged; kept while it is hidden."""
    confirmed: bool = False
    """Was stable at some time, or belongs to a class with a known number of instances."""
    jump: Detection | None = None
    """Detection that would move the track beyond its gate, waiting to be confirmed."""
    rival: str = ""
    """Another track, which was seen in its place when it was seen last or not any more."""

    @classmethod
    def begun(
        cls,
        name: str,
        object_class: ObjectClass,
        parameters: TrackerParameters,
        first: Detection,
        *,
        motion: Array,
        noise: Array,
        turn_noise: float,
    ) -> Track:
        """A track with its first detection.

        Args:
            name: unique.
            object_class: of the detection.
            parameters: to be kept.
            first: detection.
            motion: row of a `Motion` at the detection's place.
            noise: 3x3 covariance of the detected position [m^2].
            turn_noise: variance of the detected orientation [rad^2].
        """
        track = cls(
            name=name,
            object_class=object_class,
            parameters=parameters,
            constants=Constants.of(object_class, parameters),
            newest=first,
            world_T_object=first.world_T_object,
            time=first.stamp,
            motion=motion,
            noise=_unlearned(object_class.position_deviation**2, first),
            rotation_variance=turn_noise,
            first=first,
            covariance=_pose_covariance(noise, turn_noise),
            size=first.size if all(first.size) else (0.0, 0.0, 0.0),
            confirmed=object_class.instances > 0,
        )
        track.detectors.add(first.detector)
        track.history.add(first.stamp, first.confidence)
        track.classes.add(first.class_id, first.confidence, first.stamp)
        return track

    @property
    def confidence(self) -> float:
        """Mean over the history, 0..1."""
        return self.history.mean_confidence

    @property
    def measured_variance(self) -> float:
        """[m^2] along an axis, of its newest detection: told by the detector, or learned."""
        return float(self.motion[-1])

    @property
    def acceptance_confidence(self) -> float:
        """What its detections must exceed on average for it to be stable."""
        own = self.object_class.acceptance_confidence
        return self.parameters.acceptance_confidence if own is None else own

    def see(self, detection: Detection, size: Sequence[float], log_density: float) -> None:
        """Note a detection that the filters have taken over.

        Args:
            detection: of the thing.
            size: averaged with regard to it [m].
            log_density: logarithm of the probability density of its place [1/m^3].
        """
        self.evidence += log_density - LOG_FALSE_DENSITY
        if detection.stamp >= self.newest.stamp:
            self.newest, self.jump = detection, None
        if all(detection.size):
            self.size = (size[0], size[1], size[2])
        self._count(detection)

    def restart(self, detection: Detection) -> None:
        """Continue at another place: the object was moved while nobody looked."""
        seen = measurements([detection], [self.object_class])
        self.newest, self.jump = detection, None
        self.world_T_object = detection.world_T_object
        self.time = detection.stamp
        self._forget_predecessors()
        self._rest_at(seen.noise[0], float(seen.turn_noise[0]))
        if all(detection.size):
            self.size = detection.size
        self._count(detection)

    def place(self, world_T_object: Array) -> None:
        """Say where the object is, better than its detections tell, and that it rests there."""
        self.world_T_object = frozen(world_T_object)
        variance = PLACED_DEVIATION**2
        self._forget_predecessors()
        self._rest_at(variance * np.eye(3), variance)

    def take_over(self, other: Track) -> None:
        """Go on as another track, which turned out to be the same thing at another place."""
        self.newest, self.jump = other.newest, None
        self.world_T_object, self.time = other.world_T_object, other.time
        self.motion, self.noise = other.motion, other.noise
        self.rotation_variance, self.covariance = other.rotation_variance, other.covariance
        self.velocity, self.size = other.velocity, other.size
        self.history, self.detectors = other.history, self.detectors | other.detectors
        self.classes, self.constants = other.classes, other.constants
        # What was missed meanwhile says nothing against a thing that is there again.
        self.evidence = other.evidence

    def doubts(self, class_id: str) -> bool:
        """Whether its detections speak more for this class than for its own."""
        return self.classes.of(class_id) > self.classes.of(self.object_class.name)

    def reclassify(self, name: str, known: ObjectClass) -> None:
        """Go on as a thing of another class: what its detections say it is."""
        self.name, self.object_class = name, known
        self.constants = Constants.of(known, self.parameters)

    def shift(self, by: float) -> None:
        """The clock of the stamps was set: count all of them `by` [s] later."""
        self.time += by
        self.newest = replace(self.newest, stamp=self.newest.stamp + by)
        self.first = replace(self.first, stamp=self.first.stamp + by)
        self.history.shift(by)
        learned = Noise.unpacked(self.noise[None])
        (noise,) = replace(learned, stamps=learned.stamps + by).packed()
        noise.flags.writeable = False
        self.noise = noise
        self.classes.shift(by)
        if self.jump is not None:
            self.jump = replace(self.jump, stamp=self.jump.stamp + by)

    def stable(self, now: float) -> bool:
        """Whether it is seen often and surely enough at `now` [s]."""
        rules = self.parameters
        return (
            len(self.history) >= rules.minimum_history
            and self.evidence >= rules.stability_evidence
            and self.history.frequency(now) > rules.stability_frequency
            and self.history.mean_confidence > self.acceptance_confidence
        )

    def age(self, now: float) -> bool:
        """Forget old detections; tell whether the track itself is kept."""
        rules = self.parameters
        due = self.first.stamp + rules.history_duration
        if not self.valid and now > due:
            # As things were then: no image may have come since.
            self.valid = self.stable(due)
        self.history.age(now - rules.history_duration)
        if not self.confirmed:
            self.confirmed = self.valid or self.stable(now)
        if self.object_class.instances > 0 or now <= due:
            return True
        unseen = now - self.newest.stamp
        return self.valid and unseen <= max(rules.coasting_duration, rules.history_duration)

    def expect(self, detector: str) -> None:
        """Note that a detector has looked; `see` tells if it has found something."""
        if detector in self.detectors:
            self.evidence += LOG_MISSED

    def _count(self, detection: Detection) -> None:
        self.history.add(detection.stamp, detection.confidence)
        self.classes.add(detection.class_id, detection.confidence, detection.stamp)
        if detection.detector in self.detectors:
            self.evidence -= LOG_MISSED
        self.detectors.add(detection.detector)

    def _forget_predecessors(self) -> None:
        """The next detection is not to be compared with those before."""
        learned = Noise.unpacked(self.noise[None])
        at = self.newest.world_T_object[None, :3, 3]
        stamp = np.array([self.newest.stamp])
        (self.noise,) = unlearned(learned.variance, stamp, at, learned.weight).packed()

    def _rest_at(self, noise: Array, turn_noise: float) -> None:
        traits = Traits(
            np.array([self.constants.maximum_speed]), np.array([self.constants.time_constant])
        )
        at = self.world_T_object[None, :3, 3]
        (self.motion,) = newborn(at, noise[None], traits).packed()
        self.rotation_variance = turn_noise
        self.velocity = np.zeros(3)
        self.covariance = _pose_covariance(noise, turn_noise)


def _unlearned(variance: float, first: Detection) -> Array:
    at = first.world_T_object[None, :3, 3]
    (row,) = unlearned(np.array([variance]), np.array([first.stamp]), at).packed()
    return np.asarray(row)


def _pose_covariance(noise: Array, turn_noise: float) -> Array:
    covariance = turn_noise * np.eye(6)
    covariance[:3, :3] = noise
    return frozen(covariance)
