# SPDX-License-Identifier: Apache-2.0
"""How tracks are filtered, and when they are believed and forgotten."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from behavior_ros.messages.sent_text import shown
from behavior_tree.shown_text import named

_SHORTEST_TIME_CONSTANT = 1e-3


class TrackerParameterError(ValueError):
    """Parameters of the tracker are wrong; the message names each and says what may be."""


@dataclass(frozen=True, slots=True)
class TrackerParameters:
    """Rules of the tracker; a track keeps those that were in force when it began.

    Classes of the object library may set `acceptance_confidence` and the filter's time constant
    for themselves.

    Raises:
        TrackerParameterError: a value is out of its range.
    """

    pose_filter_alpha: float = 0.5
    """Part of the way that the pose of a resting thing goes towards a detection, at
    `nominal_rate`; 1: no filter. At other rates the filter has the same `time_constant`."""
    nominal_rate: float = 10.0
    """[Hz] the rate that `pose_filter_alpha` is meant for."""
    acceptance_confidence: float = 0.25
    """A detection surer than this may start a track; a track whose mean is above may be stable."""
    minimum_confidence: float = 0.02
    """Detections between this and `acceptance_confidence` may continue a track that was stable;
    those below are not looked at."""
    stability_frequency: float = 1.0
    """[Hz] a stable track has more detections per second than this."""
    stability_evidence: float = 6.0
    """For a stable track, the logarithm of how much likelier its detections are of one thing than
    false ones: false detections seldom come back to where a thing should be. 0 or less: all."""
    history_duration: float = 2.0
    """[s] how long detections count; a track that is not stable at this age is forgotten."""
    minimum_history: int = 3
    """A stable track has at least this many detections in its history."""
    coasting_duration: float = 5.0
    """[s] a track that was stable is kept this long without detections: it may be hidden."""
    maximum_tracks: int = 1000
    """No new tracks are started beyond."""

    def __post_init__(self) -> None:
        """Check all values."""
        problems = [
            f"{name} is {shown(getattr(self, name))}: give {wanted}"
            for name, (allowed, wanted) in _RANGES.items()
            if not _is_number(getattr(self, name)) or not allowed(getattr(self, name))
        ]
        if problems:
            raise TrackerParameterError("; ".join(problems))

    @property
    def time_constant(self) -> float:
        """[s] of the filter: `pose_filter_alpha` without the rate."""
        if self.pose_filter_alpha >= 1.0:
            return _SHORTEST_TIME_CONSTANT
        tau = -1.0 / (self.nominal_rate * math.log1p(-self.pose_filter_alpha))
        return max(tau, _SHORTEST_TIME_CONSTANT)

    def changed(self, changes: Mapping[str, Any]) -> TrackerParameters:
        """These parameters with some values replaced.

        Raises:
            TrackerParameterError: a name is unknown or a value out of its range.
        """
        known = [field.name for field in fields(self)]
        unknown = sorted(str(name) for name in changes if name not in known)
        if unknown:
            raise TrackerParameterError(f"unknown parameters {named(unknown)}; choose from {known}")
        values = dict(changes)
        for name in ("minimum_history", "maximum_tracks"):
            value = values.get(name)
            if isinstance(value, float) and value.is_integer():
                values[name] = int(value)
        return replace(self, **values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "pose_filter_alpha": (lambda v: 0.0 < v <= 1.0, "a number above 0, at most 1"),
    "nominal_rate": (lambda v: v > 0.0, "a positive rate [Hz]"),
    "acceptance_confidence": (lambda v: 0.0 <= v < 1.0, "a number from 0, below 1"),
    "minimum_confidence": (lambda v: 0.0 <= v < 1.0, "a number from 0, below 1"),
    "stability_frequency": (lambda v: v >= 0.0, "a rate of at least 0 [Hz]"),
    "stability_evidence": (lambda v: True, "a number"),
    "history_duration": (lambda v: v > 0.0, "a positive time [s]"),
    "minimum_history": (lambda v: v >= 1 and isinstance(v, int), "a whole number from 1"),
    "coasting_duration": (lambda v: v >= 0.0, "a time of at least 0 [s]"),
    "maximum_tracks": (lambda v: v >= 1 and isinstance(v, int), "a whole number from 1"),
}
