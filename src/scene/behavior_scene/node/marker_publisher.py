# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that draws it on `/scene/markers`, if somebody looks."""

from __future__ import annotations

from collections.abc import Iterator

from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

from behavior_ros import QOS_LATCHED, to_time
from behavior_scene.node.host import SceneHost
from behavior_scene.node.markers import (
    Drawn,
    MarkerLedger,
    object_markers,
    shape_markers,
    track_markers,
)
from behavior_scene.objects.snapshot import Snapshot

PERIOD = 0.09
"""[s] node time between two arrays, at least: eyes need no more."""


class MarkerPublisher:
    """Publishes markers of objects, tracks, and shapes that were asked about."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        self._ledger = MarkerLedger()
        self._drawn_at = float("-inf")
        self._markers = host.node.create_publisher(MarkerArray, "scene/markers", QOS_LATCHED)
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        if self._markers.get_subscription_count() == 0:
            return
        if 0.0 <= snapshot.stamp - self._drawn_at < PERIOD:
            return
        self._drawn_at = snapshot.stamp
        header = Header(stamp=to_time(snapshot.stamp), frame_id=self._host.frame)
        self._markers.publish(self._ledger.array(self._drawn(snapshot), header))

    def _drawn(self, snapshot: Snapshot) -> Iterator[Drawn]:
        for obj in snapshot.objects.values():
            yield from object_markers(obj)
        for track in self._host.scene.tracker.tracks.values():
            yield from track_markers(track)
        for shown in self._host.shown_shapes.at(snapshot.stamp):
            yield from shape_markers(shown)
