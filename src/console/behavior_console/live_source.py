# SPDX-License-Identifier: Apache-2.0
"""`LiveSource`: what a running stack says, as channels. It only listens."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from functools import partial
from importlib import import_module
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from behavior_console.channels import Channels
from behavior_console.history import History
from behavior_console.reducers import TOPICS, Reducers
from behavior_console.reducers.plain import seconds
from behavior_console.reducers.reducers import Topic
from behavior_console.source import SourceError, show_state

_LOOK = 1.0
"""[s] between two looks at what is up."""
_STREAMS = 0.06
"""[s] between two looks at what comes often, while no tree runs. Each record of a tree, mostly
every 50 ms, takes it along, so that both are one frame."""
_STREAMS_AGAIN = 0.03
"""[s] after which the next record takes it along."""
_QUIET = 0.2
"""[s] without a record of the tree after which moments are kept without one."""
_TREE_RECORD = "/behavior/tree_record"
_GLOBAL = ("/tf", "/tf_static", "/diagnostics")
"""Topics that all robots share."""


class LiveSource:
    """Fills channels with what the nodes of one robot say.

    Args:
        node: hears it, in the robot's namespace.
        world: name of the stack; empty: unknown.
    """

    def __init__(self, node: Node, *, world: str) -> None:
        self.channels = Channels()
        self._node, self._world = node, world
        self._reducers = Reducers(self.channels)
        self._history = History(self.channels)
        self._newest: dict[str, deque[bytes]] = {}
        self._kinds: dict[str, Any] = {}
        self._bad: set[str] = set()
        self._taken = float("-inf")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._streams = node.create_timer(_STREAMS, self._on_streams, clock=steady)
        for topic, about in TOPICS.items():
            self._subscribe(topic, about)
        node.create_timer(_LOOK, self._look, clock=steady)
        self._look()

    def now(self) -> float:
        """[s] the executor's clock."""
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    def span(self) -> tuple[float, float] | None:
        """[s] the first and the last time that is remembered."""
        return self._history.span()

    async def show(self, moment: Channels, time: float) -> None:
        """Fill the channels of the moment with what was at a time [s] that is remembered."""
        state = await asyncio.to_thread(self._history.state, time)
        if state is None:
            raise SourceError(
                "this is longer ago than the console remembers: look at a recording of the run"
                " (behavior up record:=true, or black_box:=10 for the last ten minutes)"
            )
        show_state(moment, state)

    def _subscribe(self, topic: str, about: Topic) -> None:
        package, _, name = about.type.split("/")
        try:
            kind = getattr(import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError):
            self._node.get_logger().warning(f"{topic} is not shown: {about.type} is not installed")
            return
        self._kinds[topic] = kind
        relative = topic if topic in _GLOBAL else topic.removeprefix("/")
        if about.newest:
            kept = self._newest[topic] = deque(maxlen=about.newest)
            keep = partial(_keep, kept)  # rclpy asks for a signature
            self._node.create_subscription(kind, relative, keep, _qos(about), raw=True)
        else:
            record = topic == _TREE_RECORD
            take = self._take_record if record else partial(self._take, topic)
            self._node.create_subscription(kind, relative, take, _qos(about))

    def _take(self, topic: str, message: Any) -> None:
        try:
            self._reducers.take(topic, message)
        except Exception as error:  # whatever one message holds, others shall be shown
            if topic not in self._bad:
                self._bad.add(topic)
                self._node.get_logger().error(f"a message of {topic} cannot be shown: {error!r}")

    def _take_record(self, record: Any) -> None:
        """What has come often meanwhile goes with a record of the tree: both are one frame."""
        with self.channels.lock:
            if time.monotonic() > self._taken + _STREAMS_AGAIN:
                self._streams.reset()
                self._take_newest()
            self._take(_TREE_RECORD, record)
        self._history.note(seconds(record.header.stamp))

    def _on_streams(self) -> None:
        self._take_newest()
        # While a tree runs, each of its records is a moment of its own time.
        if not 0.0 <= self.now() - self._history.last < _QUIET:
            self._history.note(self.now())

    def _take_newest(self) -> None:
        self._taken = time.monotonic()
        for topic, kept in self._newest.items():
            while kept:
                self._take(topic, deserialize_message(kept.popleft(), self._kinds[topic]))

    def _look(self) -> None:
        """Tell what is up, and why the page is empty if it is."""
        executor = self._node.count_publishers("mission/feedback") > 0
        tree = self.channels.value("tree")
        row = {
            "namespace": self._node.get_namespace().rstrip("/"),
            "world": self._world,
            "up": {
                "executor": executor,
                "scene": self._node.count_publishers("scene/objects") > 0,
                "robot": self._node.count_publishers("joint_states") > 0,
                "map": self._node.count_publishers("map") > 0,
            },
            "empty": _why_empty(executor=executor, tree=tree is not None),
        }
        if row != self.channels.value("stack"):
            self.channels.set("stack", row)


def _why_empty(*, executor: bool, tree: bool) -> dict[str, str] | None:
    if not executor:
        return {"text": "no executor is up", "remedy": "start a stack: behavior up"}
    if not tree:
        return {"text": "connected, no tree runs yet", "remedy": "start a mission"}
    return None


def _keep(kept: deque[bytes], data: bytes) -> None:
    kept.append(data)


def _qos(about: Topic) -> QoSProfile:
    streams = about.newest and not about.latched
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=about.depth,
        reliability=ReliabilityPolicy.BEST_EFFORT if streams else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if about.latched else DurabilityPolicy.VOLATILE,
    )
