# SPDX-License-Identifier: Apache-2.0
"""`CloudFeed`: point clouds of cameras, thinned out, while a page shows them.

Clouds are large and come often. So nothing is heard while nobody looks; of what is heard only the
newest message of each topic is read, at most every `PERIOD`, and at most `MOST_POINTS` of its
points go to pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import PointCloud2

from behavior_console.channels import Channels
from behavior_scene.clouds.cloud import Cloud, MalformedCloudError
from behavior_scene.clouds.messages import cloud_from

MOST_POINTS = 8_000
"""Of one cloud; 15 bytes each."""
MOST_TOPICS = 4
MOST_BYTES = 32 * 1024 * 1024
"""Of one message; larger ones are not read."""
PERIOD = 0.5
"""[s] wall time."""
_TYPE = "sensor_msgs/msg/PointCloud2"


class CloudFeed:
    """Fills the channel ``clouds`` while it is wanted.

    Args:
        node: hears the clouds of its namespace.
        channels: are filled.
        wanted: whether anybody shows clouds now.
    """

    def __init__(self, node: Node, channels: Channels, wanted: Callable[[], bool]) -> None:
        self._node, self._channels, self._wanted = node, channels, wanted
        self._heard: dict[str, Any] = {}
        self._newest: dict[str, bytes] = {}
        node.create_timer(PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _look(self) -> None:
        topics = self._topics() if self._wanted() else []
        for topic in set(self._heard) - set(topics):
            self._node.destroy_subscription(self._heard.pop(topic))
            self._newest.pop(topic, None)
            self._channels.patch("clouds", {topic: None})
        for topic in topics:
            if topic not in self._heard:
                self._heard[topic] = self._node.create_subscription(
                    *(PointCloud2, topic, partial(self._keep, topic), qos_profile_sensor_data),
                    raw=True,
                )
        newest, self._newest = self._newest, {}
        for topic, data in newest.items():
            self._channels.patch("clouds", {topic: _row_of(data)})

    def _topics(self) -> list[str]:
        """Those of this robot; at most so many, by name."""
        own = self._node.get_namespace().rstrip("/") + "/"
        there = self._node.get_topic_names_and_types()
        found = [name for name, types in there if _TYPE in types and name.startswith(own)]
        return sorted(found)[:MOST_TOPICS]

    def _keep(self, topic: str, data: bytes) -> None:
        self._newest[topic] = data


def _row_of(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        return _nothing(f"a cloud of {len(data) >> 20} MB is not shown: thin it out")
    try:
        return cloud_row(cloud_from(deserialize_message(data, PointCloud2)))
    except (MalformedCloudError, RuntimeError, ValueError) as error:
        return _nothing(str(error))


def cloud_row(cloud: Cloud) -> dict[str, Any]:
    """At most `MOST_POINTS` of a cloud's finite points, evenly chosen, as pages draw them."""
    flat = [np.ravel(axis) for axis in (cloud.x, cloud.y, cloud.z)]
    finite = np.flatnonzero(np.isfinite(flat[0]) & np.isfinite(flat[1]) & np.isfinite(flat[2]))
    step = max(1, -(-finite.size // MOST_POINTS))
    chosen = finite[::step]
    points = np.stack([axis[chosen] for axis in flat], axis=1)
    return {
        "frame": cloud.frame,
        "t": cloud.stamp,
        # Of points that the cloud has, those that are not finite left out.
        "count": int(finite.size),
        "points": points.astype("<f4").tobytes(),
        "colors": b"" if cloud.rgb is None else _colors(np.ravel(cloud.rgb)[chosen]),
        "text": "",
    }


def _colors(packed: Any) -> bytes:
    """Three bytes a point, of 0x..RRGGBB."""
    parts = [(packed >> shift) & 0xFF for shift in (16, 8, 0)]
    return bytes(np.stack(parts, axis=1).astype(np.uint8).tobytes())


def _nothing(text: str) -> dict[str, Any]:
    return {"frame": "", "t": 0.0, "count": 0, "points": b"", "colors": b"", "text": text}
