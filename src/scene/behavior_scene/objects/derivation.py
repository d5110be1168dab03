# SPDX-License-Identifier: Apache-2.0
"""Computes the derived objects of a scene, and keeps those that cannot be computed now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from behavior_scene.derived import DerivedObject, NotDerivableError
from behavior_scene.detections import Array
from behavior_scene.objects.records import ObjectRecord
from behavior_scene.objects.scene_lookup import PointsProvider, SceneLookup


class Derivation:
    """Objects that are found in points are computed once for each cloud."""

    def __init__(
        self,
        records: Mapping[str, ObjectRecord],
        lookup: SceneLookup,
        cloud: PointsProvider,
        points_period: float,
    ) -> None:
        """See `Scene`; points are taken at most every `points_period` [s], for that costs time."""
        self.points: tuple[Array, float] | None = None
        """Newest points and their stamp."""
        self._records, self._lookup = records, lookup
        self._cloud, self._points_period = cloud, points_period
        self._points_taken = -np.inf

    def make(self, name: str, definition: DerivedObject, now: float) -> ObjectRecord | str:
        """A new object, or why it cannot be computed."""
        if definition.uses_points:
            self._take_points(now)
        try:
            derived = definition.compute(self._lookup)
        except NotDerivableError as error:
            return str(error)
        record = ObjectRecord(name, definition, derived.world_T_object)
        record.take(derived, definition.sources())
        record.last_seen = now
        record.cloud_stamp = self.points[1] if self.points else 0.0
        return record

    def refresh(self, order: Iterable[str], now: float) -> None:
        """Compute all anew; those that cannot be keep their pose, stale.

        Args:
            order: names of objects, each after those that it is computed from.
            now: [s].
        """
        for name in order:
            record = self._records[name]
            derived = record.derived
            if derived is None or record.frozen_pose is not None:
                continue
            if derived.uses_points:
                self._take_points(now)
                stamp = self.points[1] if self.points else np.inf
                if stamp == record.cloud_stamp:
                    continue
                record.cloud_stamp = stamp
            try:
                record.take(derived.compute(self._lookup), derived.sources())
            except NotDerivableError as error:
                record.failed, record.text = True, str(error)

    def _take_points(self, now: float) -> None:
        if not 0.0 <= now - self._points_taken < self._points_period:
            self.points, self._points_taken = self._cloud(), now
