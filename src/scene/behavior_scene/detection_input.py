# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that takes in detections from the topics of all detectors."""

from __future__ import annotations

from functools import partial

from vision_msgs.msg import Detection3DArray

from behavior_ros import QOS_SENSOR, ParameterSpec, declare_all, seconds
from behavior_scene import conversion
from behavior_scene.host import SceneHost

PARAMETERS = [
    ParameterSpec(
        "detection_topics",
        ["/detections"],
        "topics of vision_msgs/Detection3DArray, one for each detector: each keeps its own order",
        read_only=True,
    )
]


class DetectionInput:
    """Hands every message on the topics to the scene."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        for topic in declare_all(host.node, PARAMETERS)["detection_topics"]:
            host.node.create_subscription(
                Detection3DArray, topic, partial(self._on_detections, topic), QOS_SENSOR
            )

    def _on_detections(self, topic: str, message: Detection3DArray) -> None:
        scene = self._host.scene
        used = scene.update(
            conversion.detections_from(
                message,
                self._host.detector_pose,
                detector=topic,
                limit=scene.parameters.maximum_detections,
            ),
            seconds(message.header.stamp),
            self._host.now(),
            topic,
        )
        if used:
            self._host.publish_soon()
