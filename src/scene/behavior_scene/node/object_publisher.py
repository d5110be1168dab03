# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that shows its objects: `/scene/objects` and their frames on TF."""

from __future__ import annotations

from behavior_msgs.msg import SceneObjectArray
from geometry_msgs.msg import TransformStamped

from behavior_motion.object_state import ObjectState
from behavior_ros import QOS_LATCHED, create_transform_broadcaster, to_time
from behavior_ros.messages.conversions import fill_transform
from behavior_scene.node.host import SceneHost
from behavior_scene.node.object_wire import write_snapshot
from behavior_scene.objects.snapshot import Snapshot


class ObjectPublisher:
    """Publishes every snapshot as a message and as frames, both with the snapshot's stamp.

    The frames of the last snapshot are filled again: making them takes longer than that.
    """

    def __init__(self, host: SceneHost) -> None:
        self._frame = host.frame
        self._objects = host.node.create_publisher(SceneObjectArray, "scene/objects", QOS_LATCHED)
        self._broadcaster = create_transform_broadcaster(host.node)
        self._frames: dict[str, TransformStamped] = {}
        """By the object's name."""
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        self._objects.publish(write_snapshot(snapshot, self._frame))
        stamp = to_time(snapshot.stamp)
        former, self._frames = self._frames, {}
        for obj in snapshot.objects.values():
            if obj.state is not ObjectState.LOST:
                frame = self._frames[obj.name] = former.get(obj.name) or TransformStamped()
                frame.header.stamp, frame.header.frame_id = stamp, self._frame
                frame.child_frame_id = obj.name
                fill_transform(frame.transform, obj.world_T_object)
        self._broadcaster.send(list(self._frames.values()))
