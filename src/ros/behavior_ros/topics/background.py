# SPDX-License-Identifier: Apache-2.0
"""Subscriptions that a thread of their own receives: what comes often, and only sets a value.

A message of ``/clock``, of transforms or of joint states asks nothing of the executor. It would end
its wait all the same, and the next one takes in all services, actions and timers of the process
again. So one thread waits for these few topics, as rclcpp's nodes have one for ``/clock`` and tf2's
listener has one for transforms.

It is :class:`behavior_ros.process.lean_executor.LeanExecutor` that runs the thread. Other executors
receive such subscriptions like any other.
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.subscription import Subscription

_LOOK = 1.0
"""[s] wall time between two looks at whether the context is still there."""
_MOST = 1000
"""Messages of one topic that are received before others get their turn."""

_marked: weakref.WeakKeyDictionary[Subscription, int] = weakref.WeakKeyDictionary()
"""Subscriptions, and how many messages may wait in each."""
_lasting: weakref.WeakSet[Subscription] = weakref.WeakSet()
"""Those that are not destroyed before their node."""


def create_background_subscription(
    node: Node,
    message_type: Any,
    topic: str,
    callback: Callable[[Any], None],
    qos: Any,
    *,
    lasting: bool = False,
) -> Subscription:
    """Subscribe to serialized messages.

    Args:
        node: subscribes
        message_type: of the topic
        topic: name of the topic
        callback: called with the bytes of each message in a thread of its own, one at a time: it
            must be quick, and safe beside callbacks of the executor
        qos: quality of service
        lasting: it is there as long as the node; another of the process may receive for it then, so
            do not use what is returned once the process spins
    """
    subscription = node.create_subscription(message_type, topic, callback, qos, raw=True)
    _marked[subscription] = min(subscription.qos_profile.depth or _MOST, _MOST)
    if lasting:
        _lasting.add(subscription)
    if node.executor is not None:
        node.executor.wake()  # another thread may have spun before the mark was there
    return subscription


def share_subscriptions(nodes: Iterable[Node]) -> None:
    """Have one lasting subscription receive for all of a process that would receive the same.

    A robot of five groups has as many nodes, and each would take every joint state out of the
    middleware. Call it when all nodes are made, before they spin.
    """
    alike: dict[Any, list[tuple[Node, Subscription]]] = defaultdict(list)
    for node in nodes:
        for each in node.subscriptions:
            if each in _lasting:
                qos = each.qos_profile
                kind = each.topic_name, each.msg_type, qos.reliability, qos.durability
                alike[kind].append((node, each))
    for several in alike.values():
        several.sort(key=lambda pair: -_marked[pair[1]])
        (_, deepest), *others = several
        if others:
            callbacks = [each.callback for _, each in several]
            deepest.callback = partial(_hand_on, callbacks)
        for node, other in others:
            node.destroy_subscription(other)


def _hand_on(callbacks: Iterable[Callable[[bytes], None]], data: bytes) -> None:
    for callback in callbacks:
        callback(data)


def is_background(subscription: Subscription) -> bool:
    """Whether a thread of its own may receive a subscription."""
    return subscription in _marked


class BackgroundReader:
    """Receives some subscriptions in a thread until it is closed, and keeps them from going.

    Args:
        subscriptions: to receive
        context: theirs
        on_error: is given, in the thread, what a callback raised; nothing is received any more then
    """

    def __init__(
        self,
        subscriptions: Iterable[Subscription],
        context: Context,
        on_error: Callable[[BaseException], None],
    ) -> None:
        self.subscriptions = list(subscriptions)
        self._context = context
        self._on_error = on_error
        self._held = ExitStack()
        self._held.enter_context(context.handle)
        self._by_pointer: dict[int, Subscription] = {}
        for each in self.subscriptions:
            try:
                self._held.enter_context(each.handle)
            except InvalidHandle:
                continue  # it was destroyed meanwhile
            self._by_pointer[each.handle.pointer] = each
        self._closing = False
        self._guard = GuardCondition(callback=None, callback_group=None, context=context)
        self._thread = threading.Thread(target=self._run, name="background_reader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, after the callback that runs now, and let go of the subscriptions."""
        self._closing = True
        self._guard.trigger()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        # Not in the thread, whose wait set lists them: what was destroyed meanwhile ends here.
        self._held.close()
        self._guard.destroy()

    def _run(self) -> None:
        with self._guard.handle:
            wait_set = rclpy_implementation.WaitSet(
                len(self._by_pointer), 1, 0, 0, 0, 0, self._context.handle
            )
            try:
                while not self._closing and self._context.ok():
                    wait_set.clear_entities()
                    for subscription in self._by_pointer.values():
                        wait_set.add_subscription(subscription.handle)
                    wait_set.add_guard_condition(self._guard.handle)
                    wait_set.wait(round(_LOOK * 1e9))
                    for pointer in wait_set.get_ready_entities("subscription"):
                        self._receive(self._by_pointer[pointer])
            except BaseException as error:
                if self._context.ok():
                    self._on_error(error)

    def _receive(self, subscription: Subscription) -> None:
        """Hand on all that waits: what a busy process has kept waiting must not wait longer."""
        for _ in range(_marked[subscription]):
            if self._closing:
                return  # what has not been taken is there for the next reader
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
            if taken is None:
                return
            subscription.callback(taken[0])
