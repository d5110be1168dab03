# SPDX-License-Identifier: Apache-2.0
"""Transforms through the distribution's ``tf2_ros``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tf2_ros
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.time import Time

from behavior_ros.messages.conversions import (
    to_nanoseconds,
    transform_messages,
    transform_to_matrix,
)
from behavior_ros.messages.rotations import Matrix
from behavior_ros.transforms.transform_tree import TransformError
from behavior_ros.transforms.transform_wire import Frames


class Tf2TransformBuffer:
    """A ``tf2_ros.Buffer`` with its listener on the given node."""

    def __init__(self, node: Node, *, topic: str = "/tf") -> None:
        self._buffer = tf2_ros.Buffer()
        # Only newer distributions can be told the topics.
        topics = {"tf_topic": topic, "tf_static_topic": f"{topic}_static"}
        self._listener = tf2_ros.TransformListener(
            self._buffer, node, spin_thread=False, **({} if topic == "/tf" else topics)
        )

    def lookup_transform(
        self, target: str, source: str, time: Any | None = None
    ) -> TransformStamped:
        """Return the transform that maps points from source to target."""
        try:
            return self._buffer.lookup_transform(target, source, _time(time))
        except tf2_ros.TransformException as error:
            raise TransformError(f"no transform from {source} to {target}: {error}") from error

    def lookup_matrix(self, target: str, source: str, time: Any | None = None) -> Matrix:
        """Return ``target_T_source``."""
        return transform_to_matrix(self.lookup_transform(target, source, time).transform)

    def can_transform(self, target: str, source: str, time: Any | None = None) -> bool:
        """Tell whether a lookup would succeed."""
        try:
            return bool(self._buffer.can_transform(target, source, _time(time)))
        except TransformError:
            return False


def _time(time: Any | None) -> Time:
    stamp = 0 if time is None else to_nanoseconds(time)
    if stamp < 0:  # messages can hold such times
        raise TransformError(f"{stamp * 1e-9:.3f} s is no time of a clock")
    return Time(nanoseconds=stamp)


class Tf2TransformBroadcaster:
    """Publish moving transforms with ``tf2_ros``."""

    def __init__(self, node: Node) -> None:
        self._broadcaster = tf2_ros.TransformBroadcaster(node)

    def send(self, transforms: Sequence[TransformStamped]) -> None:
        """Publish transforms."""
        self._broadcaster.sendTransform(list(transforms))

    def send_poses(
        self, stamp: int, frames: Sequence[Frames], poses: Iterable[Sequence[float]]
    ) -> None:
        """Publish poses of one time."""
        self.send(transform_messages(stamp, frames, poses))


class Tf2StaticTransformBroadcaster:
    """Publish transforms that never change with ``tf2_ros``."""

    def __init__(self, node: Node) -> None:
        self._broadcaster = tf2_ros.StaticTransformBroadcaster(node)

    def send(self, transforms: Sequence[TransformStamped]) -> None:
        """Publish transforms."""
        self._broadcaster.sendTransform(list(transforms))
