# SPDX-License-Identifier: Apache-2.0
"""The latest sightings of a track: how many, how often and how sure."""

from __future__ import annotations

import bisect
import math

_UNITS = 2**53
"""A confidence of 1."""


class History:
    """Stamps and confidences of the detections of the last seconds, in the order of the stamps."""

    def __init__(self) -> None:
        self._sightings: list[tuple[float, float]] = []
        self._total = 0
        """Sum of the confidences as whole numbers, in which no rounding adds up."""

    def __len__(self) -> int:
        return len(self._sightings)

    def add(self, stamp: float, confidence: float) -> None:
        """Note a detection; one that arrives late is put where its stamp belongs."""
        sighting = (stamp, confidence)
        self._total += _units(confidence)
        if not self._sightings or sighting >= self._sightings[-1]:
            self._sightings.append(sighting)
        else:
            bisect.insort(self._sightings, sighting)

    def age(self, oldest: float) -> None:
        """Forget what was seen before `oldest` [s], except the newest."""
        if self._sightings and self._sightings[0][0] < oldest:
            keep = bisect.bisect_left(self._sightings, (oldest, -math.inf))
            keep = min(keep, len(self._sightings) - 1)
            self._total -= sum(_units(sure) for _, sure in self._sightings[:keep])
            del self._sightings[:keep]

    def shift(self, by: float) -> None:
        """Count every stamp `by` [s] later."""
        self._sightings = [(stamp + by, sure) for stamp, sure in self._sightings]

    def clear(self) -> None:
        """Forget everything."""
        self._sightings.clear()
        self._total = 0

    def frequency(self, now: float) -> float:
        """[Hz] number of detections over the time since the oldest of them; 0: none."""
        if not self._sightings:
            return 0.0
        span = now - self._sightings[0][0]
        return len(self._sightings) / span if span > 0.0 else math.inf

    @property
    def mean_confidence(self) -> float:
        """0..1; 0: none."""
        if not self._sightings:
            return 0.0
        return self._total / (_UNITS * len(self._sightings))


def _units(confidence: float) -> int:
    return round(_UNITS * confidence)
