# SPDX-License-Identifier: Apache-2.0
"""Quality of service by what a topic is for, one profile each."""

from __future__ import annotations

from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)


def _keep_last(depth: int, reliability: object, durability: object) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


#: State that late subscribers must see: structure, scene objects, maps, modes.
QOS_LATCHED = _keep_last(1, ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)

#: Events of which none may be missed: status changes.
QOS_EVENT_LOG = _keep_last(100, ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)

#: Events of which none may be missed by those either who come late.
QOS_KEPT_EVENTS = _keep_last(100, ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)

#: Streams of which only the newest counts: detections, joint states, clouds.
QOS_SENSOR = qos_profile_sensor_data

#: Commands of which the newest counts.
QOS_COMMAND = _keep_last(10, ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)

#: Requests and their answers, of which none may be lost though hundreds of clients send at once:
#: services, mission actions on a topic, mission feedback.
QOS_REQUESTS = _keep_last(2_000, ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)

#: Dynamic transforms, compatible with tf2_ros.
QOS_TRANSFORMS = _keep_last(100, ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)

#: Static transforms, compatible with tf2_ros.
QOS_STATIC_TRANSFORMS = _keep_last(
    100, ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL
)
