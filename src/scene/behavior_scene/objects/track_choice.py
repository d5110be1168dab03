# SPDX-License-Identifier: Apache-2.0
"""Which track each detected object of a scene follows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from behavior_scene.clouds.color import Hsv, mean_color
from behavior_scene.derived import NotDerivableError
from behavior_scene.library import Color
from behavior_scene.objects.expression import ExpressionError
from behavior_scene.objects.records import ObjectRecord
from behavior_scene.objects.scene_lookup import SceneLookup
from behavior_scene.objects.selection import DetectedObject
from behavior_scene.tracking.tracker import Tracker
from behavior_scene.tracking.tracks import Track


class TrackChoice:
    """Two set-up objects never follow one track."""

    def __init__(
        self,
        records: Mapping[str, ObjectRecord],
        tracker: Tracker,
        lookup: SceneLookup,
        color_of: Callable[[Track], Hsv | None],
        stale_after: float,
    ) -> None:
        """See `Scene`; tracks not seen for `stale_after` [s] are not chosen."""
        self._records, self._tracker, self._lookup = records, tracker, lookup
        self._color_of, self._stale_after = color_of, stale_after

    def followed(self) -> set[str]:
        """Names of the tracks that objects follow."""
        return {r.track.name for r in self._records.values() if r.track is not None}

    def follow(self, now: float) -> None:
        """Have every detected object take over its track, or look for another if that is gone."""
        for record in list(self._records.values()):
            track = record.track
            if track is not None and self._tracker.tracks.get(track.name) is track:
                record.follow(track)
            elif record.derived is None:
                record.lose_track()
                found = self._search(record, now)
                if found is not None:
                    record.follow(found)

    def choose(
        self,
        definition: DetectedObject,
        name: str,
        now: float,
        minimum_history: int,
        kept: Collection[str] = (),
    ) -> Track | str:
        """Track for an object.

        Args:
            definition: of the object.
            name: of the object; a track that it follows already is free for it.
            now: [s].
            minimum_history: detections that the track must have, if the definition does not say.
            kept: names of tracks that it must not take from others.

        Returns:
            The track, or why there is none.
        """
        taken = {
            record.track.name
            for record in self._records.values()
            if record.track is not None and record.definition is not None and record.name != name
        }
        history = max(definition.minimum_history or minimum_history, 1)
        taken.update(kept)
        known = [t for t in self._lookup.tracks([definition.class_id]) if t.name not in taken]
        fresh = {
            track.name: track
            for track in known
            if len(track.history) >= history and now - track.newest.stamp <= self._stale_after
        }
        try:
            found = definition.choose(fresh, self._lookup.pose, self._looks, now)
        except (NotDerivableError, ExpressionError) as error:
            return str(error)
        if found is not None:
            return found
        if not known:
            return f"no free track of class '{definition.class_id}'"
        return (
            f"none of {len(known)} tracks of class '{definition.class_id}' will do: "
            f"{len(fresh)} have been seen {history} times and within the last "
            f"{self._stale_after:g} s; see `where`, `color` and `region`"
        )

    def _search(self, record: ObjectRecord, now: float) -> Track | None:
        """Another track for an object whose own is gone, or that was restored."""
        if record.is_kept:
            return None
        if isinstance(record.definition, DetectedObject):
            # What is held, or frozen, is not to vanish because another object has lost its track.
            kept = [r.track.name for r in self._records.values() if r.track and r.is_kept]
            found = self.choose(record.definition, record.name, now, 1, kept)
            return found if isinstance(found, Track) else None
        track = self._tracker.tracks.get(record.followed)
        return None if track is None or track.name in self.followed() else track

    def _looks(self, track: Track, measured: bool) -> tuple[Hsv | None, int]:
        """Colour and number of detections of a track."""
        hsv = self._color_of(track) if measured else _hsv(track.object_class.color)
        return hsv, len(track.history)


def _hsv(color: Color) -> Hsv | None:
    """Colour of red, green, blue [0..1]."""
    red, green, blue = (round(255 * part) for part in color[:3])
    return mean_color(np.array([(red << 16) | (green << 8) | blue], dtype=np.uint32))
