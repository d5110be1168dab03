# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that shows its objects: `/scene/objects` and their frames on TF."""

from __future__ import annotations

from behavior_msgs.msg import SceneObject, SceneObjectArray
from geometry_msgs.msg import TransformStamped

from behavior_motion.object_state import ObjectState
from behavior_ros import QOS_LATCHED, create_transform_broadcaster, to_time
from behavior_ros.messages.conversions import fill_transform
from behavior_scene.node.conversion import fill_object
from behavior_scene.node.host import SceneHost
from behavior_scene.objects.snapshot import Snapshot


class ObjectPublisher:
    """Publishes every snapshot as a message and as frames, both with the snapshot's stamp.

    The messages of the last snapshot are filled again: making them takes longer than that.
    """

    def __init__(self, host: SceneHost) -> None:
        self._frame = host.frame
        self._objects = host.node.create_publisher(SceneObjectArray, "scene/objects", QOS_LATCHED)
        self._broadcaster = create_transform_broadcaster(host.node)
        self._messages: dict[str, tuple[SceneObject, TransformStamped]] = {}
        """Object and frame by name."""
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        stamp = to_time(snapshot.stamp)
        things, former = snapshot.objects, self._messages
        self._messages = {
            name: former.get(name) or (SceneObject(), TransformStamped()) for name in things
        }
        frames = []
        for obj, (message, frame) in zip(things.values(), self._messages.values(), strict=True):
            fill_object(message, obj)
            if obj.state is not ObjectState.LOST:
                frame.header.stamp, frame.header.frame_id = stamp, self._frame
                frame.child_frame_id = obj.name
                fill_transform(frame.transform, obj.world_T_object)
                frames.append(frame)
        array = SceneObjectArray(
            revision=snapshot.revision, objects=[message for message, _ in self._messages.values()]
        )
        array.header.stamp, array.header.frame_id = stamp, self._frame
        self._objects.publish(array)
        self._broadcaster.send(frames)
