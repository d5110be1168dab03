# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that shows its objects: `/scene/objects` and their frames on TF."""

from __future__ import annotations

from behavior_msgs.msg import SceneObjectArray

from behavior_motion.object_state import ObjectState
from behavior_ros import QOS_LATCHED, create_transform_broadcaster, to_time
from behavior_ros.messages.conversions import to_nanoseconds
from behavior_ros.messages.rotations import pose_numbers
from behavior_scene.node.host import SceneHost
from behavior_scene.node.object_wire import write_snapshot
from behavior_scene.objects.snapshot import Snapshot


class ObjectPublisher:
    """Publishes every snapshot as a message and as frames, both with the snapshot's stamp."""

    def __init__(self, host: SceneHost) -> None:
        self._frame = host.frame
        self._objects = host.node.create_publisher(SceneObjectArray, "scene/objects", QOS_LATCHED)
        self._broadcaster = create_transform_broadcaster(host.node)
        host.on_snapshot(self._publish)

    def _publish(self, snapshot: Snapshot) -> None:
        self._objects.publish(write_snapshot(snapshot, self._frame))
        shown = [o for o in snapshot.objects.values() if o.state is not ObjectState.LOST]
        poses = [pose_numbers(o.world_T_object) for o in shown]
        frames = [(self._frame, o.name) for o in shown]
        self._broadcaster.send_poses(to_nanoseconds(to_time(snapshot.stamp)), frames, poses)
