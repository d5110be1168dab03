# SPDX-License-Identifier: Apache-2.0
"""Our own transforms on ``/tf`` and ``/tf_static``: the node around :class:`TransformTree`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
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
from behavior_ros.transforms.transform_tree import TransformError, TransformTree
from behavior_ros.transforms.transform_wire import read_transforms, write_transforms

UNREAD = 10
"""Messages that may lie until somebody looks a transform up: several at a time cost a fraction of
what each alone does, on cold caches, and who looks up waits a millisecond for them at most."""


class _HeardTree:
    """A :class:`TransformTree` and the messages that it is made of. All threads may use it."""

    def __init__(self, cache_time: float, ignore: Callable[[Exception], None]) -> None:
        """`ignore` is told of transforms that make no sense."""
        self._tree = TransformTree(cache_time)
        self._ignore = ignore
        self._unread: deque[bytes] = deque()
        self._lock = threading.Lock()

    def hear(self, data: bytes, *, static: bool) -> None:
        """A message came; what moves is read later."""
        if static:
            self.read()
            with self._lock:
                self._take(data, static=True)
        else:
            self._unread.append(data)
            if len(self._unread) >= UNREAD:
                self.read()

    def read(self) -> TransformTree:
        """The tree with all that was heard."""
        if self._unread:
            with self._lock:
                while self._unread:
                    self._take(self._unread[0], static=False)
                    self._unread.popleft()  # not before: meanwhile others wait for it
        return self._tree

    def clear(self) -> None:
        """Forget what moves."""
        with self._lock:
            self._unread.clear()
            self._tree.clear()

    def _take(self, data: bytes, *, static: bool) -> None:
        """Take in transforms; those that make no sense are left out."""
        try:
            for each in read_transforms(data):
                try:
                    self._tree.set(*each, static=static)
                except TransformError as error:
                    self._ignore(error)
        except ValueError as error:
            self._ignore(error)


class BuiltinTransformBuffer:
    """A :class:`TransformTree` fed by ``/tf`` and ``/tf_static``.

    They are received in the background: between two lookups of a callback newer ones may arrive.

    Args:
        node: receives the transforms
        cache_time: [s] for which samples of moving transforms are kept
        topic: of moving transforms; static ones come on ``<topic>_static``
    """

    def __init__(self, node: Node, cache_time: float = 10.0, *, topic: str = "/tf") -> None:
        self._heard = _HeardTree(cache_time, self._ignore)
        self.cache_time = cache_time
        self.node = node
        self._logger = node.get_logger()
        self._subscriptions = [
            create_background_subscription(
                node, TFMessage, name, partial(self._heard.hear, static=static), qos
            )
            for name, static, qos in (
                (topic, False, QOS_TRANSFORMS),
                (f"{topic}_static", True, QOS_STATIC_TRANSFORMS),
            )
        ]
        # As in tf2: after a jump back in time (the simulation was restarted) old samples only harm.
        threshold = JumpThreshold(
            min_forward=None, min_backward=Duration(seconds=-0.001), on_clock_change=True
        )
        self._jump = node.get_clock().create_jump_callback(
            threshold, post_callback=lambda jump: self._heard.clear()
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
        self._heard = other._heard

    def _ignore(self, error: Exception) -> None:
        self._logger.warning(f"transform ignored: {error}", throttle_duration_sec=5.0)

    def lookup_transform(
        self, target: str, source: str, time: Any | None = None
    ) -> TransformStamped:
        """Return the transform that maps points from source to target."""
        matrix, stamp = self._heard.read().lookup(target, source, _stamp(time))
        result = TransformStamped(child_frame_id=source, transform=matrix_to_transform(matrix))
        result.header.frame_id = target
        result.header.stamp = Time(nanoseconds=stamp).to_msg()
        return result

    def lookup_matrix(self, target: str, source: str, time: Any | None = None) -> Matrix:
        """Return ``target_T_source``."""
        return self._heard.read().lookup(target, source, _stamp(time))[0]

    def can_transform(self, target: str, source: str, time: Any | None = None) -> bool:
        """Tell whether a lookup would succeed."""
        try:
            self._heard.read().lookup(target, source, _stamp(time))
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
