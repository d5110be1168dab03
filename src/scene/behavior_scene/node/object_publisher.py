# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that shows its objects: `/scene/objects` and their frames on TF."""

from __future__ import annotations

from behavior_msgs.msg import SceneObjectArray

from behavior_ros import QOS_LATCHED, create_transform_broadcaster
from behavior_scene.node import conversion
from behavior_scene.node.host import SceneHost
from behavior_scene.objects.snapshot import Snapshot


class ObjectPublisher:
    """Publishes every snapshot as a message and as frames, both with the snapshot's stamp."""

    def __init__(self, host: SceneHost) -> None:
        self._frame = host.frame
        self._objects = host.node.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self._broadcaster = create_transform_broadcaster(host.node)
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        self._objects.publish(conversion.snapshot_message(snapshot, self._frame))
        self._broadcaster.send(conversion.object_transforms(snapshot, self._frame))
