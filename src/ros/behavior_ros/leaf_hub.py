# SPDX-License-Identifier: Apache-2.0
"""What the leaves of one node share: clients, clocks, and goals that are still closing.

A halted leaf is idle at once, its goal is not: the server may need a second to stop the robot. Such
a goal stays here until it ended, and a server that refuses to cancel it is asked again. A new goal
for the same action waits for it; a goal that a server rejected while others were closing is sent
again when they have closed, since one robot has one arm however many actions move it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_ros.burst_action_client import burst_action_client
from behavior_ros.closing import register_closable
from behavior_ros.goal_exchange import GoalExchange, GoalOutcome
from behavior_ros.message_cache import MessageCache
from behavior_ros.node_parts import node_parts
from behavior_ros.qos import QOS_COMMAND, QOS_LATCHED, QOS_REQUESTS, QOS_SENSOR
from behavior_ros.server_watch import ServerWatch

_ASK_AGAIN = 0.2
"""[s] wall time between two requests to cancel a goal."""


class SentGoal:
    """A goal with its server under watch."""

    def __init__(self, action: str, exchange: GoalExchange, watch: ServerWatch) -> None:
        self.action = action
        self.exchange = exchange
        self._watch = watch

    @property
    def never_arrived(self) -> bool:
        """Whether it was lost with a server that never acknowledged it, and another one is there.

        A killed server haunts the graph for a while: what is sent to it then is lost.
        """
        return self._watch.restarted and not self.exchange.accepted

    def poll(self) -> GoalOutcome | None:
        """Return how the goal ended, None while it runs; notices a lost server."""
        exchange = self.exchange
        if exchange.outcome is None:
            reason = self._watch.look(exchange.signs_of_life, accepted=exchange.accepted)
            if reason is not None:
                exchange.lose(reason)
        if exchange.outcome is not None:
            self._watch.close()
        return exchange.outcome


class LeafHub:
    """Shared by the leaves of one node; get it from :func:`leaf_hub`.

    Used in the executor's thread only.

    Args:
        node: the node whose leaves these are
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._clock = node.get_clock()
        self._clients: dict[tuple[str, str, Any], Any] = {}
        self.barriers: dict[str, Callable[[Any], bool]] = {}
        """Tell of a result whether its effect can be seen here, by the name of the barrier."""
        self._running: list[SentGoal] = []
        self._closing: list[SentGoal] = []
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._asking = node.create_timer(_ASK_AGAIN, self._ask_again, clock=steady)
        self._asking.cancel()
        register_closable(node, self)

    def now(self) -> float:
        """Return the node's time in seconds: for what robots do."""
        return float(self._clock.now().nanoseconds) * 1e-9

    def wall(self) -> float:
        """Return wall time in seconds: for whether processes are there."""
        return time.monotonic()

    def action_client(self, action_type: Any, name: str) -> Any:
        """Return the client of an action, one for all leaves."""
        return self._shared(
            "action", name, action_type, lambda: burst_action_client(self.node, action_type, name)
        )

    def service_client(self, service_type: Any, name: str) -> Any:
        """Return the client of a service, one for all leaves."""
        return self._shared(
            "service",
            name,
            service_type,
            lambda: self.node.create_client(service_type, name, qos_profile=QOS_REQUESTS),
        )

    def publisher(self, message_type: Any, topic: str, *, latched: bool) -> Any:
        """Return the publisher of a topic, one for all leaves."""
        qos = QOS_LATCHED if latched else QOS_COMMAND
        return self._shared(
            "publisher",
            topic,
            message_type,
            lambda: self.node.create_publisher(message_type, topic, qos),
        )

    def message_cache(self, message_type: Any, topic: str, *, latched: bool) -> MessageCache[Any]:
        """Return the newest message of a topic, one cache for all leaves."""
        qos = QOS_LATCHED if latched else QOS_SENSOR
        cache: MessageCache[Any] = self._shared(
            "subscriber",
            topic,
            message_type,
            lambda: MessageCache(self.node, message_type, topic, qos=qos),
        )
        return cache

    def _shared(self, kind: str, name: str, interface: Any, make: Callable[[], Any]) -> Any:
        key = (kind, name, interface)
        if key not in self._clients:
            self._clients[key] = make()
        return self._clients[key]

    def send(
        self,
        client: Any,
        action: str,
        goal: Any,
        *,
        server_timeout: float,
        on_feedback: Callable[[Any], None],
        on_end: Callable[[GoalOutcome], None],
    ) -> SentGoal:
        """Send a goal; its server counts as lost after server_timeout [s] of silence."""
        watch = ServerWatch(self.node, client, action, server_timeout, clock=self.wall)
        exchange = GoalExchange(client, goal, on_feedback=on_feedback, on_end=on_end)
        sent = SentGoal(action, exchange, watch)
        self._running.append(sent)
        return sent

    def release(self, sent: SentGoal) -> None:
        """Take over a goal that its leaf has no more interest in: cancel it if it still runs."""
        if sent in self._running:
            self._running.remove(sent)
        if sent.exchange.outcome is None:
            sent.exchange.cancel()
            self._closing.append(sent)
            self._asking.reset()

    def _ask_again(self) -> None:
        """Cancel once more what a server would not cancel, until nothing is closing."""
        if not self.closing():
            self._asking.cancel()
        for sent in self._closing:
            sent.exchange.cancel()

    def closing(self, action: str | None = None) -> bool:
        """Tell whether a goal of an action (None: of any) is still closing."""
        self._closing = [sent for sent in self._closing if sent.poll() is None]
        return any(action is None or sent.action == action for sent in self._closing)

    def begin_close(self) -> None:
        """Cancel everything that runs: the process is about to end."""
        for sent in list(self._running):
            self.release(sent)

    def closed(self) -> bool:
        """Tell whether no goal is out any more."""
        return not self._running and not self.closing()


def leaf_hub(node: Node) -> LeafHub:
    """Return the node's hub: one, however many factories register leaves."""
    return node_parts(node).shared(LeafHub, lambda: LeafHub(node))
