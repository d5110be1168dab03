# SPDX-License-Identifier: Apache-2.0
"""The tracking rule of the IHMC behaviour scene, written from its description to compare with.

Per batch, in the order of arrival: the nearest track of the class that has no detection of the
batch yet, by the latest raw positions, if nearer than 0.5 m; else a new track. The pose goes half
of the way to each detection, whatever the time between. Samples older than 2 s are dropped except
the newest; a track is stable while it has more than 1 sample per second with a mean confidence
above 0.25; at 2 s it becomes valid if stable and is deleted if not; an old one with less than two
samples is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from behavior_scene import Detection

Array = NDArray[np.float64]

ALPHA, ACCEPTANCE, STABILITY, DURATION, GATE = 0.5, 0.25, 1.0, 2.0, 0.5


@dataclass(eq=False)
class GreedyTrack:
    """One persistent detection."""

    name: str
    class_id: str
    position: Array
    raw: Array
    first: float
    history: list[tuple[float, float]] = field(default_factory=list)
    """Stamps and confidences."""
    valid: bool = False

    @property
    def newest(self) -> float:
        """Stamp of the newest sample [s]."""
        return self.history[-1][0]

    def stable(self, now: float) -> bool:
        """The rule of the frequency and the mean confidence."""
        span = now - self.history[0][0]
        often = span <= 0.0 or len(self.history) / span > STABILITY
        return often and float(np.mean([sure for _, sure in self.history])) > ACCEPTANCE


class GreedyTracker:
    """All persistent detections."""

    def __init__(self) -> None:
        self.tracks: list[GreedyTrack] = []
        self._created = 0

    def update(self, detections: Sequence[Detection], now: float) -> None:
        """Take in a batch in its order."""
        matched: set[int] = set()
        for detection in detections:
            position = detection.world_T_object[:3, 3]
            near = [
                (float(np.linalg.norm(track.raw - position)), index)
                for index, track in enumerate(self.tracks)
                if track.class_id == detection.class_id and index not in matched
            ]
            distance, index = min(near, default=(np.inf, -1))
            if distance < GATE:
                track = self.tracks[index]
                track.position = track.position + ALPHA * (position - track.position)
                track.raw = position
            else:
                track = GreedyTrack(
                    f"{self._created}", detection.class_id, position, position, detection.stamp
                )
                self._created += 1
                index = len(self.tracks)
                self.tracks.append(track)
            matched.add(index)
            track.history.append((detection.stamp, detection.confidence))
        self.tracks = [track for track in self.tracks if self._kept(track, now)]

    @staticmethod
    def _kept(track: GreedyTrack, now: float) -> bool:
        newest = track.history[-1]
        track.history = [s for s in track.history if s[0] >= now - DURATION] or [newest]
        if now - track.first <= DURATION:
            return True
        if not track.valid:
            track.valid = track.stable(now)
        return track.valid and not (len(track.history) < 2 and now - newest[0] > DURATION)
