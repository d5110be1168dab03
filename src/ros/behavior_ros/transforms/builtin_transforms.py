# SPDX-License-Identifier: Apache-2.0
"""Our own transforms on ``/tf`` and ``/tf_static``: the node around :class:`TransformTree`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_msgs.msg import TFMessage

from behavior_ros.messages.conversions import matrix_to_transform, to_nanoseconds
from behavior_ros.messages.rotations import Matrix
from behavior_ros.node.node_parts import node_parts
from behavior_ros.topics.background import create_background_subscription
from behavior_ros.topics.qos import QOS_LATCHED, QOS_STATIC_TRANSFORMS, QOS_TRANSFORMS
from behavior_ros.topics.unread import Unread
from behavior_ros.transforms.transform_tree import TransformError, TransformTree
from behavior_ros.transforms.transform_wire import (
    Frames,
    read_transforms,
    write_poses,
    write_transforms,
)


class BuiltinTransformBuffer:
    """A :class:`TransformTree` fed by ``/tf`` and ``/tf_static``.

    They are received in the background: between two lookups of a callback newer ones may arrive.

    Args:
        node: receives the transforms
        cache_time: [s] for which samples of moving transforms are kept
        topic: of moving transforms; static ones come on ``<topic>_static``
    """

    def __init__(self, node: Node, cache_time: float = 10.0, *, topic: str = "/tf") -> None:
        self._tree = TransformTree(cache_time)
        self._unread = Unread(partial(self._take, static=False))
        self.cache_time = cache_time
        self.node = node
        self._logger = node.get_logger()
        self._subscriptions = [
            create_background_subscription(node, TFMessage, name, hear, qos)
            for name, hear, qos in (
                (topic, self._unread.hear, QOS_TRANSFORMS),
                (f"{topic}_static", self._hear_static, QOS_STATIC_TRANSFORMS),
            )
        ]
        # As in tf2: after a jump back in time (the simulation was restarted) old samples only harm.
        threshold = JumpThreshold(
            min_forward=None, min_backward=Duration(seconds=-0.001), on_clock_change=True
        )
        self._jump = node.get_clock().create_jump_callback(
            threshold, post_callback=lambda jump: self._clear()
        )
        node_parts(node).shared(_Buffers, _Buffers).append(self)

    @property
    def topics(self) -> tuple[str, ...]:
        """Resolved names of what it hears."""
        return tuple(subscription.topic_name for subscription in self._subscriptions)

    def share(self, other: BuiltinTransformBuffer) -> None:
        """Look up what another buffer hears, and hear nothing any more."""
        for subscription in self._subscriptions:
            self.node.destroy_subscription(subscription)
        self._subscriptions = other._subscriptions
        self._jump.unregister()
        self._tree, self._unread = other._tree, other._unread

    def _hear_static(self, data: bytes) -> None:
        self._unread.read()  # in the order in which they came
        self._take(data, static=True)

    def _take(self, data: bytes, *, static: bool) -> None:
        """Take in transforms; those that make no sense are logged and left out."""
        try:
            for each in read_transforms(data):
                try:
                    self._tree.set(*each, static=static)
                except TransformError as error:
                    self._ignore(error)
        except ValueError as error:
            self._ignore(error)

    def _clear(self) -> None:
        """Forget what moves."""
        self._unread.clear()
        self._tree.clear()

    def _heard(self) -> TransformTree:
        """The tree with all that came."""
        self._unread.read()
        return self._tree

    def _ignore(self, error: Exception) -> None:
        self._logger.warning(f"transform ignored: {error}", throttle_duration_sec=5.0)

    def lookup_transform(
        self, target: str, source: str, time: Any | None = None
    ) -> TransformStamped:
        """Return the transform that maps points from source to target."""
        matrix, stamp = self._heard().lookup(target, source, _stamp(time))
        result = TransformStamped(child_frame_id=source, transform=matrix_to_transform(matrix))
        result.header.frame_id = target
        result.header.stamp = Time(nanoseconds=stamp).to_msg()
        return result

    def lookup_matrix(self, target: str, source: str, time: Any | None = None) -> Matrix:
        """Return ``target_T_source``."""
        return self._heard().lookup(target, source, _stamp(time))[0]

    def can_transform(self, target: str, source: str, time: Any | None = None) -> bool:
        """Tell whether a lookup would succeed."""
        try:
            self._heard().lookup(target, source, _stamp(time))
        except TransformError:
            return False
        return True


class _Buffers(list[BuiltinTransformBuffer]):
    """Those of a node."""


def share_transforms(nodes: Iterable[Node]) -> None:
    """Have one buffer hear for all of a process that would hear the same.

    Each would take in every message of ``/tf``, whoever looks things up. Call it when all nodes are
    made, before they spin. Where a node is on simulated time, it is its buffer that goes on.
    """
    every = [each for node in nodes for each in node_parts(node).shared(_Buffers, _Buffers)]
    every.sort(key=lambda each: not each.node.get_parameter("use_sim_time").value)
    hearing: dict[tuple[Any, ...], BuiltinTransformBuffer] = {}
    for each in every:
        first = hearing.setdefault((each.topics, each.cache_time), each)
        if first is not each:
            each.share(first)


def _stamp(time: Any | None) -> int:
    return 0 if time is None else to_nanoseconds(time)


class BuiltinTransformBroadcaster:
    """Publish moving transforms on ``/tf``."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(TFMessage, "/tf", QOS_TRANSFORMS)

    def send(self, transforms: Sequence[TransformStamped]) -> None:
        """Publish transforms."""
        self._publisher.publish(write_transforms(transforms))

    def send_poses(
        self, stamp: int, frames: Sequence[Frames], poses: Iterable[Sequence[float]]
    ) -> None:
        """Publish poses of one time."""
        self._publisher.publish(write_poses(stamp, frames, poses))


class StaticBuiltinTransformBroadcaster:
    """Publish transforms that never change on ``/tf_static``.

    A late subscriber gets one message, so every message holds all that were ever sent.
    """

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(TFMessage, "/tf_static", QOS_LATCHED)
        self._transforms: dict[str, TransformStamped] = {}

    def send(self, transforms: Sequence[TransformStamped]) -> None:
        """Publish transforms, together with those sent before."""
        for transform in transforms:
            self._transforms[transform.child_frame_id] = transform
        self._publisher.publish(TFMessage(transforms=list(self._transforms.values())))
