# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that takes in detections from the topics of all detectors."""

from __future__ import annotations

from collections import deque
from functools import partial

from vision_msgs.msg import Detection3DArray

from behavior_ros import QOS_SENSOR, declare_all, read_only
from behavior_ros.node.resting_timer import RestingTimer
from behavior_scene.detections import Defect
from behavior_scene.node import conversion
from behavior_scene.node.detection_wire import WireDetections, read_detections
from behavior_scene.node.host import SceneHost

MOST_BYTES = 2**20
"""[bytes] of one message: four times what the most detections that are looked at take."""
PARAMETERS = [
    read_only(
        "detection_topics",
        ["detections"],
        "topics of vision_msgs/Detection3DArray, one for each detector: each keeps its own order",
    )
]


PATIENCE = 1.0
"""[s] of the node's clock for which images wait until links that hold objects are known at their
time: what a hand carries fast would not be known again."""
LOOK_PERIOD = 0.02
"""[s] between two looks whether they are."""


class DetectionInput:
    """Hands every message on the topics to the scene."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        self._waiting: deque[tuple[float, str, WireDetections]] = deque()
        """Until when each waits [s], its topic, the image."""
        self._look = RestingTimer(host.node, LOOK_PERIOD, self._take_waiting)
        for topic in declare_all(host.node, PARAMETERS)["detection_topics"]:
            take = partial(self._on_detections, host.node.resolve_topic_name(topic))
            host.node.create_subscription(Detection3DArray, topic, take, QOS_SENSOR, raw=True)

    @property
    def waiting(self) -> int:
        """Number of images that wait for where links are."""
        return len(self._waiting)

    def _on_detections(self, topic: str, data: bytes) -> None:
        scene = self._host.scene
        if len(data) > MOST_BYTES:
            text = f"{len(data)} bytes on {topic}: at most {MOST_BYTES} are read"
            scene.intake.count(Defect.TOO_MANY, text)
            return
        try:
            image = read_detections(data)
        except ValueError:
            scene.intake.count(Defect.NO_CLASS, f"a message on {topic} that cannot be read")
            return
        self._waiting.append((self._host.now() + PATIENCE, topic, image))
        self._take_waiting()

    def _take_waiting(self) -> None:
        """Hand the images to the scene that need not wait any more, in their order."""
        waiting, scene = self._waiting, self._host.scene
        while waiting:
            deadline, topic, image = waiting[0]
            known = scene.knows_links_at(image.stamp / 1e9)
            # Much more time left than patience: the clock was set back since.
            if not known and 0.0 < deadline - self._host.now() < 2.0 * PATIENCE:
                break
            if not known:
                self._host.node.get_logger().warning(
                    f"transforms of what holds objects are more than {PATIENCE} s late: what is "
                    "carried may be taken for something new; see whether the machine is too busy",
                    throttle_duration_sec=5.0,
                )
            waiting.popleft()
            self._take(topic, image)
        if not waiting:
            self._look.rest()
        elif self._look.resting:
            self._look.start()

    def _take(self, topic: str, image: WireDetections) -> None:
        scene = self._host.scene
        used = scene.update(
            conversion.detections_from(
                image,
                self._host.detector_pose,
                detector=topic,
                limit=scene.parameters.maximum_detections,
            ),
            image.stamp / 1e9,
            self._host.now(),
            topic,
        )
        if used:
            self._host.publish_soon()
