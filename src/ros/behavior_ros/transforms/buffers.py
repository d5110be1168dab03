# SPDX-License-Identifier: Apache-2.0
"""Where frames are: one protocol, two implementations.

``lookup_transform(target, source)`` answers with the rule of tf2: the transform that maps points
given in `source` to points in `target`, in other words the pose of `source` in `target`. Without a
time it is the latest time for which every moving transform on the way is known; with a time it is
interpolated between the two samples around it (positions linearly, rotations by slerp).

`builtin` is our own buffer on ``/tf`` and ``/tf_static``; `tf2_ros` is the distribution's. Both
raise :class:`TransformError`. What differs is the wording, and that ours names the nearest frames.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node

from behavior_ros.messages.rotations import Matrix
from behavior_ros.node.parameters import declare, read_only
from behavior_ros.transforms.builtin_transforms import (
    BuiltinTransformBroadcaster,
    BuiltinTransformBuffer,
    StaticBuiltinTransformBroadcaster,
)
from behavior_ros.transforms.transform_wire import Frames

IMPLEMENTATION = read_only(
    "transform_implementation",
    "auto",
    "Transforms from tf2_ros, from the builtin buffer, or auto: tf2_ros where it is importable",
    choices=("auto", "tf2_ros", "builtin"),
)


class TransformBuffer(Protocol):
    """Answers where one frame is in another, at a time."""

    def lookup_transform(
        self, target: str, source: str, time: Any | None = None
    ) -> TransformStamped:
        """Return the transform that maps points from source to target.

        Args:
            target: frame the result is expressed in
            source: frame that is looked for
            time: rclpy Time or time message; None or zero: the latest common time

        Raises:
            TransformError: unknown frame, unconnected frames, or a time out of reach
        """

    def lookup_matrix(self, target: str, source: str, time: Any | None = None) -> Matrix:
        """Return the same as a 4x4 matrix ``target_T_source``."""

    def can_transform(self, target: str, source: str, time: Any | None = None) -> bool:
        """Tell whether a lookup would succeed."""


class StaticTransformBroadcaster(Protocol):
    """Publishes transforms that never change."""

    def send(self, transforms: Sequence[TransformStamped]) -> None:
        """Publish transforms: header.frame_id is the parent, child_frame_id the child."""


class TransformBroadcaster(StaticTransformBroadcaster, Protocol):
    """Publishes transforms that change."""

    def send_poses(
        self, stamp: int, frames: Sequence[Frames], poses: Iterable[Sequence[float]]
    ) -> None:
        """Publish poses of one time, which takes less than messages made of them.

        Args:
            stamp: of all [ns]
            frames: parent and child of each
            poses: x, y, z [m] and unit quaternion x, y, z, w of each child in its parent
        """


def implementation(node: Node) -> str:
    """Return which implementation the node uses, "tf2_ros" or "builtin"."""
    wanted: str = declare(node, IMPLEMENTATION)
    if wanted == "auto":
        return "builtin" if importlib.util.find_spec("tf2_ros") is None else "tf2_ros"
    return wanted


def create_transform_buffer(node: Node, topic: str = "/tf") -> TransformBuffer:
    """Return a buffer that listens to ``/tf`` and ``/tf_static`` through the node.

    Args:
        node: receives the transforms
        topic: another name for ``/tf``
    """
    chosen = implementation(node)
    node.get_logger().info(f"transforms: {chosen}")
    if chosen == "builtin":
        return BuiltinTransformBuffer(node, topic=topic)
    from behavior_ros.transforms.tf2_transforms import Tf2TransformBuffer

    return Tf2TransformBuffer(node, topic=topic)


def create_transform_broadcaster(node: Node) -> TransformBroadcaster:
    """Return a publisher of moving transforms."""
    if implementation(node) == "builtin":
        return BuiltinTransformBroadcaster(node)
    from behavior_ros.transforms.tf2_transforms import Tf2TransformBroadcaster

    return Tf2TransformBroadcaster(node)


def create_static_transform_broadcaster(node: Node) -> StaticTransformBroadcaster:
    """Return a publisher of transforms that never change, kept for late subscribers."""
    if implementation(node) == "builtin":
        return StaticBuiltinTransformBroadcaster(node)
    from behavior_ros.transforms.tf2_transforms import Tf2StaticTransformBroadcaster

    return Tf2StaticTransformBroadcaster(node)
