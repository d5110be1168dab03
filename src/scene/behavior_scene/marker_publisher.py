# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that draws its objects on `/scene/markers`, if somebody looks."""

from __future__ import annotations

from visualization_msgs.msg import MarkerArray

from behavior_ros import QOS_LATCHED
from behavior_scene import conversion
from behavior_scene.host import SceneHost
from behavior_scene.objects import Snapshot


class MarkerPublisher:
    """Publishes markers of every snapshot."""

    def __init__(self, host: SceneHost) -> None:
        self._frame = host.frame
        self._markers = host.node.create_publisher(MarkerArray, "/scene/markers", QOS_LATCHED)
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(conversion.marker_array(snapshot, self._frame))
