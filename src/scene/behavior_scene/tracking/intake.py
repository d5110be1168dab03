# SPDX-License-Identifier: Apache-2.0
"""The door of the scene: which detections are let in, and a count of the others with the reason.

Several detectors report to one scene, each in its own rhythm and with its own delay. Each must
stamp its images in order; between detectors there is no order. Whatever arrives, the work is
bounded, nothing raises, and everything refused is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from behavior_scene.detections import Defect, Detection
from behavior_scene.library import ObjectLibrary

MAXIMUM_DETECTORS = 100
"""The order of the stamps is remembered for so many detectors, the latest heard of."""


@dataclass(frozen=True, slots=True)
class IntakeParameters:
    """What is let in."""

    maximum_age: float = 2.0
    """[s] older detections are not used."""
    future_tolerance: float = 0.25
    """[s] detections may be stamped this much ahead of the clock."""
    maximum_detections: int = 500
    """Of more in one image the most confident are used."""


class Intake:
    """Checks what does not depend on the tracks: stamps, order, number and class."""

    def __init__(self, library: ObjectLibrary, parameters: IntakeParameters) -> None:
        self.defects: Counter[Defect] = Counter()
        """How many detections could not be used, and why."""
        self.examples: dict[Defect, str] = {}
        """The newest case of each defect: detector, class, stamp."""
        self.accepted = 0
        """Number of detections let in."""
        self._library = library
        self._parameters = parameters
        self._newest: dict[str, float] = {}

    def admit(
        self, detections: Iterable[Detection | Defect], *, detector: str, stamp: float, now: float
    ) -> list[Detection] | None:
        """Choose those of one image that can be used.

        Args:
            detections: of the image, defects of entries among them.
            detector: who sent it; stamps must grow within one detector.
            stamp: time of the image [s].
            now: current time [s].

        Returns:
            What can be used, or None when the stamp of the image is refused.
        """
        group = list(detections)
        who = f"detector {detector!r}" if detector else "the detector"
        refused = self._stamp_defect(detector, stamp, now)
        if refused is not None:
            self.count(refused, f"image of {who} stamped {stamp:.3f} at {now:.3f}", len(group) or 1)
            return None
        self._remember(detector, stamp)
        usable: list[Detection] = []
        for entry in group:
            defect = entry if isinstance(entry, Defect) else self._defect(entry, now)
            if defect is None and isinstance(entry, Detection):
                usable.append(entry)
            elif defect is not None:
                what = "" if isinstance(entry, Defect) else f" of class {entry.class_id[:60]!r}"
                self.count(defect, f"detection{what} by {who}, image of {stamp:.3f}")
        usable = self._most_confident(usable, who)
        self.accepted += len(usable)
        return usable

    def count(self, defect: Defect, example: str, number: int = 1) -> None:
        """Note that `number` detections could not be used."""
        self.defects[defect] += number
        self.examples[defect] = example

    def _stamp_defect(self, detector: str, stamp: float, now: float) -> Defect | None:
        if not math.isfinite(stamp):
            return Defect.NOT_FINITE
        if stamp > now + self._parameters.future_tolerance:
            return Defect.FROM_THE_FUTURE
        newest = self._newest.get(detector, -math.inf)
        if newest > now + self._parameters.future_tolerance:
            newest = -math.inf  # the clock was set back: a simulation that starts anew
        if stamp < now - self._parameters.maximum_age or stamp < newest:
            return Defect.FROM_THE_PAST
        return None

    def _remember(self, detector: str, stamp: float) -> None:
        self._newest.pop(detector, None)
        self._newest[detector] = stamp
        if len(self._newest) > MAXIMUM_DETECTORS:
            del self._newest[next(iter(self._newest))]

    def _most_confident(self, usable: list[Detection], who: str) -> list[Detection]:
        surplus = len(usable) - self._parameters.maximum_detections
        if surplus <= 0:
            return usable
        self.count(Defect.TOO_MANY, f"{len(usable)} in one image by {who}", surplus)
        best = sorted(range(len(usable)), key=lambda i: (-usable[i].confidence, i))
        return [usable[i] for i in sorted(best[: self._parameters.maximum_detections])]

    def _defect(self, detection: Detection, now: float) -> Defect | None:
        if self._library.get(detection.class_id) is None:
            return Defect.UNKNOWN_CLASS
        if detection.stamp > now + self._parameters.future_tolerance:
            return Defect.FROM_THE_FUTURE
        if detection.stamp < now - self._parameters.maximum_age:
            return Defect.FROM_THE_PAST
        return None
