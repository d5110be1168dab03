# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that shows its tracks: `/scene/tracks`, if somebody looks."""

from __future__ import annotations

from behavior_msgs.msg import SceneTrackArray

from behavior_ros import QOS_LATCHED
from behavior_scene.node import conversion
from behavior_scene.node.host import SceneHost
from behavior_scene.objects.snapshot import Snapshot


class TrackPublisher:
    """Publishes all tracks with every snapshot."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        self._tracks = host.node.create_publisher(SceneTrackArray, "scene/tracks", QOS_LATCHED)
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        if self._tracks.get_subscription_count() > 0:
            tracker = self._host.scene.tracker
            self._tracks.publish(
                conversion.tracks_message(tracker, snapshot.stamp, self._host.frame)
            )
