# SPDX-License-Identifier: Apache-2.0
"""Where hostile partners live: a ROS context and a thread apart from what is tried."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.conformance.rule import require
from behavior_ros.node.closing import destroy_node
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_tree.monitoring.closing import Closing

_SLICE = 0.005
"""[s] between two looks at what is waited for."""


class Stage(Closing):
    """In the ROS domain of the environment; a context manager.

    Args:
        limit: [s] wall time after which what was waited for counts as never coming
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._context = rclpy.Context()
        self._stopped = threading.Event()
        self._nodes: list[Node] = []
        rclpy.init(context=self._context)
        self._executor = LeanExecutor(context=self._context)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave."""
        self._stopped.set()
        self._thread.join()
        self._executor.shutdown(timeout_sec=0.0)
        for node in self._nodes:
            destroy_node(node)
        rclpy.shutdown(context=self._context)

    def node(self, name: str) -> Node:
        """Make a node that spins."""
        node = Node(name, context=self._context, start_parameter_services=False)
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def forget(self, node: Node) -> None:
        """Destroy a node."""

        def forget() -> None:
            self._nodes.remove(node)
            self._executor.remove_node(node)
            destroy_node(node)

        self.do(forget)

    def do(self, function: Callable[[], Any]) -> Any:
        """Call a function in the thread that spins; returns what it returns."""
        done = threading.Event()
        value: list[Any] = []

        def call() -> None:
            try:
                value.append(function())
            finally:
                done.set()

        self._executor.create_task(call)
        if not done.wait(max(self.limit, 60.0)) or not value:
            raise RuntimeError("the kit's own thread is stuck, or raised")
        return value[0]

    def comes(self, predicate: Callable[[], Any], limit: float | None = None) -> bool:
        """Wait until something is so, at most for the limit; returns whether it is."""
        end = time.monotonic() + (self.limit if limit is None else limit)
        while not predicate():
            if time.monotonic() > end:
                return False
            time.sleep(_SLICE)
        return True

    def wait(self, predicate: Callable[[], Any], otherwise: str) -> None:
        """The same, but raises BrokenRule with a text if it does not come."""
        require(self.comes(predicate), f"{otherwise} within {self.limit:g} s")

    def answer(self, ask: Callable[[], Future], what: str) -> Any:
        """Ask, and return the answer; raises BrokenRule if there is none."""
        future = self.do(ask)
        self.wait(future.done, f"{what} was not answered")
        return future.result()

    def _spin(self) -> None:
        while not self._stopped.is_set():
            self._executor.spin_once(timeout_sec=0.05)
