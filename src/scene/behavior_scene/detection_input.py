# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that takes in detections from `/detections`."""

from __future__ import annotations

from vision_msgs.msg import Detection3DArray

from behavior_ros import QOS_SENSOR, seconds
from behavior_scene import conversion
from behavior_scene.host import SceneHost


class DetectionInput:
    """Hands every message on `/detections` to the scene."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        host.node.create_subscription(
            Detection3DArray, "/detections", self._on_detections, QOS_SENSOR
        )

    def _on_detections(self, message: Detection3DArray) -> None:
        scene = self._host.scene
        limit = scene.parameters.maximum_detections
        if len(message.detections) > 2 * limit:
            # What is converted here costs time; twice the limit still shows on the counter.
            message.detections = message.detections[: 2 * limit]
        used = scene.update(
            conversion.detections_from(message, self._host.detector_pose),
            seconds(message.header.stamp),
            self._host.now(),
        )
        if used:
            self._host.publish_soon()
